/** Checks of a port: its node, its connection, and the node's state. */
import { raise } from '../../../model/errors';
import {
  checkConnection,
  checkPortDelete,
  checkPortUpdate,
  checkSmartNic,
} from '../../../model/resources/port-changes';
import { checkMemberNetwork } from '../../../model/resources/portgroups';
import { homeFilters, type Port } from '../../../model/resources/ports';
import type { Home, Resource, WriteCheck } from '../../resource/kit';
import { attributesOf } from '../../resource/patch';
import type { StoredValues } from '../../resource/values';
import { checkGroup, checkUnattached } from './membership';

const nameOnce = 'name the node once, by node_uuid or node_ident';

/** The node of a create request, named in one of two ways. Throws InvalidInput. */
const homeIdent = (body: StoredValues): string => {
  const given = [body.node_uuid, body.node_ident].filter((value) => value !== undefined);
  if (given.length !== 1) raise('InvalidInput', { field: 'node_uuid', reason: nameOnce });
  return String(given[0]);
};

/** Refuses filters that exclude each other. Ironic gives 403 for some, but they are bad requests. */
const checkFilters: Home['checkFilters'] = (filters, nested) => {
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

export const home: Home = { ident: homeIdent, checkFilters };

/** A patch may name the new node in one of two ways, and may not remove it. */
export const patch: Resource<Port>['patch'] = (patched, port, operations) => {
  const { node_ident, ...values } = patched(port, operations);
  const named = attributesOf(operations).filter((name) => name === 'node_ident' || name === 'node_uuid');
  if (named.length > 1) raise('InvalidInput', { field: 'node_ident', reason: nameOnce });
  const to = node_ident ?? values.node_uuid;
  if (named.length > 0 && !to) raise('InvalidPatch', { reason: 'a port cannot be without a node.' });
  return named.length > 0 ? { ...values, node_uuid: to } : values;
};

/** Throws InvalidInput, NotAcceptable. A stored connection is not checked: it may have keys of other versions. */
export const checkedPort: Resource<Port>['checked'] = ({ node_ident: _, ...values }, { request, named }, stored) => {
  const connects = stored === undefined || named.includes('local_link_connection');
  const connection = connects && checkConnection(values.local_link_connection as StoredValues, request.version);
  const whole = { ...values, ...(connection && { local_link_connection: connection }) };
  checkSmartNic({ ...stored, ...whole } as Port);
  return whole;
};

/** Fields that a portgroup restricts. */
const memberFields: readonly string[] = ['portgroup_uuid', 'pxe_enabled', 'physical_network'];

export const portChecks: readonly WriteCheck<Port>[] = [
  {
    on: ['update'],
    check: ({ node, row, values, request: { version } }) => {
      const changed = Object.keys(values);
      checkPortUpdate(node, changed, version);
      checkMemberNetwork(row, { ...row, ...values }, changed, version);
    },
  },
  {
    on: ['create', 'update'],
    check: async ({ act, inventory, row, values, node, to }) => {
      const joins = act === 'create' || to.uuid !== node.uuid || memberFields.some((name) => name in values);
      if (joins) await checkGroup(inventory, to.uuid, { ...row, ...values });
    },
  },
  { on: ['delete'], check: ({ node, row }) => checkPortDelete(node, row) },
  {
    on: ['update', 'delete'],
    check: async ({ act, inventory, node, row, to }) => {
      const goes = act === 'delete' ? !node.maintenance : to.uuid !== node.uuid;
      if (goes) await checkUnattached(inventory, 'Port', row.uuid);
    },
  },
];
