/** What stands before a rule: an object that a caller may not see is missing for it, whatever its rules say of it. */

import type { Caller } from '../../model/access/callers';
import type { Explanation, Policy, Target } from '../types';
/** What the API answers: by the rule (2xx or 403), or 404 because the object is hidden. */
export type ApiVerdict = 'allowed' | 'refused' | 'missing';

// Lists, enrolment and what the ramdisk asks name no object that could be hidden.
const aboutNone =
  /:(?:list|list_all|list_running|create\w*|ipa_\w+)$|^baremetal:node:(?:get$|create|get:filter_threshold)/;
const sight: readonly { readonly about: RegExp; readonly see: string }[] = [
  { about: /^(?:baremetal:(?:node|port|portgroup|volume):|temper:(?:node|freeze):)/, see: 'baremetal:node:get' },
  { about: /^(?:baremetal|temper):runbook:/, see: 'baremetal:runbook:get' },
  { about: /^baremetal:allocation:/, see: 'baremetal:allocation:get' },
];

/** The rule that decides whether a caller sees the object that another rule is about; undefined where none is asked before. */
export const seeRuleOf = (rule: string): string | undefined => {
  const see = aboutNone.test(rule) ? undefined : sight.find(({ about }) => about.test(rule))?.see;
  return see === rule ? undefined : see;
};

/** The rule that hides the object from a caller; undefined where the caller sees it, or the question names no object. */
const hiddenBy = (policy: Policy, rule: string, who: Caller, target: Target): string | undefined => {
  const see = Object.keys(target).length === 0 ? undefined : seeRuleOf(rule);
  return see === undefined || policy.allows(see, who, target) ? undefined : see;
};

/** What the API answers a caller who asks for what a rule guards. */
export const answerOf = (policy: Policy, rule: string, who: Caller, target: Target): ApiVerdict => {
  if (hiddenBy(policy, rule, who, target) !== undefined) return 'missing';
  return policy.allows(rule, who, target) ? 'allowed' : 'refused';
};

/** An explanation with what the API answers, and why the object is hidden where it is. */
export type Answered = Explanation & { readonly answer: ApiVerdict; readonly sight?: Explanation };

/** Explains a rule, and the one that is asked before it. */
export const explainAnswer = (policy: Policy, rule: string, who: Caller, target: Target): Answered => {
  const explanation = policy.explain(rule, who, target);
  const hidden = hiddenBy(policy, rule, who, target);
  if (hidden === undefined) return { ...explanation, answer: explanation.verdict };
  return { ...explanation, answer: 'missing', sight: policy.explain(hidden, who, target) };
};
