/** Ports: the network interfaces of a node. */

import { isLogicalName, type NodeUuid, type PortUuid } from '../ids';
import { extraField, macField, optionalText, physicalNetwork, recordFields, uuidField } from './common-fields';
import type { ResourceTable } from './fields';
import type { HomeNode } from './node-resources';

const updatePort = 'baremetal:port:update';

export const portTable: ResourceTable = {
  resource: 'port',
  collection: 'ports',
  fields: [
    uuidField,
    macField(updatePort, { create: 'required' }),
    { name: 'node_uuid', type: 'uuid', create: 'optional', patch: updatePort },
    { name: 'node_ident', since: 94, type: 'text', create: 'optional', patch: updatePort, hidden: true, column: null },
    extraField(updatePort),
    { name: 'internal_info', since: 18, type: 'object' },
    {
      name: 'local_link_connection',
      since: 19,
      type: 'object',
      nullable: true,
      create: 'optional',
      patch: updatePort,
    },
    { name: 'pxe_enabled', since: 19, type: 'boolean', create: 'optional', patch: updatePort, default: true },
    { name: 'portgroup_uuid', since: 24, type: 'uuid', nullable: true, create: 'optional', patch: updatePort },
    physicalNetwork(updatePort, 34),
    { name: 'is_smartnic', since: 53, type: 'boolean', create: 'optional', patch: updatePort, default: false },
    optionalText('name', updatePort, {
      since: 88,
      form: { is: isLogicalName, says: '1-255 letters, digits and - . _ ~' },
    }),
    optionalText('description', updatePort, { since: 97 }),
    optionalText('vendor', updatePort, { since: 100, max: 32 }),
    optionalText('category', updatePort, { since: 101, max: 80 }),
    {
      name: 'available_for_dynamic_portgroup',
      since: 111,
      type: 'boolean',
      create: 'optional',
      patch: updatePort,
      default: true,
    },
    ...recordFields(),
  ],
  filters: [
    { name: 'node', type: 'text' },
    { name: 'node_uuid', type: 'text' },
    { name: 'address', type: 'text', column: 'address' },
    { name: 'portgroup', since: 24, type: 'text' },
    { name: 'shard', since: 82, type: 'texts' },
    { name: 'conductor_groups', type: 'texts' },
    { name: 'description_contains', type: 'text', column: 'description', contains: true },
  ],
};

export type Port = {
  readonly uuid: PortUuid;
  readonly node_uuid: NodeUuid;
  readonly address: string;
  readonly name: string | null;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly internal_info: Readonly<Record<string, unknown>>;
  readonly local_link_connection: Readonly<Record<string, unknown>>;
  readonly pxe_enabled: boolean;
  readonly portgroup_uuid: string | null;
  readonly physical_network: string | null;
  readonly is_smartnic: boolean;
  readonly description: string | null;
  readonly vendor: string | null;
  readonly category: string | null;
  readonly available_for_dynamic_portgroup: boolean;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

export type PortNode = Omit<HomeNode, 'power_state'>;

/** A request may have only one of them. */
export const homeFilters = ['node', 'node_uuid', 'portgroup', 'shard'] as const;
