/** The door of the policy room: who may do what, asked by rule name. */

export { createPolicy } from './engine';
export { secretRules, stepRulePrefix } from './lint';
export { renderMatrix } from './matrix';
export { type PersonaName, personas } from './personas';
export { ruleNames } from './rules';
export { allocationTarget, nodeTarget, runbookTarget, runTarget, targetKeys } from './targets';
export type { Mode, Policy, PolicyOptions, RemoteQuestion, RuleSetName, RuleText, Target } from './types';
