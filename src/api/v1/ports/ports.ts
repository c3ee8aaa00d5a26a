/** /v1/ports: the network interfaces of nodes; who may see the node may see its ports. */
import { z } from 'zod';
import { raise } from '../../../model/errors';
import { and, type Predicate } from '../../../model/predicates';
import { nestedPortgroupsSince } from '../../../model/resources/portgroups';
import { isMac, portTable } from '../../../model/resources/ports';
import { nodeTarget } from '../../../policy';
import type { Rooms } from '../../context';
import { type Answer, type Asking, ok, route } from '../../http/route';
import {
  answerPage,
  askedList,
  chosenFields,
  type ListAsked,
  listQuery,
  pageAsked,
  showQuery,
} from '../../resource/lists';
import { portEditRoutes } from './edits';
import { checkHomeFilters, findVisiblePort, homeOf, membersOf, visiblePorts } from './nodes';
import { portCollection, portParams, portPath, shownPort } from './representation';

type Query = Record<string, unknown>;
type Params = z.output<typeof portParams>;
const listRules = ['baremetal:port:list_all', 'baremetal:port:list', 'baremetal:port:get', 'baremetal:node:get'];

type Listing = {
  readonly path: string;
  /** The node, or the portgroup, that the path names. */
  readonly home?: string;
  readonly group?: string;
  readonly detail?: true;
};

const answerList = async (
  { who, query, version, base }: Asking<unknown, Query, unknown>,
  rooms: Rooms,
  { path, home, group, detail }: Listing,
): Promise<Answer> => {
  const asked = askedList(portTable, query, version, rooms.settings.maxLimit);
  const whole = detail ?? asked.detail;
  if (detail && asked.fields) raise('InvalidInput', { field: 'fields', reason: 'cannot be combined with detail' });
  checkHomeFilters(asked.filters, (home ?? group) !== undefined);
  const wanted = await homeOf(rooms, who, asked.filters, home);
  const named = asked.filters.portgroup as string | undefined;
  const members = await membersOf(rooms, who, group ?? named);
  const visible = visiblePorts(rooms.policy(), who);
  const projection = asked.fields
    ? shownPort.chosen(asked.fields, version)
    : shownPort[whole ? 'full' : 'list'](version);
  const selection = {
    visible,
    home: wanted,
    filter: and(ownFilter(asked.filters), members),
    description_contains: containsOf(asked.filters),
  };
  return answerPage(portTable, asked, { projection, shown: { base }, path }, (columns, take) =>
    rooms.inventory.ports.list(columns, selection, pageAsked(asked), take),
  );
};

const ownFilter = ({ address }: ListAsked['filters']): Predicate => {
  if (address === undefined) return and();
  if (!isMac(String(address))) raise('InvalidInput', { field: 'address', reason: 'must be a MAC address' });
  return { is: 'equals', column: 'address', value: String(address).toLowerCase() };
};

const containsOf = ({ description_contains }: ListAsked['filters']): string | undefined =>
  description_contains === undefined ? undefined : String(description_contains);

const query = listQuery(portTable);

const listPorts = route<unknown, Query>({
  method: 'GET',
  path: portCollection,
  rules: listRules,
  query,
  handler: (asking, rooms) => answerList(asking, rooms, { path: 'ports' }),
});

const listPortDetails = route<unknown, Query>({
  method: 'GET',
  path: `${portCollection}/detail`,
  rules: listRules,
  query,
  handler: (asking, rooms) => answerList(asking, rooms, { path: 'ports/detail', detail: true }),
});

/** Below a node or a portgroup, with every field where `/detail` ends the path. */
const listNodePorts = ([undefined, true] as const).map((detail) =>
  route<{ node_ident: string }, Query>({
    method: 'GET',
    path: `/v1/nodes/:node_ident/ports${detail ? '/detail' : ''}`,
    rules: listRules,
    params: z.object({ node_ident: z.string() }),
    query,
    handler: (asking, rooms) => {
      const { node_ident } = asking.params;
      const path = `nodes/${node_ident}/ports${detail ? '/detail' : ''}`;
      return answerList(asking, rooms, { path, home: node_ident, detail });
    },
  }),
);

const listGroupPorts = ([undefined, true] as const).map((detail) =>
  route<{ ident: string }, Query>({
    method: 'GET',
    path: `/v1/portgroups/:ident/ports${detail ? '/detail' : ''}`,
    since: nestedPortgroupsSince,
    rules: listRules,
    params: z.object({ ident: z.string() }),
    query,
    handler: (asking, rooms) => {
      const { ident } = asking.params;
      const path = `portgroups/${ident}/ports${detail ? '/detail' : ''}`;
      return answerList(asking, rooms, { path, group: ident, detail });
    },
  }),
);

const showPort = route<Params, z.output<typeof showQuery>>({
  method: 'GET',
  path: portPath,
  rules: ['baremetal:node:get', 'baremetal:port:get'],
  params: portParams,
  query: showQuery,
  handler: async ({ who, params, query, version, base }, rooms) => {
    const fields = chosenFields(portTable, query.fields, version);
    const { port, node } = await findVisiblePort(rooms, who, params.port_ident, version);
    rooms.policy().require('baremetal:port:get', who, nodeTarget(node));
    const { represent } = fields ? shownPort.chosen(fields, version) : shownPort.full(version);
    return ok(represent(port, { base }));
  },
});

export const portRoutes = [
  listPorts,
  listPortDetails,
  ...listNodePorts,
  ...listGroupPorts,
  showPort,
  ...portEditRoutes,
];
