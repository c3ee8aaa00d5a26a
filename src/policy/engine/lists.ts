/** Lists: two rules admit callers to a list, and the rules of single objects select its rows. */

import type { Caller } from '../../model/access/callers';
import type { Policy, Target } from '../types';

export type ListRules = {
  /** Admits callers without a project, and permits naming another project. */
  readonly all: string;
  /** Admits callers with a project. */
  readonly own: string;
  /** A listed object must pass all of these. */
  readonly see: readonly string[];
  /** Columns by target key, for a rule for projects that tests objects. */
  readonly keys: Readonly<Record<string, string>>;
};

const seesNode = 'baremetal:node:get';
const listOfNodes = 'baremetal:node:list';
const keysOf: Readonly<Record<string, readonly string[]>> = {
  allocation: ['allocation.owner'],
  runbook: ['runbook.owner', 'runbook.public'],
};
const listRule = /^baremetal:(node|port|portgroup|volume|allocation|runbook):list(?:_all)?$/;

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

const refusedBy = (policy: Policy, rule: string, { all, own, keys }: ListRules, who: Caller): string | undefined => {
  if (policy.allows(all, who)) return undefined;
  if (rule === all || who.project_id === null) return all;
  // A rule for projects that tests objects admits callers who could see at least one.
  return policy.filter(own, who, keys).is === 'false' && !policy.allows(own, who) ? own : undefined;
};

/** A file's rule for lists of nodes admits the nodes of the caller's own project. */
const opensOwn = (policy: Policy, { own }: ListRules, who: Caller, target: Target): boolean =>
  own === listOfNodes &&
  who.project_id !== null &&
  policy.isWritten(own) &&
  [target['node.owner'], target['node.lessee']].includes(who.project_id) &&
  policy.allows(own, who, target);

type Listed = { readonly answer: 'allowed' | 'refused' | 'missing'; /** The rule that refused. */ readonly by?: string }; // biome-ignore format: one field a line is longer

/** @param target if absent, only the list itself is tested */
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
