/** Nodes: fields, list filters, and rules for names. */

import { networkFiles } from '../boot/network-data';
import { isTemperError } from '../errors';
import { asUuid, isLogicalName } from '../ids';
import { drivers } from '../lifecycle/drivers';
import { faults, type ProvisionState, states } from '../lifecycle/states';
import { type InterfaceName, interfaceNames } from '../lifecycle/step-types';
import type { FieldRow, FilterRow, ResourceTable } from './fields';

const nodeRule = (name: string): string => `baremetal:node:${name}`;

// Clients compare these texts, so each keeps Ironic's capitals: openstack/ironic:ironic/api/controllers/v1/node.py
const redacted = (what: string, requires: 'requires' | 'Requires') =>
  `** Redacted - ${requires} ${nodeRule(`get:${what}`)} permission. **`;

const interfaceSince: Partial<Record<InterfaceName, number>> = {
  network: 20,
  storage: 33,
  rescue: 38,
  bios: 40,
  firmware: 86,
};

const interfaceFields: FieldRow[] = interfaceNames.map((name) => ({
  name: `${name}_interface`,
  since: interfaceSince[name] ?? 31,
  type: 'text',
  nullable: true,
  create: 'optional',
  patch: nodeRule('update:driver_interfaces'),
  max: 255,
}));

const conductorGroupForm = {
  is: (text: string) => /^[a-z0-9_.-]*$/i.test(text),
  says: 'may hold letters, digits, "_", "-" and "." only',
};

const isCount = (value: unknown): boolean =>
  value === null || value === undefined || /^\d+$/.test(String(value)) || value === '';

/** Sizes must be whole numbers. */
export const propertiesFault = (properties: Readonly<Record<string, unknown>>): string | undefined => {
  const wrong = ['local_gb', 'memory_mb'].filter((key) => !isCount(properties[key]));
  return wrong.length > 0 ? `${wrong.join(' and ')} must be a whole number that is not negative` : undefined;
};

/** Must be empty, or a network description for a ramdisk. */
export const networkDataFault = (data: Readonly<Record<string, unknown>>): string | undefined => {
  try {
    networkFiles(data);
    return undefined;
  } catch (thrown) {
    if (!isTemperError(thrown, 'NetworkDataRefused')) throw thrown;
    return String(thrown.facts.reason);
  }
};

const longestInstanceName = 255;

// Source of rows: openstack/ironic:ironic/api/controllers/v1/node.py, utils.py (VERSIONED_FIELDS), ironic/objects/node.py.
const fields: readonly FieldRow[] = [
  { name: 'uuid', type: 'uuid', create: 'optional', inList: true },
  {
    name: 'name',
    since: 5,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:name'),
    max: 255,
    inList: true,
  },
  { name: 'created_at', type: 'timestamp', nullable: true },
  { name: 'updated_at', type: 'timestamp', nullable: true },
  { name: 'links', type: 'links', column: null, always: true },
  { name: 'ports', type: 'links', column: null, unlessFields: true },
  { name: 'states', since: 14, type: 'links', column: null, unlessFields: true },
  { name: 'portgroups', since: 24, type: 'links', column: null, unlessFields: true },
  { name: 'volume', since: 32, type: 'links', column: null, unlessFields: true },
  {
    name: 'chassis_uuid',
    type: 'uuid',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:chassis_uuid'),
  },
  { name: 'driver', type: 'text', create: 'required', patch: nodeRule('update:driver_interfaces'), min: 1, max: 255 },
  {
    name: 'driver_info',
    type: 'object',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:driver_info'),
    secret: true,
    redact: { rule: nodeRule('get:driver_info'), shown: { content: redacted('driver_info', 'requires') } },
  },
  {
    name: 'driver_internal_info',
    since: 3,
    type: 'object',
    secret: true,
    redact: {
      rule: nodeRule('get:driver_internal_info'),
      shown: { content: redacted('driver_internal_info', 'Requires') },
    },
  },
  { name: 'properties', type: 'object', nullable: true, create: 'optional', patch: nodeRule('update:properties') },
  { name: 'extra', type: 'object', nullable: true, create: 'optional', patch: nodeRule('update_extra') },
  {
    name: 'instance_uuid',
    type: 'uuid',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:instance_uuid'),
    inList: true,
  },
  {
    name: 'instance_info',
    type: 'object',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update_instance_info'),
    secret: true,
  },
  {
    name: 'instance_name',
    since: 104,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update_instance_info'),
    min: 1,
    max: longestInstanceName,
  },
  { name: 'power_state', type: 'text', nullable: true, inList: true },
  { name: 'target_power_state', type: 'text', nullable: true },
  { name: 'provision_state', type: 'text', nullable: true, inList: true },
  { name: 'target_provision_state', type: 'text', nullable: true },
  { name: 'provision_updated_at', type: 'timestamp', nullable: true },
  {
    name: 'maintenance',
    type: 'boolean',
    create: 'optional',
    patch: nodeRule('update'),
    default: false,
    inList: true,
  },
  { name: 'maintenance_reason', type: 'text', nullable: true, withoutBmc: { rule: nodeRule('get:driver_info') } },
  { name: 'maintenance_since', wire: 'temper', type: 'timestamp', nullable: true },
  {
    name: 'reservation',
    type: 'text',
    nullable: true,
    redact: { rule: nodeRule('get:reservation'), shown: redacted('reservation', 'requires') },
  },
  {
    name: 'last_error',
    type: 'text',
    nullable: true,
    redact: {
      rule: nodeRule('get:last_error'),
      shown: `** Value Redacted - Requires ${nodeRule('get:last_error')} permission. **`,
    },
  },
  { name: 'console_enabled', type: 'boolean', create: 'optional', default: false },
  { name: 'inspection_started_at', since: 6, type: 'timestamp', nullable: true },
  { name: 'inspection_finished_at', since: 6, type: 'timestamp', nullable: true },
  { name: 'clean_step', since: 7, type: 'object', secret: true },
  { name: 'raid_config', since: 12, type: 'object' },
  { name: 'target_raid_config', since: 12, type: 'object' },
  ...interfaceFields,
  {
    name: 'resource_class',
    since: 21,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update'),
    max: 80,
  },
  { name: 'traits', since: 37, type: 'texts' },
  { name: 'fault', since: 42, type: 'text', nullable: true },
  { name: 'fault_since', wire: 'temper', type: 'timestamp', nullable: true },
  { name: 'deploy_step', since: 44, type: 'object', secret: true },
  {
    name: 'conductor_group',
    since: 46,
    type: 'text',
    create: 'optional',
    patch: nodeRule('update:conductor_group'),
    default: '',
    max: 255,
    lower: true,
    form: conductorGroupForm,
  },
  {
    name: 'automated_clean',
    since: 47,
    type: 'boolean',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update'),
  },
  { name: 'protected', since: 48, type: 'boolean', patch: nodeRule('update'), default: false },
  { name: 'protected_reason', since: 48, type: 'text', nullable: true, patch: nodeRule('update'), max: 4096 },
  { name: 'conductor', since: 49, type: 'text', nullable: true, sortable: false },
  {
    name: 'owner',
    since: 50,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:owner'),
    min: 1,
    max: 255,
  },
  {
    name: 'description',
    since: 51,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update'),
    max: 4096,
  },
  { name: 'allocation_uuid', since: 52, type: 'uuid', nullable: true },
  {
    name: 'retired',
    since: 61,
    type: 'boolean',
    create: 'optional',
    patch: nodeRule('update:retired'),
    default: false,
  },
  {
    name: 'retired_reason',
    since: 61,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:retired'),
    max: 4096,
  },
  {
    name: 'lessee',
    since: 65,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:lessee'),
    min: 1,
    max: 255,
  },
  {
    name: 'network_data',
    since: 66,
    type: 'object',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:network_data'),
  },
  {
    name: 'boot_mode',
    since: 75,
    type: 'text',
    nullable: true,
    create: 'optional',
    oneOf: ['bios', 'uefi'],
  },
  { name: 'secure_boot', since: 75, type: 'boolean', nullable: true, create: 'optional' },
  {
    name: 'shard',
    since: 82,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:shard'),
    max: 255,
  },
  {
    name: 'parent_node',
    since: 83,
    type: 'text',
    nullable: true,
    create: 'optional',
    patch: nodeRule('update:parent_node'),
    max: 255,
  },
  { name: 'service_step', since: 87, type: 'object', secret: true },
  {
    name: 'disable_power_off',
    since: 95,
    type: 'boolean',
    create: 'optional',
    patch: nodeRule('update:disable_power_off'),
    default: false,
  },
  { name: 'health', since: 109, type: 'text', nullable: true },
];

const nodeFilters: readonly FilterRow[] = [
  { name: 'instance_uuid', type: 'uuid', column: 'instance_uuid' },
  { name: 'associated', type: 'boolean', set: 'instance_uuid' },
  { name: 'maintenance', type: 'boolean', column: 'maintenance' },
  { name: 'chassis_uuid', type: 'uuid', column: 'chassis_uuid' },
  {
    name: 'provision_state',
    since: 9,
    type: 'text',
    column: 'provision_state',
    oneOf: Object.keys(states),
  },
  { name: 'driver', since: 16, type: 'text', column: 'driver' },
  { name: 'resource_class', since: 21, type: 'text', column: 'resource_class' },
  { name: 'fault', since: 42, type: 'text', column: 'fault', oneOf: faults },
  { name: 'conductor_group', since: 46, type: 'text', column: 'conductor_group' },
  { name: 'conductor', since: 49, type: 'text' },
  { name: 'owner', since: 50, type: 'text', column: 'owner' },
  { name: 'description_contains', type: 'text' },
  { name: 'retired', type: 'boolean', column: 'retired' },
  { name: 'lessee', since: 65, type: 'text', column: 'lessee' },
  { name: 'project', type: 'text' },
  { name: 'shard', since: 82, type: 'texts', column: 'shard' },
  { name: 'sharded', since: 82, type: 'boolean', set: 'shard' },
  { name: 'include_children', since: 83, type: 'boolean' },
  { name: 'parent_node', since: 83, type: 'text' },
  { name: 'instance_name', since: 104, type: 'text', column: 'instance_name' },
];

export const nodeTable: ResourceTable = { resource: 'node', collection: 'nodes', fields, filters: nodeFilters };

export const interfaceFieldNames: readonly string[] = interfaceFields.map((row) => row.name);

/** By minor version. `last_error` stays unredacted, because clients poll it for the cause. */
export const stateFields = [
  { name: 'console_enabled', since: 1 },
  { name: 'last_error', since: 1 },
  { name: 'power_state', since: 1 },
  { name: 'provision_state', since: 1 },
  { name: 'target_power_state', since: 1 },
  { name: 'target_provision_state', since: 1 },
  { name: 'provision_updated_at', since: 1 },
  { name: 'raid_config', since: 12 },
  { name: 'target_raid_config', since: 12 },
  { name: 'boot_mode', since: 75 },
  { name: 'secure_boot', since: 75 },
] as const;

/** States in older versions. `below` is the first version that shows the state itself. */
const rewrites = [
  { state: 'available', below: 2, shown: null },
  { state: 'inspect wait', below: 39, shown: 'inspecting' },
] as const satisfies readonly { state: ProvisionState; below: number; shown: string | null }[];

export const shownState = (state: unknown, minor: number): unknown => {
  for (const row of rewrites) if (row.state === state && minor < row.below) return row.shown;
  return state;
};

export const showsEveryState = (minor: number): boolean => rewrites.every(({ below }) => minor >= below);

/** Enrolment does not exist before 1.11. */
export const firstState = (minor: number): ProvisionState => (minor < 11 ? 'available' : 'enroll');

/** A node without a name shows the one in its instance's data; null if not valid. */
export const displayName = (instance_info: unknown): string | null => {
  const name = (instance_info as { readonly display_name?: unknown } | null | undefined)?.display_name;
  return typeof name === 'string' && name.length > 0 && name.length <= longestInstanceName ? name : null;
};

const reservedNames = ['detail', 'maintenance', 'management', 'states', 'validate', 'vendor_passthru'];
const subresources =
  'ports portgroups vifs volume traits bios allocation history inventory children firmware vmedia'.split(' ');
const hostName = /^(?=.{1,255}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i;

/** Minor version from which names need not be host names. */
const freeNamesSince = 10;

/** For any node. */
export const nameFormFault = (name: string, minor: number): string | undefined => {
  if (minor < freeNamesSince && !hostName.test(name))
    return `must be a host name before API version 1.${freeNamesSince}`;
  return isLogicalName(name) ? undefined : 'may hold letters, digits, "-", ".", "_" and "~" only, 1 to 255 of them';
};

export const nameFault = (name: string, minor: number): string | undefined => {
  if (asUuid(name) !== undefined) return 'must not look like a UUID';
  if (reservedNames.includes(name)) return `must not be one of ${reservedNames.join(', ')}`;
  return nameFormFault(name, minor);
};

/** Subresources cannot be names of nodes. */
export const isSubresource = (ident: string): boolean => subresources.includes(ident);

/** For a field such as `power_interface`; none for an unknown driver. */
export const offered = (driver: string, field: string): readonly string[] => {
  const row = (drivers as Readonly<Record<string, { interfaces: Readonly<Record<string, readonly string[]>> }>>)[
    driver
  ];
  return row?.interfaces[field.replace(/_interface$/, '')] ?? [];
};

/** A tenant's instance runs there, so a new owner needs a separate rule. */
export const ownerGuardedIn: readonly ProvisionState[] = ['active'];

/** PATCH is refused from version `since`, because an inspection reads the node's properties. */
export const patchRefusedIn: readonly { readonly state: ProvisionState; readonly since: number }[] = [
  { state: 'inspecting', since: 39 },
];

/** A retired node would still be allocated. */
export const retireRefusedIn: readonly ProvisionState[] = ['available'];
