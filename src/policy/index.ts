/** The door of the policy room: who may do what, asked by rule name. */

export { customRoles, membersWith, supportersFor } from './cells';
export { type CaseResult, type ConformanceFile, judgeCase } from './conformance';
export { type Difference, diffPolicies, renderDifference } from './diff';
export { createPolicy } from './engine';
export { type Explanation, nearestTo, type Part, type Provenance } from './explain';
export { secretRules, stepRulePrefix } from './lint';
export { renderMatrix } from './matrix';
export { type PersonaName, personas } from './personas';
export { renderServiceOperator } from './profiles';
export { joinSources, type PolicySource, policyFilesAmong, readPolicy } from './read';
export { type Gap, gapsOf, lineOf, reviewOf } from './review';
export { ruleNames } from './rules';
export { renderSample } from './sample';
export { createShadow, type Shadow, type ShadowReport } from './shadow';
export { type Answered, answerOf, explainAnswer } from './sight';
export { allocationTarget, nodeTarget, runbookTarget, runTarget, stepTarget, targetKeys } from './targets';
export type { Mode, Policy, PolicyOptions, RemoteQuestion, RuleSetName, RuleText, Target } from './types';
