/** Fields of a node's BIOS settings and firmware. */
import type { ResourceTable } from './fields';

/** Minor version of the registry's data, `fields` and `detail`. */
export const registrySince = 74;

export const biosTable: ResourceTable = {
  resource: 'bios setting',
  collection: 'bios',
  fields: [
    { name: 'name', type: 'text', inList: true, always: true },
    { name: 'value', type: 'text', inList: true },
    { name: 'attribute_type', since: registrySince, type: 'text' },
    { name: 'allowable_values', since: registrySince, type: 'list', nullable: true },
    { name: 'lower_bound', since: registrySince, type: 'integer' },
    { name: 'upper_bound', since: registrySince, type: 'integer' },
    { name: 'min_length', since: registrySince, type: 'integer' },
    { name: 'max_length', since: registrySince, type: 'integer' },
    { name: 'read_only', since: registrySince, type: 'boolean' },
    { name: 'reset_required', since: registrySince, type: 'boolean' },
    { name: 'unique', since: registrySince, type: 'boolean' },
    { name: 'created_at', type: 'timestamp', inList: true },
    { name: 'updated_at', type: 'timestamp', inList: true },
    { name: 'links', type: 'links', column: null, inList: true },
  ],
  filters: [],
};

/** Minor version of firmware's identity fields. An older request that names one gets 400. */
export const identitySince = 114;
export const identityFields: readonly string[] = ['vendor', 'model', 'serial_number'];

export const firmwareTable: ResourceTable = {
  resource: 'firmware component',
  collection: 'firmware',
  fields: [
    { name: 'component', type: 'text', inList: true },
    { name: 'initial_version', type: 'text', inList: true },
    { name: 'current_version', type: 'text', inList: true },
    { name: 'last_version_flashed', type: 'text', inList: true },
    ...identityFields.map((name) => ({ name, since: identitySince, type: 'text', inList: true }) as const),
    { name: 'created_at', type: 'timestamp', inList: true },
    { name: 'updated_at', type: 'timestamp', inList: true },
  ],
  filters: [],
};
