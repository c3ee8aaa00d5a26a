/** Visibility: hidden objects are missing for a caller, in lists too. */

import type { Caller } from '../../model/access/callers';
import type { Explanation, Policy, Target } from '../types';
import { type ListRules, listedBy, listRulesOf } from './lists';
import { nodeTarget } from './targets';

/** By the rule 2xx or 403; 404 if the object is hidden, or not in the list. */
export type ApiVerdict = 'allowed' | 'refused' | 'missing';

const seesNode = 'baremetal:node:get';

// Enrolment and requests of the ramdisk name no object that could be hidden.
const aboutNone = /^baremetal:(?:node|allocation|runbook):create|:ipa_\w+$|^baremetal:node:get:filter_threshold$/;
const sight: readonly { readonly about: RegExp; readonly see: string }[] = [
  { about: /^(?:baremetal:(?:node|port|portgroup|volume):|temper:(?:node|freeze):)/, see: seesNode },
  { about: /^(?:baremetal|temper):runbook:/, see: 'baremetal:runbook:get' },
  { about: /^baremetal:allocation:/, see: 'baremetal:allocation:get' },
  { about: /^temper:run:/, see: 'temper:run:get' },
];

/** The rule that shows the object of another rule; undefined if no such rule is evaluated first. */
export const seeRuleOf = (rule: string): string | undefined => {
  if (aboutNone.test(rule) || listRulesOf(rule)) return undefined;
  const see = sight.find(({ about }) => about.test(rule))?.see;
  return see === rule ? undefined : see;
};

/** Created on a node that the body names. A hidden node counts as one without owner. */
const madeOnNode = /^baremetal:(?:port|portgroup|volume):create$/;
const unowned = nodeTarget({ owner: null, lessee: null });

type Judged = { readonly answer: ApiVerdict; /** The other rule that decided, and its target. */ readonly by?: readonly [string, Target] }; // biome-ignore format: one field a line is longer

const isAboutObject = (target: Target): boolean => Object.keys(target).length > 0;

const judgedList = (policy: Policy, rule: string, lists: ListRules, who: Caller, target: Target): Judged => {
  const { answer, by } = listedBy(policy, rule, lists, who, isAboutObject(target) ? target : undefined);
  // The rule that admits to the list is evaluated without an object.
  return { answer, ...(by !== undefined && by !== rule && { by: [by, answer === 'refused' ? {} : target] }) };
};

/** @param own verdict of the rule itself */
const judged = (policy: Policy, rule: string, who: Caller, target: Target, own: ApiVerdict): Judged => {
  const lists = listRulesOf(rule);
  if (lists) return judgedList(policy, rule, lists, who, target);
  const see = isAboutObject(target) ? seeRuleOf(rule) : undefined;
  if (see === undefined || policy.allows(see, who, target)) return { answer: own };
  const refused = madeOnNode.test(rule) && !policy.allows(rule, who, unowned);
  return { answer: refused ? 'refused' : 'missing', by: [see, target] };
};

export const answerOf = (policy: Policy, rule: string, who: Caller, target: Target): ApiVerdict =>
  judged(policy, rule, who, target, policy.allows(rule, who, target) ? 'allowed' : 'refused').answer;

/** An explanation with the API's answer, and that of the other deciding rule, if any. */
export type Answered = Explanation & { readonly answer: ApiVerdict; readonly sight?: Explanation };

export const explainAnswer = (policy: Policy, rule: string, who: Caller, target: Target): Answered => {
  const explanation = policy.explain(rule, who, target);
  const { answer, by } = judged(policy, rule, who, target, explanation.verdict);
  return { ...explanation, answer, ...(by && { sight: policy.explain(by[0], who, by[1]) }) };
};
