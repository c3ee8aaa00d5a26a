/** Built-in rule sets: every rule name that a handler uses, with its default text. */
import type { RegisteredRule, RuleSetName } from '../types';
import { closedRules, ironicRules } from './ironic';
import { addedRules, addedToClosed, addedToIronic, changedRules, registered } from './temper';

const changes = new Map(changedRules.map((row) => [row.name, row]));

/** Old names have no effect, or a file's `node:update` would decide who changes a node's owner. */
const temperRules: readonly RegisteredRule[] = [
  ...ironicRules.map(({ deprecated: _deprecated, ...rule }) => ({ ...rule, ...changes.get(rule.name) })),
  ...registered(addedRules),
];

/** temper (default): Ironic's texts with the documented tenancy. closed: owners and lessees may do nothing until a file permits it. */
export const ruleSets: Readonly<Record<RuleSetName, readonly RegisteredRule[]>> = {
  temper: temperRules,
  ironic: [...ironicRules, ...registered(addedToIronic)],
  closed: [...closedRules, ...registered(addedToClosed)],
};

/** In the order of the tables. */
export const ruleNames: readonly string[] = temperRules.map((rule) => rule.name);
