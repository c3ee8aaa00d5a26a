/** Visibility of rows in lists: projects, rules and columns. */
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { and, never, or, type Predicate } from '../../model/predicates';
import type { Policy } from '../../policy';

/** Columns for the target keys of rules about nodes. */
export const nodeColumns = { 'node.owner': 'owner', 'node.lessee': 'lessee' } as const;

/** Projects that a caller may list: the token's, and those in which the caller is a known admin. */
export const projectsOf = (who: Caller): string[] =>
  [who.project_id, ...(who.admin_projects ?? [])].filter((project) => project !== null);

/** The rules of a list, and the rule that shows each row. */
export type Scope = {
  /** Admits callers without a project, and lists of other projects. */
  readonly all: string;
  /** Admits project callers. */
  readonly own: string;
  /** The rule for a single row. */
  readonly see: string;
  readonly columns: Readonly<Record<string, string>>;
};

type Listing = Pick<Scope, 'all' | 'own' | 'columns'>;

/**
 * Checks that the caller may list. The rule `own` may also refer to rows, for example through the rule of a single row.
 * It then admits callers who could see some row. @returns true if the rule `all` admits. Throws PolicyDenied.
 */
export const requireList = (policy: Policy, who: Caller, { all, own, columns }: Listing): boolean => {
  if (policy.allows(all, who)) return true;
  if (who.project_id === null) raise('PolicyDenied', { rule: all });
  if (policy.filter(own, who, columns).is === 'false') policy.require(own, who);
  return false;
};

/**
 * The rows of a caller's list, as a predicate: exactly those that the caller may see singly.
 * The list's own rules only admit the request, so a wide list rule never shows a hidden row. Throws PolicyDenied.
 */
export const visibleRows = (policy: Policy, who: Caller, scope: Scope): Predicate => {
  requireList(policy, who, scope);
  return policy.filter(scope.see, who, scope.columns);
};

/** The nodes that the caller may see and whose resources this rule shows. A hidden node hides all its resources. */
export const behindNode = (policy: Policy, who: Caller, resource: Predicate): Predicate => {
  const seen = policy.filter(nodeScope.see, who, nodeColumns);
  // PostgreSQL takes a repeated condition for twice as selective and expects hardly any row.
  return JSON.stringify(resource) === JSON.stringify(seen) ? seen : and(resource, seen);
};

const nodeScope: Scope = {
  all: 'baremetal:node:list_all',
  own: 'baremetal:node:list',
  see: 'baremetal:node:get',
  columns: nodeColumns,
};

const belongsTo = (project: string): Predicate => ({
  is: 'or',
  any: [
    { is: 'equals', column: 'owner', value: project },
    { is: 'equals', column: 'lessee', value: project },
  ],
});

/** Removes repeated alternatives. With repeats PostgreSQL estimates too many rows. */
const either = (...rows: readonly Predicate[]): Predicate => {
  const alternatives = rows.flatMap((one) => (one.is === 'or' ? one.any : [one]));
  return or(...new Map(alternatives.map((one) => [JSON.stringify(one), one])).values());
};

/**
 * Nodes that a `list` line in the operator's policy file adds: those of the caller's own project, as in Ironic.
 * Default rules add none, so a file that narrows `get` narrows lists too.
 */
const ownListed = (policy: Policy, who: Caller): Predicate =>
  who.project_id !== null && policy.isWritten(nodeScope.own)
    ? and(policy.filter(nodeScope.own, who, nodeColumns), belongsTo(who.project_id))
    : never;

/**
 * The nodes of a caller's list: those visible singly, and those of its project that the policy file opens in lists.
 * Resources behind nodes use only the first set. `project` limits the list to nodes which that project owns or leases.
 * A project caller may name only its own project or one in which it is admin. Throws PolicyDenied.
 */
export const visibleNodes = (policy: Policy, who: Caller, project?: string): Predicate => {
  const everybodys = requireList(policy, who, nodeScope);
  const rows = either(policy.filter(nodeScope.see, who, nodeColumns), ownListed(policy, who));
  if (project === undefined) return rows;
  if (!everybodys && !projectsOf(who).includes(project)) raise('PolicyDenied', { rule: nodeScope.all });
  return and(rows, belongsTo(project));
};
