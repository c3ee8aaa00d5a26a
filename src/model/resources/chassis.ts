/** Chassis: what nodes are built into, as far as the wire knows one. */
import type { ResourceTable } from './fields';

const updateRule = 'baremetal:chassis:update';

// Source of rows: openstack/ironic:ironic/api/controllers/v1/chassis.py, ironic/api/schemas/v1/chassis.py.
export const chassisTable: ResourceTable = {
  resource: 'chassis',
  collection: 'chassis',
  fields: [
    { name: 'uuid', type: 'uuid', inList: true, create: 'optional' },
    {
      name: 'description',
      type: 'text',
      nullable: true,
      inList: true,
      create: 'optional',
      patch: updateRule,
      max: 255,
    },
    { name: 'extra', type: 'object', nullable: true, create: 'optional', patch: updateRule },
    { name: 'nodes', type: 'links', column: null, unlessFields: true, nested: true },
    { name: 'created_at', type: 'timestamp' },
    { name: 'updated_at', type: 'timestamp' },
    { name: 'links', type: 'links', column: null, always: true },
  ],
  filters: [],
};
