/** Access to rows of a kind: through their node, their project, or the installation's rules. */
import { requireIdent } from '../../admission/visibility';
import type { Queries } from '../../inventory';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { asUuid } from '../../model/ids';
import { always, type Predicate } from '../../model/predicates';
import type { HomeNode } from '../../model/resources/node-resources';
import { nodeTarget, type Policy, type Target } from '../../policy';
import type { AuditedAct } from '../audit/record';
import { type AnyRow, type ResourceKind, ruleOf } from './kit';
import type { ListAsked } from './lists';
import { behindNode, nodeColumns, projectsOf, requireList, visibleRows } from './visibility';

const seesNode = 'baremetal:node:get';

/** The policy, and the queries of the transaction if there is one. */
export type Context = { policy(): Policy; readonly inventory: Queries };

/** A row, and its node if it belongs to one. */
export type FoundRow<Row = AnyRow> = { readonly row: Row; readonly node?: HomeNode };

type AccessScope = {
  /** True if rules do not depend on an object. They run before the lookup then. */
  readonly ruleFirst: boolean;
  /** The rules of a list in evaluation order. */
  readonly listRules: readonly string[];
  /** Rules that make a row visible. */
  readonly seeing: readonly string[];
  /** The found row, or undefined if it is hidden from the caller. */
  readonly shown: (policy: Policy, who: Caller, found: unknown) => FoundRow | undefined;
  readonly target: (found: FoundRow) => Target | undefined;
  /** The predicate on a list's rows, on the columns that decide. Throws PolicyDenied. */
  readonly visible: (policy: Policy, who: Caller, filters: ListAsked['filters']) => Predicate;
};

const listsOf = (kind: ResourceKind) => ({ all: ruleOf(kind, 'list_all'), own: ruleOf(kind, 'list') });

const byNode = (kind: ResourceKind): AccessScope => ({
  ruleFirst: false,
  listRules: [...Object.values(listsOf(kind)), ruleOf(kind, 'get'), seesNode],
  seeing: [seesNode],
  shown: (policy, who, found) => {
    const { row, node } = found as Required<FoundRow>;
    return policy.allows(seesNode, who, nodeTarget(node)) ? { row, node } : undefined;
  },
  target: ({ node }) => nodeTarget(node!),
  visible: (policy, who) =>
    behindNode(
      policy,
      who,
      visibleRows(policy, who, { ...listsOf(kind), see: ruleOf(kind, 'get'), columns: nodeColumns }),
    ),
});

const byOwner = (kind: ResourceKind, { target, columns, filter }: NonNullable<ResourceKind['owned']>): AccessScope => {
  const see = ruleOf(kind, 'get');
  return {
    ruleFirst: false,
    listRules: [...Object.values(listsOf(kind)), see],
    seeing: [see],
    shown: (policy, who, found) => {
      const row = found as AnyRow;
      return policy.allows(see, who, target(row)) ? { row } : undefined;
    },
    target: ({ row }) => target(row),
    visible: (policy, who, filters) => {
      const ofAll = requireList(policy, who, { ...listsOf(kind), columns });
      const project = filters[filter];
      if (!ofAll && project !== undefined && !projectsOf(who).includes(String(project)))
        raise('PolicyDeniedFor', {
          rule: ruleOf(kind, 'list_all'),
          reason: `Only your own project may be named as ${filter}.`,
        });
      return policy.filter(see, who, columns);
    },
  };
};

const byInstallation = (kind: ResourceKind): AccessScope => ({
  ruleFirst: true,
  listRules: [ruleOf(kind, 'get')],
  seeing: [],
  shown: (_policy, _who, found) => ({ row: found as AnyRow }),
  target: () => undefined,
  visible: () => always,
});

export const scopeOf = (kind: ResourceKind): AccessScope => {
  if (kind.home) return byNode(kind);
  return kind.owned ? byOwner(kind, kind.owned) : byInstallation(kind);
};

/** Refuses an invalid identifier. Throws InvalidInput. */
const checkIdent = ({ named, table }: ResourceKind, ident: string, version: number, act?: AuditedAct): void => {
  if (asUuid(ident) !== undefined) return;
  const { resource: field } = table;
  const refuse = (reason: string): never => raise('InvalidInput', { field, reason });
  if (act !== undefined && named?.notTo === act) refuse(`a ${field} is ${act}d by its UUID, not by its name`);
  if (named) requireIdent(field, ident);
  else refuse('must be a UUID');
  const since = named?.since ?? 1;
  if (version < since) refuse(`must be a UUID; its name needs API version 1.${since}`);
};

type FindOptions = {
  readonly version?: number;
  /** The act that the lookup is for. */
  readonly act?: AuditedAct;
  /** Locks the row for the transaction of the context's queries. */
  readonly lock?: boolean;
};

/** The row with this UUID or name. Hidden counts as missing. Throws InvalidInput, the kind's own error. */
export const findVisible = async <Row extends AnyRow>(
  given: ResourceKind<Row>,
  { policy, inventory }: Context,
  who: Caller,
  ident: string,
  { version = Number.POSITIVE_INFINITY, act, ...options }: FindOptions = {},
): Promise<FoundRow<Row>> => {
  const kind = given as unknown as ResourceKind;
  checkIdent(kind, ident, version, act);
  const found = await kind.store(inventory).find(ident, options);
  const shown = found === undefined ? undefined : scopeOf(kind).shown(policy(), who, found);
  return (shown ?? raise(kind.missing, { [kind.what]: ident })) as FoundRow<Row>;
};

/** The node with this name or UUID; undefined if missing or hidden. */
export const visibleHome = async (
  { policy, inventory }: Context,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<HomeNode | undefined> => {
  const node = await inventory.portgroups.findNode(ident, options);
  return node && policy().allows(seesNode, who, nodeTarget(node)) ? node : undefined;
};

const unowned = nodeTarget({ owner: null, lessee: null });

/**
 * Throws PolicyDenied if the caller may not do this on the named node, or without a name on any node.
 * A hidden node counts as one without owner.
 */
export const requireOnHome = async (context: Context, who: Caller, rule: string, ident: unknown): Promise<void> => {
  const policy = context.policy();
  if (typeof ident === 'string') {
    const node = await visibleHome(context, who, ident);
    policy.require(rule, who, node ? nodeTarget(node) : unowned);
  } else if (policy.filter(rule, who, nodeColumns).is === 'false') policy.require(rule, who, unowned);
};
