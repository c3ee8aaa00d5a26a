/** Public interface of the policy room. */

export { createPolicy, policyDigest } from './engine/engine';
export { nearestTo } from './engine/explain';
export { joinSources, type PolicySource, policyFilesAmong, readPolicy } from './engine/read';
export { createShadow, type Shadow, type ShadowReport } from './engine/shadow';
export {
  allocationTarget,
  disruptionTarget,
  nodeTarget,
  type RolloutFacts,
  rolloutTarget,
  runbookTarget,
  runTarget,
  stepTarget,
  usageTarget,
  webhookTarget,
  windowTarget,
} from './engine/targets';
export { type Answered, answerOf, explainAnswer } from './engine/visibility';
export { type CaseResult, type ConformanceFile, judgeCase } from './reports/conformance';
export { diffPolicies, renderDifference } from './reports/diff';
export { stepRulePrefix } from './reports/lint';
export { renderMatrix } from './reports/matrix';
export { customRoles, membersWith, supportersFor } from './reports/matrix-cells';
export { type PersonaName, personas } from './reports/personas';
export { type Gap, gapsOf, lineOf, reviewOf } from './reports/review';
export { renderSample } from './reports/sample';
export { ruleNames } from './rules/sets';
export type {
  Explanation,
  Mode,
  Part,
  Policy,
  PolicyOptions,
  Provenance,
  RemoteQuestion,
  RuleSetName,
  Target,
} from './types';
