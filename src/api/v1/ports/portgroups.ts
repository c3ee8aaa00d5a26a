/** /v1/portgroups: bonded ports of a node. Some changes propagate to the members. */
import type { Queries } from '../../../inventory';
import { raise } from '../../../model/errors';
import { checkMovable, checkNotInspected } from '../../../model/resources/node-resources';
import {
  checkMember,
  nestedPortgroupsSince,
  type Portgroup,
  portgroupsSince,
  portgroupTable,
} from '../../../model/resources/portgroups';
import type { Resource } from '../../resource/kit';
import { editRoutes } from '../../resource/kit-edits';
import { shownRoutes } from '../../resource/kit-lists';
import { links, linksTo, projections } from '../../resource/representation';
import type { Route } from '../../server/route';
import { checkUnattached } from './membership';

const refuseMembers = async (inventory: Queries, { uuid }: Portgroup, act: string): Promise<void> => {
  const members = await inventory.portgroups.members(uuid);
  if (members.length > 0)
    raise('InvalidInput', {
      field: 'portgroup',
      reason: `${uuid} has ${members.length} ports and cannot be ${act}; take them out of it first`,
    });
};

const portgroupChecks: Resource<Portgroup>['before'] = [
  { on: ['update'], check: ({ node, request }) => checkNotInspected(node, 'portgroups', request.version) },
  {
    on: ['update'],
    check: async ({ inventory, row, node, to }) => {
      if (to.uuid === node.uuid) return;
      await refuseMembers(inventory, row, 'moved');
      await checkUnattached(inventory, 'Portgroup', row.uuid);
      for (const home of [node, to]) checkMovable(home, 'portgroup');
    },
  },
  {
    on: ['update'],
    check: async ({ inventory, row, values }) => {
      if (values.standalone_ports_supported !== false) return;
      for (const member of await inventory.portgroups.members(row.uuid))
        checkMember({ ...row, standalone_ports_supported: false }, member, []);
    },
  },
  { on: ['delete'], check: ({ inventory, row }) => refuseMembers(inventory, row, 'deleted') },
  {
    on: ['delete'],
    check: async ({ inventory, row, node }) => {
      if (!node.maintenance) await checkUnattached(inventory, 'Portgroup', row.uuid);
    },
  },
];

const after: Resource<Portgroup>['after'] = [
  {
    on: ['update'],
    follow: async ({ inventory, row, values }) => {
      if (values.physical_network !== undefined)
        await inventory.portgroups.setNetwork(row.uuid, values.physical_network as string | null);
      return [];
    },
  },
];

/** Portgroups, also for lookups by the port routes. */
export const portgroup: Resource<Portgroup> = {
  table: portgroupTable,
  what: 'portgroup',
  path: 'portgroups',
  since: portgroupsSince,
  below: [{ parent: 'nodes', param: 'ident', since: nestedPortgroupsSince }],
  rules: 'baremetal:portgroup',
  missing: 'PortgroupNotFound',
  named: {},
  home: {},
  detail: true,
  store: (inventory) => inventory.portgroups,
  shown: projections(portgroupTable, {
    links: linksTo('portgroups'),
    ports: (row, { base }) => links(base, `portgroups/${row.uuid}/ports`),
  }),
  before: portgroupChecks,
  after,
};

export const portgroupRoutes: Route[] = [...shownRoutes(portgroup), ...editRoutes(portgroup)];
