/** The node behind a port: whether the caller may see it, and whose ports a list shows. */
import type { Queries } from '../../inventory';
import type { FoundPort } from '../../inventory/ports';
import type { Caller } from '../../model/callers';
import { raise } from '../../model/errors';
import { asUuid, isLogicalName } from '../../model/ids';
import { homeFilters, type PortNode } from '../../model/ports';
import { always, and, or, type Predicate } from '../../model/predicates';
import { nodeTarget, type Policy } from '../../policy';
import type { ListAsked } from '../lists';
import { requireMinor } from '../versions';

type Asked = { policy(): Policy; readonly inventory: Pick<Queries, 'ports'> };

/** Minor version from which a port's name stands for its UUID. */
const namesSince = 88;

const seesNode = (rooms: Asked, who: Caller, node: PortNode): boolean =>
  rooms.policy().allows('baremetal:node:get', who, nodeTarget(node));

/** The node of this name or UUID, or undefined where it is missing or hidden. */
export const visibleNodeOf = async (
  rooms: Asked,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<PortNode | undefined> => {
  const node = await rooms.inventory.ports.findNode(ident, options);
  return node && seesNode(rooms, who, node) ? node : undefined;
};

/** The port of this UUID or name, if its node is visible. Throws PortNotFound, InvalidInput, NotAcceptable. */
export const findVisiblePort = async (
  rooms: Asked,
  who: Caller,
  ident: string,
  minor: number,
  options: { readonly lock?: boolean } = {},
): Promise<FoundPort> => {
  if (asUuid(ident) === undefined) {
    requireMinor(minor, namesSince, 'the name of a port');
    if (!isLogicalName(ident)) raise('InvalidInput', { field: 'port', reason: 'must be a UUID or a name' });
  }
  const found = await rooms.inventory.ports.find(ident, options);
  return found && seesNode(rooms, who, found.node) ? found : raise('PortNotFound', { port: ident });
};

/** Of the columns of nodes: all, or what the caller's project owns or leases. Throws PolicyDenied. */
export const visiblePorts = (policy: Policy, who: Caller): Predicate => {
  if (policy.allows('baremetal:port:list_all', who)) return always;
  policy.require('baremetal:port:list', who);
  const { project_id } = who;
  if (project_id === null) return raise('PolicyDenied', { rule: 'baremetal:port:list_all' });
  return or(
    { is: 'equals', column: 'owner', value: project_id },
    { is: 'equals', column: 'lessee', value: project_id },
  );
};

/** Refuses filters that exclude each other. The original answers 403 to that; it is a mistake of the request. */
const checkHomeFilters = (filters: ListAsked['filters'], nested: boolean): void => {
  const homes = homeFilters.filter((name) => filters[name] !== undefined);
  if (homes.length + (nested ? 1 : 0) > 1)
    raise('InvalidInput', { field: homes.join(', '), reason: 'only one of node, portgroup and shard may be named' });
  const excluded = ['node', 'node_uuid', 'portgroup', 'address'].filter((name) => filters[name] !== undefined);
  if (filters.conductor_groups !== undefined && (excluded.length > 0 || nested))
    raise('InvalidInput', {
      field: 'conductor_groups',
      reason: 'cannot be combined with node, portgroup or address',
    });
};

const anyOf = (column: string, values: unknown): Predicate =>
  Array.isArray(values) ? or(...values.map((value) => ({ is: 'equals', column, value }) as const)) : always;

/**
 * Of the columns of nodes: whose ports the filters ask for. Throws NodeNotFound for a node that is missing or hidden, and
 * PortgroupNotFound, because there are none yet.
 * @param home ident of the node that the path names
 */
export const homeOf = async (
  rooms: Asked,
  who: Caller,
  filters: ListAsked['filters'],
  home: string | undefined,
): Promise<Predicate> => {
  checkHomeFilters(filters, home !== undefined);
  if (filters.portgroup !== undefined) return raise('PortgroupNotFound', { portgroup: filters.portgroup });
  const ident = home ?? filters.node ?? filters.node_uuid;
  const within = and(anyOf('shard', filters.shard), anyOf('conductor_group', filters.conductor_groups));
  if (ident === undefined) return within;
  const node = await visibleNodeOf(rooms, who, String(ident));
  if (!node) return raise('NodeNotFound', { node: ident });
  return and(within, { is: 'equals', column: 'uuid', value: node.uuid });
};
