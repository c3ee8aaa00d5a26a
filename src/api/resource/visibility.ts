/** May I see it: finds what a path names, and answers a hidden object exactly as a missing one. */
import type { Queries } from '../../inventory';
import type { NodeIdent } from '../../inventory/audit';
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { asUuid, isLogicalName } from '../../model/ids';
import { and, never, or, type Predicate } from '../../model/predicates';
import { isSubresource, nameFormFault } from '../../model/resources/nodes';
import { nodeTarget, type Policy } from '../../policy';

/** Minor version from which names are identifiers of nodes. */
const namesSince = 5;

/** Columns behind the target keys of rules about nodes. */
export const nodeColumns = { 'node.owner': 'owner', 'node.lessee': 'lessee' } as const;

/** How the store finds what a path segment names. Throws InvalidInput for what is neither UUID nor name, NodeNotFound. */
export const identOf = (ident: string, minor: number): NodeIdent => {
  const uuid = asUuid(ident);
  if (uuid !== undefined) return { uuid };
  if (isSubresource(ident)) raise('NodeNotFound', { node: ident });
  if (!isLogicalName(ident))
    raise('InvalidInput', { field: 'node', reason: 'must be a UUID or, from API version 1.5, a name' });
  // Older versions know no names, so that there is no such node.
  if (minor < namesSince) raise('NodeNotFound', { node: ident });
  const fault = nameFormFault(ident, minor);
  if (fault) raise('InvalidInput', { field: 'node', reason: fault });
  return { name: ident };
};

/** The node that a caller names and may see. Throws NodeNotFound alike for missing and hidden ones. */
export const visibleNode = async (
  ctx: { policy(): Policy; readonly inventory: Pick<Queries, 'nodes'> },
  request: { readonly who: Caller; readonly version: number },
  ident: string,
): Promise<NodeRow> => {
  const node = await ctx.inventory.nodes.find(identOf(ident, request.version));
  if (!node || !ctx.policy().allows('baremetal:node:get', request.who, nodeTarget(node)))
    return raise('NodeNotFound', { node: ident });
  return node;
};

/** Projects that a caller's lists may be about: that of the token, and those in which its holder is known to be admin. */
export const projectsOf = (who: Caller): string[] =>
  [who.project_id, ...(who.admin_projects ?? [])].filter((project) => project !== null);

/** The rules of a list: who may ask for one, and by which rule its rows are shown one by one. */
export type Scope = {
  /** Admits callers without a project, and lets a project be named that is not the caller's. */
  readonly all: string;
  /** Admits the callers of projects. */
  readonly own: string;
  /** The rule that decides about a single row. */
  readonly see: string;
  readonly columns: Readonly<Record<string, string>>;
};

type Listing = Pick<Scope, 'all' | 'own' | 'columns'>;

/**
 * Asks whether the caller may list at all: by the rule for all projects, or by the one for projects, which may also speak of
 * rows (as where it refers to the rule of a single row) and then admits who could be shown one. @returns whether by the
 * first. Throws PolicyDenied.
 */
export const requireList = (policy: Policy, who: Caller, { all, own, columns }: Listing): boolean => {
  if (policy.allows(all, who)) return true;
  if (who.project_id === null) raise('PolicyDenied', { rule: all });
  if (policy.filter(own, who, columns).is === 'false') policy.require(own, who);
  return false;
};

/**
 * The rows that a caller's list may hold, as a predicate: those which the caller would be shown one by one. The rules of
 * the list itself only decide whether there is one, so that none of them, however wide, shows a hidden row. Throws
 * PolicyDenied.
 */
export const visibleRows = (policy: Policy, who: Caller, scope: Scope): Predicate => {
  requireList(policy, who, scope);
  return policy.filter(scope.see, who, scope.columns);
};

/**
 * Of the columns of nodes: those that are shown to the caller, among them those whose resource under this rule is. A node
 * stands before all that belongs to it.
 */
export const behindNode = (policy: Policy, who: Caller, resource: Predicate): Predicate => {
  const seen = policy.filter(nodeScope.see, who, nodeColumns);
  // Repeated, the planner takes it for twice as rare and plans for hardly a row.
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

/** Each alternative is said once: of repeated ones the planner expects more rows than there are. */
const either = (...rows: readonly Predicate[]): Predicate => {
  const alternatives = rows.flatMap((one) => (one.is === 'or' ? one.any : [one]));
  return or(...new Map(alternatives.map((one) => [JSON.stringify(one), one])).values());
};

/**
 * The nodes that a line of the operator's file for `list` adds to a list: those of the caller's own project, as in the
 * original. The defaults of a set add none, so that a file which narrows `get` narrows lists with it.
 */
const ownListed = (policy: Policy, who: Caller): Predicate =>
  who.project_id !== null && policy.isWritten(nodeScope.own)
    ? and(policy.filter(nodeScope.own, who, nodeColumns), belongsTo(who.project_id))
    : never;

/**
 * The nodes that a caller's list may hold: those which the caller would be shown one by one, and those of its project that
 * the file opens in lists. Whatever is behind a node asks for the first alone. `project` narrows it to what that project
 * owns or leases; a caller of a project may name only its own, or one in which it is admin. Throws PolicyDenied.
 */
export const visibleNodes = (policy: Policy, who: Caller, project?: string): Predicate => {
  const everybodys = requireList(policy, who, nodeScope);
  const rows = either(policy.filter(nodeScope.see, who, nodeColumns), ownListed(policy, who));
  if (project === undefined) return rows;
  if (!everybodys && !projectsOf(who).includes(project)) raise('PolicyDenied', { rule: nodeScope.all });
  return and(rows, belongsTo(project));
};
