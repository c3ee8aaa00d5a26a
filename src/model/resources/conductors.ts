/** Conductors in the API: BMC workers, by their last heartbeat. */
import type { ResourceTable } from './fields';

export const conductorsSince = 49;

export const conductorTable: ResourceTable = {
  resource: 'conductor',
  collection: 'conductors',
  fields: [
    { name: 'hostname', since: 49, type: 'text', inList: true },
    { name: 'conductor_group', since: 49, type: 'text', inList: true },
    { name: 'alive', since: 49, type: 'boolean', inList: true, sortable: false },
    { name: 'drivers', since: 49, type: 'texts' },
    { name: 'created_at', since: 49, type: 'timestamp' },
    { name: 'updated_at', since: 49, type: 'timestamp' },
    { name: 'links', since: 49, type: 'links', column: null, always: true },
  ],
  filters: [],
};
