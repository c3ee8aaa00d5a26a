/** Portgroups: bonded ports of a node, and the conditions for members. */
import { raise } from '../errors';
import { asUuid, isLogicalName } from '../ids';
import { extraField, macField, optionalText, physicalNetwork, recordFields, uuidField } from './common-fields';
import type { ResourceTable } from './fields';
import type { NodeResourceRow } from './node-resources';

const updatePortgroup = 'baremetal:portgroup:update';

/** Minor versions of portgroups, and of routes below them and below nodes. */
export const portgroupsSince = 23;
export const nestedPortgroupsSince = 24;

const nameForm = {
  is: (text: string) => isLogicalName(text) && asUuid(text) === undefined,
  says: '1-255 letters, digits and - . _ ~, and no UUID',
};

// Source of rows: openstack/ironic:ironic/api/controllers/v1/portgroup.py, ironic/api/schemas/v1/portgroup.py.
export const portgroupTable: ResourceTable = {
  resource: 'portgroup',
  collection: 'portgroups',
  fields: [
    uuidField,
    macField(updatePortgroup, { nullable: true, create: 'optional' }),
    optionalText('name', updatePortgroup, { inList: true, form: nameForm }),
    { name: 'node_uuid', type: 'uuid', create: 'required', patch: updatePortgroup },
    extraField(updatePortgroup),
    { name: 'internal_info', type: 'object' },
    {
      name: 'standalone_ports_supported',
      type: 'boolean',
      create: 'optional',
      patch: updatePortgroup,
      default: true,
    },
    {
      name: 'mode',
      since: 26,
      type: 'text',
      create: 'optional',
      patch: updatePortgroup,
      min: 1,
      max: 255,
      default: 'active-backup',
      kept: true,
    },
    { name: 'properties', since: 26, type: 'object', nullable: true, create: 'optional', patch: updatePortgroup },
    physicalNetwork(updatePortgroup, 102),
    optionalText('category', updatePortgroup, { since: 103, max: 80 }),
    { name: 'dynamic_portgroup', since: 111, type: 'boolean' },
    { name: 'ports', since: nestedPortgroupsSince, type: 'links', column: null, unlessFields: true },
    ...recordFields(),
  ],
  filters: [
    { name: 'node', type: 'text' },
    { name: 'address', type: 'text', column: 'address' },
    { name: 'shard', since: 106, type: 'texts' },
    { name: 'conductor_groups', type: 'texts' },
  ],
};

export type Portgroup = NodeResourceRow & {
  readonly name: string | null;
  readonly address: string | null;
  readonly standalone_ports_supported: boolean;
  readonly mode: string;
  readonly physical_network: string | null;
};

type GroupedPort = { readonly pxe_enabled: boolean; readonly physical_network: string | null };

/**
 * Throws Conflict.
 * @param others the physical networks of its other members
 */
export const checkMember = (
  group: Portgroup,
  port: GroupedPort,
  others: readonly { readonly physical_network: string | null }[],
): void => {
  if (port.pxe_enabled && !group.standalone_ports_supported)
    raise('Conflict', {
      reason: `Portgroup ${group.uuid} has no standalone ports, so a member of it cannot be pxe_enabled.`,
    });
  if (others.some(({ physical_network }) => physical_network !== port.physical_network))
    raise('Conflict', {
      reason: `physical_network: must be that of the other ports of portgroup ${group.uuid}.`,
    });
};

/** Minor version from which only the portgroup changes a member's physical network. */
const networkOfGroupSince = 102;

/** Throws InvalidInput. */
export const checkMemberNetwork = (
  before: { readonly portgroup_uuid: string | null },
  after: { readonly portgroup_uuid: string | null },
  changed: readonly string[],
  minor: number,
): void => {
  const stays = before.portgroup_uuid !== null && before.portgroup_uuid === after.portgroup_uuid;
  if (stays && changed.includes('physical_network') && minor >= networkOfGroupSince)
    raise('InvalidInput', {
      field: 'physical_network',
      reason: 'of a port in a portgroup is changed by changing that of the portgroup',
    });
};
