/** /v1/ports: network interfaces of nodes, visible with their node. */
import { always } from '../../../model/predicates';
import { nestedPortgroupsSince } from '../../../model/resources/portgroups';
import { type Port, portTable } from '../../../model/resources/ports';
import type { Resource } from '../../resource/kit';
import { editRoutes } from '../../resource/kit-edits';
import { shownRoutes } from '../../resource/kit-lists';
import { findVisible } from '../../resource/reach';
import { linksTo, projections } from '../../resource/representation';
import type { Route } from '../../server/route';
import { checkedPort, home, patch, portChecks } from './checks';
import { portgroup } from './portgroups';

/** The members of the portgroup in path or filter. Throws PortgroupNotFound alike for missing and hidden ones. */
const wanted: Resource<Port>['wanted'] = async (ctx, { who }, filters, parent) => {
  const ident = parent?.of === 'portgroups' ? parent.ident : filters.portgroup;
  if (ident === undefined) return always;
  const { row } = await findVisible(portgroup, ctx, who, String(ident));
  return { is: 'equals', column: 'portgroup_uuid', value: row.uuid };
};

const port: Resource<Port> = {
  table: portTable,
  what: 'port',
  path: 'ports',
  param: 'port_ident',
  since: 1,
  rules: 'baremetal:port',
  missing: 'PortNotFound',
  named: { since: 88, notTo: 'delete' },
  home,
  detail: true,
  below: [
    { parent: 'nodes', param: 'node_ident' },
    { parent: 'portgroups', param: 'ident', since: nestedPortgroupsSince },
  ],
  store: (inventory) => inventory.ports,
  shown: projections(portTable, { links: linksTo('ports') }),
  wanted,
  patch,
  checked: checkedPort,
  before: portChecks,
  recorded: ({ address }, { act, body }) => ({
    facts: { address },
    ...(act === 'create' && { values: body as Readonly<Record<string, unknown>> }),
  }),
};

export const portRoutes: Route[] = [...shownRoutes(port), ...editRoutes(port)];
