/** /v1/chassis: enclosures of nodes. Only system callers use it, so node owners do not matter. */

import { raise } from '../../model/errors';
import { chassisTable } from '../../model/resources/chassis';
import type { Resource } from '../resource/kit';
import { editRoutes } from '../resource/kit-edits';
import { shownRoutes } from '../resource/kit-lists';
import { links, linksTo, projections } from '../resource/representation';
import type { Route } from '../server/route';

const chassis: Resource = {
  table: chassisTable,
  what: 'chassis',
  path: 'chassis',
  since: 1,
  rules: 'baremetal:chassis',
  missing: 'ChassisNotFound',
  detail: true,
  store: (inventory) => inventory.chassis,
  shown: projections(chassisTable, {
    links: linksTo('chassis'),
    // On the wire this is a list that holds one list of links.
    nodes: (row, { base }) => [links(base, `chassis/${row.uuid}/nodes`)],
  }),
  before: [
    {
      on: ['delete'],
      check: async ({ inventory, row: { uuid } }) => {
        if (await inventory.chassis.hasNodes(uuid))
          raise('InvalidInput', { field: 'chassis', reason: `${uuid} has nodes; take them out of it first` });
      },
    },
  ],
};

export const chassisRoutes: Route[] = [...shownRoutes(chassis), ...editRoutes(chassis)];
