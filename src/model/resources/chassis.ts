/** Chassis: their fields in the API. */
import { extraField, optionalText, recordFields, uuidField } from './common-fields';
import type { ResourceTable } from './fields';

const updateChassis = 'baremetal:chassis:update';

// Source of rows: openstack/ironic:ironic/api/controllers/v1/chassis.py, ironic/api/schemas/v1/chassis.py.
export const chassisTable: ResourceTable = {
  resource: 'chassis',
  collection: 'chassis',
  fields: [
    uuidField,
    optionalText('description', updateChassis, { inList: true }),
    extraField(updateChassis),
    { name: 'nodes', type: 'links', column: null, unlessFields: true, nested: true },
    ...recordFields(),
  ],
  filters: [],
};
