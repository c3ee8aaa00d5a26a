/** Routes of a resource that belongs to a node: a caller who sees the node may see it, and a hidden one is a missing one. */
import { z } from 'zod';
import type { Queries } from '../../inventory';
import type { Found, NodeResourceQueries } from '../../inventory/nodes/node-resources';
import type { Caller } from '../../model/access/callers';
import { type ErrorCode, raise } from '../../model/errors';
import { asUuid, isLogicalName } from '../../model/ids';
import type { Predicate } from '../../model/predicates';
import type { ResourceTable } from '../../model/resources/fields';
import type { HomeNode, NodeResourceRow } from '../../model/resources/node-resources';
import { nodeTarget, type Policy } from '../../policy';
import type { Rooms } from '../context';
import type { projections, Shown } from './representation';
import type { Sealing, Values } from './values';
import { behindNode, nodeColumns, visibleRows } from './visibility';

/** What a write is about, for the checks of a resource. */
export type Writing = {
  readonly inventory: Queries;
  readonly node: HomeNode;
  readonly version: number;
};

export type NodeResource<Row extends NodeResourceRow = NodeResourceRow> = {
  readonly table: ResourceTable;
  /** One word, as in audit rows: `volume_target`. */
  readonly what: string;
  /** Below the version and below a node: `volume/targets`. */
  readonly path: string;
  readonly since: number;
  /** From which version it is listed below a node. */
  readonly nestedSince: number;
  /** Prefix of its rules. */
  readonly rules: string;
  /** Rules that decide what of it is shown. */
  readonly redacting: readonly string[];
  readonly missing: ErrorCode;
  /** Whether a name may stand for the UUID. */
  readonly named?: true;
  /** Whether `/detail` exists. */
  readonly detail?: true;
  /** Minor version from which lists take `detail`, where it is another than for most. */
  readonly detailSince?: number;
  readonly store: (inventory: Queries) => NodeResourceQueries<Row>;
  readonly shown: ReturnType<typeof projections>;
  readonly sealing?: Sealing;
  /** What must hold beyond the table, and what else follows; each throws what is wrong. */
  readonly creating?: (values: Values, writing: Writing) => Promise<void>;
  readonly changing?: (row: Row, values: Values, writing: Writing & { readonly to: HomeNode }) => Promise<void>;
  readonly deleting?: (row: Row, writing: Writing) => Promise<void>;
};

export const ruleOf = ({ rules }: Pick<NodeResource, 'rules'>, act: string): string => `${rules}:${act}`;

export const seesNode = 'baremetal:node:get';

export const params = z.object({ ident: z.string() });
export type Params = z.output<typeof params>;

type Asked = { policy(): Policy; readonly inventory: Queries };

/** The node of this name or UUID, or undefined where it is missing or hidden. */
export const visibleHome = async (
  { policy, inventory }: Asked,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<HomeNode | undefined> => {
  const node = await inventory.portgroups.findNode(ident, options);
  return node && policy().allows(seesNode, who, nodeTarget(node)) ? node : undefined;
};

const nobodys = nodeTarget({ owner: null, lessee: null });

/**
 * Throws PolicyDenied where the caller may not do this on the node that a request names, or, where it names none, on any. A
 * node that is hidden counts as one without owner.
 */
export const requireOnHome = async (rooms: Asked, who: Caller, rule: string, ident: unknown): Promise<void> => {
  const policy = rooms.policy();
  if (typeof ident === 'string') {
    const node = await visibleHome(rooms, who, ident);
    policy.require(rule, who, node ? nodeTarget(node) : nobodys);
  } else if (policy.filter(rule, who, nodeColumns).is === 'false') policy.require(rule, who, nobodys);
};

/** The row of this ident with its node, if that is visible. Throws the resource's own error, InvalidInput. */
export const findVisible = async <Row extends NodeResourceRow>(
  resource: NodeResource<Row>,
  { policy, inventory }: Asked,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<Found<Row>> => {
  if (asUuid(ident) === undefined && !(resource.named && isLogicalName(ident)))
    raise('InvalidInput', {
      field: resource.table.resource,
      reason: resource.named ? 'must be a UUID or a name' : 'must be a UUID',
    });
  const found = await resource.store(inventory).find(ident, options);
  if (found && policy().allows(seesNode, who, nodeTarget(found.node))) return found;
  return raise(resource.missing, { [resource.what]: ident });
};

/** Of the columns of nodes: those whose nodes and resources the caller would be shown one by one. Throws PolicyDenied. */
export const visibleHomes = (resource: Pick<NodeResource, 'rules'>, policy: Policy, who: Caller): Predicate =>
  behindNode(
    policy,
    who,
    visibleRows(policy, who, {
      all: ruleOf(resource, 'list_all'),
      own: ruleOf(resource, 'list'),
      see: ruleOf(resource, 'get'),
      columns: nodeColumns,
    }),
  );

/** How its rows are shown to a caller; each carries `owner` and `lessee` of its node, by which redaction is decided. */
export const shownTo = (rooms: Rooms, { who, base }: { readonly who: Caller; readonly base: string }): Shown => {
  const policy = rooms.policy();
  return { base, hides: (rule, row) => !policy.allows(rule, who, nodeTarget(row as unknown as HomeNode)) };
};

/** A row as the projections take it. */
export const besideNode = (row: NodeResourceRow, { owner, lessee }: HomeNode): Values => ({ ...row, owner, lessee });
