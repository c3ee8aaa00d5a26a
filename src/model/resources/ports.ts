/** Ports: the network interfaces of a node, what the wire shows of one, and when one may change. */

import { isLogicalName, type NodeUuid, type PortUuid } from '../ids';
import type { ResourceTable } from './fields';
import type { HomeNode } from './node-resources';

const updateRule = 'baremetal:port:update';

export const portTable: ResourceTable = {
  resource: 'port',
  collection: 'ports',
  fields: [
    { name: 'uuid', type: 'uuid', inList: true, create: 'optional' },
    {
      name: 'address',
      type: 'text',
      inList: true,
      create: 'required',
      patch: updateRule,
      lower: true,
      form: { is: (text) => isMac(text), says: 'a MAC address such as 52:54:00:12:34:56' },
    },
    { name: 'node_uuid', type: 'uuid', create: 'optional', patch: updateRule },
    { name: 'node_ident', since: 94, type: 'text', create: 'optional', patch: updateRule, hidden: true, column: null },
    { name: 'extra', type: 'object', nullable: true, create: 'optional', patch: updateRule },
    { name: 'internal_info', since: 18, type: 'object' },
    {
      name: 'local_link_connection',
      since: 19,
      type: 'object',
      nullable: true,
      create: 'optional',
      patch: updateRule,
    },
    { name: 'pxe_enabled', since: 19, type: 'boolean', create: 'optional', patch: updateRule, default: true },
    { name: 'portgroup_uuid', since: 24, type: 'uuid', nullable: true, create: 'optional', patch: updateRule },
    {
      name: 'physical_network',
      since: 34,
      type: 'text',
      nullable: true,
      create: 'optional',
      patch: updateRule,
      min: 1,
      max: 64,
    },
    { name: 'is_smartnic', since: 53, type: 'boolean', create: 'optional', patch: updateRule, default: false },
    {
      name: 'name',
      since: 88,
      type: 'text',
      nullable: true,
      create: 'optional',
      patch: updateRule,
      max: 255,
      form: { is: isLogicalName, says: '1-255 letters, digits and - . _ ~' },
    },
    {
      name: 'description',
      since: 97,
      type: 'text',
      nullable: true,
      create: 'optional',
      patch: updateRule,
      max: 255,
    },
    { name: 'vendor', since: 100, type: 'text', nullable: true, create: 'optional', patch: updateRule, max: 32 },
    { name: 'category', since: 101, type: 'text', nullable: true, create: 'optional', patch: updateRule, max: 80 },
    {
      name: 'available_for_dynamic_portgroup',
      since: 111,
      type: 'boolean',
      create: 'optional',
      patch: updateRule,
      default: true,
    },
    { name: 'created_at', type: 'timestamp' },
    { name: 'updated_at', type: 'timestamp' },
    { name: 'links', type: 'links', column: null, always: true },
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

/** A port as the store holds it. */
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

/** What decisions about a port need to know of its node. */
export type PortNode = Omit<HomeNode, 'power_state'>;

/** Whether a text is a MAC address with colons, in any case. */
export const isMac = (text: string): boolean => /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text);

/** Filters that name the ports' home; the wire takes one of them at a time. */
export const homeFilters = ['node', 'node_uuid', 'portgroup', 'shard'] as const;
