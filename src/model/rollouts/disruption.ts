/** Disruption budgets: the number of a project's nodes that may be unavailable at one time. */
import { states } from '../lifecycle/states';

/** A share is written `10%`. */
export type Amount = number | string;

export type DisruptionLimit = {
  readonly max_unavailable: Amount | null;
  readonly min_available: Amount | null;
};

/** Columns that no run changes, so a node stays in its budget during work. */
export const budgetColumns = [
  'uuid',
  'resource_class',
  'conductor_group',
  'shard',
  'chassis_uuid',
  'parent_node',
] as const;

export const budgetUuids: readonly string[] = ['uuid', 'chassis_uuid', 'parent_node'];

const propertyKey = /^properties\.([A-Za-z0-9_-]{1,64})$/;

/** The key of `properties`; undefined for other names. */
export const propertyOf = (name: string): string | undefined => propertyKey.exec(name)?.[1];

/** Every key must match one of its values, but `traits` needs all. An empty query selects all nodes. */
export type DisruptionQuery = Readonly<Record<string, readonly string[]>>;

export const isBudgetKey = (name: string): boolean =>
  name === 'traits' || (budgetColumns as readonly string[]).includes(name) || propertyOf(name) !== undefined;

/** A node serves no tenant here, even if no run holds it. */
export const downStates: readonly string[] = Object.entries(states)
  .filter(([name, { kind }]) => kind === 'failure' || name === 'error')
  .map(([name]) => name);

const percentOf = (amount: Amount): number | undefined => {
  const text = String(amount);
  return text.endsWith('%') ? Number(text.slice(0, -1)) : undefined;
};

/** A share of `max_unavailable` is rounded down, but to at least one node. A share of `min_available` is rounded up. */
export const mayBeMissing = ({ max_unavailable, min_available }: DisruptionLimit, total: number): number => {
  if (max_unavailable !== null) {
    const percent = percentOf(max_unavailable);
    return percent === undefined ? Number(max_unavailable) : Math.max(1, Math.floor((total * percent) / 100));
  }
  const percent = percentOf(min_available!);
  const there = percent === undefined ? Number(min_available) : Math.ceil((total * percent) / 100);
  return Math.max(0, total - there);
};
