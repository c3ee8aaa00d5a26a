/** /v1/chassis: what nodes are built into. Whose nodes they are does not matter here: it is for system callers. */

import { raise } from '../../model/errors';
import { chassisTable } from '../../model/resources/chassis';
import type { Route } from '../http/route';
import { links, projections } from '../resource/representation';
import { type SystemResource, shownRoutes } from '../resource/system-resource';
import { editRoutes } from '../resource/system-resource-edits';

const chassis: SystemResource = {
  table: chassisTable,
  what: 'chassis',
  path: 'chassis',
  since: 1,
  rules: 'baremetal:chassis',
  missing: 'ChassisNotFound',
  detail: true,
  store: (inventory) => inventory.chassis,
  shown: projections(chassisTable, {
    links: (row, { base }) => links(base, `chassis/${row.uuid}`),
    // The wire has a list of one list of links.
    nodes: (row, { base }) => [links(base, `chassis/${row.uuid}/nodes`)],
  }),
  deletable: async (inventory, { uuid }) => {
    if (await inventory.chassis.hasNodes(uuid))
      raise('InvalidInput', { field: 'chassis', reason: `${uuid} has nodes; take them out of it first` });
  },
};

export const chassisRoutes: Route[] = [...shownRoutes(chassis), ...editRoutes(chassis)];
