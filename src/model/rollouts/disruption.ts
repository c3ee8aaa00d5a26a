/** Disruption budgets: how many of a project's nodes may be missing at once, in the project's own words. */
import { states } from '../lifecycle/states';

/** A number of nodes, or a share of them such as `10%`. */
export type Amount = number | string;

export type DisruptionLimit = {
  readonly max_unavailable: Amount | null;
  readonly min_available: Amount | null;
};

/** Columns of a node by which a budget may choose. None that a run changes: a node that is worked on stays one of the budget's. */
export const budgetColumns = [
  'uuid',
  'resource_class',
  'conductor_group',
  'shard',
  'chassis_uuid',
  'parent_node',
] as const;

/** Those of them that hold UUIDs. */
export const budgetUuids: readonly string[] = ['uuid', 'chassis_uuid', 'parent_node'];

const propertyKey = /^properties\.([A-Za-z0-9_-]{1,64})$/;

/** The key of `properties` that a query names, or undefined where it names something else. */
export const propertyOf = (name: string): string | undefined => propertyKey.exec(name)?.[1];

/** Which nodes of a project: every key must hold, one value of each; `traits` are all needed. No keys mean all nodes. */
export type DisruptionQuery = Readonly<Record<string, readonly string[]>>;

/** Whether a query may have this key. */
export const isBudgetKey = (name: string): boolean =>
  name === 'traits' || (budgetColumns as readonly string[]).includes(name) || propertyOf(name) !== undefined;

/** Provision states in which a node serves no tenant, though no run holds it. */
export const downStates: readonly string[] = Object.entries(states)
  .filter(([name, { kind }]) => kind === 'failure' || name === 'error')
  .map(([name]) => name);

const percentOf = (amount: Amount): number | undefined => {
  const text = String(amount);
  return text.endsWith('%') ? Number(text.slice(0, -1)) : undefined;
};

/**
 * How many of `total` nodes may be missing at once. A share of what may be missing is rounded down, but to one node at
 * least; a share of what must be there is rounded up.
 */
export const mayBeMissing = ({ max_unavailable, min_available }: DisruptionLimit, total: number): number => {
  if (max_unavailable !== null) {
    const percent = percentOf(max_unavailable);
    return percent === undefined ? Number(max_unavailable) : Math.max(1, Math.floor((total * percent) / 100));
  }
  const percent = percentOf(min_available!);
  const there = percent === undefined ? Number(min_available) : Math.ceil((total * percent) / 100);
  return Math.max(0, total - there);
};
