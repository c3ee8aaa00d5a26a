/** Lists: two rules say who has one, and the rules of single objects say what it holds. */

import type { Caller } from '../../model/access/callers';
import type { Policy, Target } from '../types';

/** The rules of one list. */
export type ListRules = {
  /** Admits callers without a project, and lets a project be named that is not the caller's. */
  readonly all: string;
  /** Admits the callers of projects. */
  readonly own: string;
  /** All of them show an object of the list. */
  readonly see: readonly string[];
  /** By which keys of a target the rule for projects may speak of objects. */
  readonly keys: Readonly<Record<string, string>>;
};

const seesNode = 'baremetal:node:get';
const listOfNodes = 'baremetal:node:list';
const keysOf: Readonly<Record<string, readonly string[]>> = {
  allocation: ['allocation.owner'],
  runbook: ['runbook.owner', 'runbook.public'],
};
const listRule = /^baremetal:(node|port|portgroup|volume|allocation|runbook):list(?:_all)?$/;

/** The rules of the list that a rule is about; undefined if it is about none. */
export const listRulesOf = (rule: string): ListRules | undefined => {
  const [, kind] = listRule.exec(rule) ?? [];
  if (kind === undefined) return undefined;
  const keys = keysOf[kind] ?? ['node.owner', 'node.lessee'];
  const see = [...(keysOf[kind] ? [] : [seesNode]), `baremetal:${kind}:get`];
  return {
    all: `baremetal:${kind}:list_all`,
    own: `baremetal:${kind}:list`,
    see: [...new Set(see)],
    keys: Object.fromEntries(keys.map((key) => [key, key])),
  };
};

/** The rule that refuses the list; undefined if there is one. */
const refusedBy = (policy: Policy, rule: string, { all, own, keys }: ListRules, who: Caller): string | undefined => {
  if (policy.allows(all, who)) return undefined;
  if (rule === all || who.project_id === null) return all;
  // The rule for projects may speak of objects, and then admits callers who could be shown one.
  return policy.filter(own, who, keys).is === 'false' && !policy.allows(own, who) ? own : undefined;
};

/** A line of the file for lists of nodes opens those of the caller's project. */
const opensOwn = (policy: Policy, { own }: ListRules, who: Caller, target: Target): boolean =>
  own === listOfNodes &&
  who.project_id !== null &&
  policy.isWritten(own) &&
  [target['node.owner'], target['node.lessee']].includes(who.project_id) &&
  policy.allows(own, who, target);

type Listed = { readonly answer: 'allowed' | 'refused' | 'missing'; /** The rule that decided against it. */ readonly by?: string }; // biome-ignore format: one field a line is longer

/** What the API answers to a list, and whether it holds this object. @param target without one, whether there is a list */
export const listedBy = (
  policy: Policy,
  rule: string,
  rules: ListRules,
  who: Caller,
  target: Target | undefined,
): Listed => {
  const refused = refusedBy(policy, rule, rules, who);
  if (refused !== undefined) return { answer: 'refused', by: refused };
  const hides = target && rules.see.find((see) => !policy.allows(see, who, target));
  if (hides === undefined || opensOwn(policy, rules, who, target!)) return { answer: 'allowed' };
  return { answer: 'missing', by: hides };
};
