/** The node behind a port: whether the caller may see it, and whose ports a list shows. */
import type { Queries } from '../../../inventory';
import type { FoundPort } from '../../../inventory/nodes/ports';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { asUuid, isLogicalName } from '../../../model/ids';
import { always, and, or, type Predicate } from '../../../model/predicates';
import { homeFilters, type PortNode } from '../../../model/resources/ports';
import { nodeTarget, type Policy } from '../../../policy';
import type { ListAsked } from '../../resource/lists';
import { findVisible, visibleHomes } from '../../resource/node-resource';
import { portgroup } from './portgroups';

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

/** The port of this UUID or name, if its node is visible. Throws PortNotFound, InvalidInput. */
export const findVisiblePort = async (
  rooms: Asked,
  who: Caller,
  ident: string,
  minor: number,
  options: { readonly lock?: boolean } = {},
): Promise<FoundPort> => {
  if (asUuid(ident) === undefined) {
    if (!isLogicalName(ident)) raise('InvalidInput', { field: 'port', reason: 'must be a UUID or a name' });
    if (minor < namesSince)
      raise('InvalidInput', { field: 'port', reason: `must be a UUID; its name needs API version 1.${namesSince}` });
  }
  const found = await rooms.inventory.ports.find(ident, options);
  return found && seesNode(rooms, who, found.node) ? found : raise('PortNotFound', { port: ident });
};

/** Of the columns of nodes: all, or those whose nodes and ports the caller may see. Throws PolicyDenied. */
export const visiblePorts = (policy: Policy, who: Caller): Predicate =>
  visibleHomes({ rules: 'baremetal:port' }, policy, who);

/** Refuses filters that exclude each other, and any that names a home below a node or portgroup. The original answers 403 to that; it is a mistake of the request. */
export const checkHomeFilters = (filters: ListAsked['filters'], nested: boolean): void => {
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
 * Of the columns of ports: the members of the portgroup that the path or a filter names. Throws PortgroupNotFound alike for
 * missing and hidden ones, InvalidInput.
 */
export const membersOf = async (
  rooms: Asked & { readonly inventory: Queries },
  who: Caller,
  ident: string | undefined,
): Promise<Predicate> => {
  if (ident === undefined) return always;
  const { row } = await findVisible(portgroup, rooms, who, ident);
  return { is: 'equals', column: 'portgroup_uuid', value: row.uuid };
};

/**
 * Of the columns of nodes: whose ports the filters ask for. Throws NodeNotFound for a node that is missing or hidden.
 * @param home ident of the node that the path names
 */
export const homeOf = async (
  rooms: Asked,
  who: Caller,
  filters: ListAsked['filters'],
  home: string | undefined,
): Promise<Predicate> => {
  const ident = home ?? filters.node ?? filters.node_uuid;
  const within = and(anyOf('shard', filters.shard), anyOf('conductor_group', filters.conductor_groups));
  if (ident === undefined) return within;
  const node = await visibleNodeOf(rooms, who, String(ident));
  if (!node) return raise('NodeNotFound', { node: ident });
  return and(within, { is: 'equals', column: 'uuid', value: node.uuid });
};
