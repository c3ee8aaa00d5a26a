/** /v1/portgroups: ports of a node that work as one; what changes of one reaches its members. */
import { raise } from '../../../model/errors';
import { checkMovable, checkNotInspected } from '../../../model/resources/node-resources';
import {
  checkMember,
  nestedPortgroupsSince,
  type Portgroup,
  portgroupsSince,
  portgroupTable,
} from '../../../model/resources/portgroups';
import type { Route } from '../../http/route';
import type { NodeResource, Writing } from '../../resource/node-resource';
import { editRoutes } from '../../resource/node-resource-edits';
import { shownRoutes } from '../../resource/node-resource-lists';
import { links, projections } from '../../resource/representation';
import type { Values } from '../../resource/values';

const refuseMembers = async (inventory: Writing['inventory'], { uuid }: Portgroup, act: string): Promise<number> => {
  const members = await inventory.portgroups.members(uuid);
  if (members.length > 0)
    raise('InvalidInput', {
      field: 'portgroup',
      reason: `${uuid} has ${members.length} ports and cannot be ${act}; take them out of it first`,
    });
  return members.length;
};

const changing: NodeResource<Portgroup>['changing'] = async (row, values: Values, { inventory, node, to, version }) => {
  checkNotInspected(node, 'portgroups', version);
  if (to.uuid !== node.uuid) {
    await refuseMembers(inventory, row, 'moved');
    for (const home of [node, to]) checkMovable(home, 'portgroup');
  }
  if (values.standalone_ports_supported === false)
    for (const member of await inventory.portgroups.members(row.uuid))
      checkMember({ ...row, standalone_ports_supported: false }, member, []);
  if (values.physical_network !== undefined)
    await inventory.portgroups.setNetwork(row.uuid, values.physical_network as string | null);
};

/** Portgroups, as the routes of ports look for them too. */
export const portgroup: NodeResource<Portgroup> = {
  table: portgroupTable,
  what: 'portgroup',
  path: 'portgroups',
  since: portgroupsSince,
  nestedSince: nestedPortgroupsSince,
  rules: 'baremetal:portgroup',
  redacting: [],
  missing: 'PortgroupNotFound',
  named: true,
  detail: true,
  store: (inventory) => inventory.portgroups,
  shown: projections(portgroupTable, {
    links: (row, { base }) => links(base, `portgroups/${row.uuid}`),
    ports: (row, { base }) => links(base, `portgroups/${row.uuid}/ports`),
  }),
  changing,
  deleting: async (row, { inventory, node }) => {
    await refuseMembers(inventory, row, 'deleted');
    if (!node.maintenance && (await inventory.vifs.uses(row.uuid)))
      raise('Conflict', { reason: `Portgroup ${row.uuid} is attached to a network; detach it first.` });
  },
};

export const portgroupRoutes: Route[] = [...shownRoutes(portgroup), ...editRoutes(portgroup)];
