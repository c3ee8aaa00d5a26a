/** Lists of a resource that belongs to a node, of all that a caller may see and below one node; and one of it. */
import type { z } from 'zod';
import { raise } from '../../model/errors';
import { always, and, or, type Predicate } from '../../model/predicates';
import type { NodeResourceRow } from '../../model/resources/node-resources';
import { isMac } from '../../model/resources/ports';
import { nodeTarget } from '../../policy';
import type { Rooms } from '../context';
import { type Answer, type Asking, ok, type Route, route } from '../http/route';
import {
  answerPage,
  askedList,
  chosenFields,
  filterPredicate,
  type ListAsked,
  listQuery,
  pageAsked,
  showQuery,
} from './lists';
import {
  besideNode,
  findVisible,
  type NodeResource,
  type Params,
  params,
  ruleOf,
  seesNode,
  shownTo,
  visibleHome,
  visibleHomes,
} from './node-resource';

type Query = Readonly<Record<string, unknown>>;
type Ask = Asking<unknown, Query, unknown>;

type Listing = { readonly path: string; readonly home?: string; readonly whole?: boolean };

const anyOf = (column: string, values: unknown): Predicate =>
  Array.isArray(values) ? or(...values.map((value) => ({ is: 'equals', column, value }) as const)) : always;

/** Filters that name where to look; only one of them is taken. */
const places = ['node', 'address', 'shard', 'conductor_groups'] as const;

const checkPlaces = (filters: ListAsked['filters'], nested: boolean): void => {
  const named = places.filter((name) => filters[name] !== undefined);
  if (named.length + (nested ? 1 : 0) > 1)
    raise('InvalidInput', { field: named.join(', '), reason: 'only one of these may be named, and none below a node' });
};

/** Of the columns of nodes: whose the filters ask for. Throws NodeNotFound alike for missing and hidden ones. */
const homeOf = async (
  rooms: Rooms,
  { who }: Ask,
  filters: ListAsked['filters'],
  home: string | undefined,
): Promise<Predicate> => {
  checkPlaces(filters, home !== undefined);
  const within = and(anyOf('shard', filters.shard), anyOf('conductor_group', filters.conductor_groups));
  const ident = home ?? filters.node;
  if (ident === undefined) return within;
  const node = await visibleHome(rooms, who, String(ident));
  return node ? { is: 'equals', column: 'uuid', value: node.uuid } : raise('NodeNotFound', { node: ident });
};

/** Addresses are stored in lower case. Throws InvalidInput for what is none. */
const lowered = (filters: ListAsked['filters']): ListAsked['filters'] => {
  if (filters.address === undefined) return filters;
  const address = String(filters.address).toLowerCase();
  if (!isMac(address)) raise('InvalidInput', { field: 'address', reason: 'must be a MAC address' });
  return { ...filters, address };
};

const answerList = async <Row extends NodeResourceRow>(
  resource: NodeResource<Row>,
  asking: Ask,
  rooms: Rooms,
  { path, home, whole }: Listing,
): Promise<Answer> => {
  const { table, shown } = resource;
  const { who, query, version } = asking;
  const asked = askedList(table, query, version, rooms.settings.maxLimit, resource.detailSince);
  if (whole && asked.fields) raise('InvalidInput', { field: 'fields', reason: 'cannot be combined with detail' });
  const wanted = await homeOf(rooms, asking, asked.filters, home);
  const visible = visibleHomes(resource, rooms.policy(), who);
  const projection = asked.fields
    ? shown.chosen(asked.fields, version)
    : shown[whole || asked.detail ? 'full' : 'list'](version);
  const selection = { visible, home: wanted, filter: filterPredicate(table, lowered(asked.filters)) };
  return answerPage(table, asked, { projection, shown: shownTo(rooms, asking), path }, (columns, take) =>
    resource.store(rooms.inventory).list(columns, selection, pageAsked(asked), take),
  );
};

const rulesOfList = <Row extends NodeResourceRow>(resource: NodeResource<Row>): string[] => [
  ...['list_all', 'list', 'get'].map((act) => ruleOf(resource, act)),
  seesNode,
  ...resource.redacting,
];

const listRoute = <Row extends NodeResourceRow>(resource: NodeResource<Row>, whole: boolean): Route => {
  const path = `${resource.path}${whole ? '/detail' : ''}`;
  return route<unknown, Query>({
    method: 'GET',
    path: `/v1/${path}`,
    since: resource.since,
    rules: rulesOfList(resource),
    query: listQuery(resource.table),
    handler: (asking, rooms) => answerList(resource, asking, rooms, { path, whole }),
  });
};

const nestedRoute = <Row extends NodeResourceRow>(resource: NodeResource<Row>, whole: boolean): Route => {
  const below = `${resource.path}${whole ? '/detail' : ''}`;
  return route<Params, Query>({
    method: 'GET',
    path: `/v1/nodes/:ident/${below}`,
    since: resource.nestedSince,
    rules: rulesOfList(resource),
    params,
    query: listQuery(resource.table),
    handler: (asking, rooms) => {
      const home = asking.params.ident;
      return answerList(resource, asking, rooms, { path: `nodes/${home}/${below}`, home, whole });
    },
  });
};

const showRoute = <Row extends NodeResourceRow>(resource: NodeResource<Row>): Route =>
  route<Params, z.output<typeof showQuery>>({
    method: 'GET',
    path: `/v1/${resource.path}/:ident`,
    since: resource.since,
    rules: [seesNode, ruleOf(resource, 'get'), ...resource.redacting],
    params,
    query: showQuery,
    handler: async (asking, rooms) => {
      const { who, version } = asking;
      const fields = chosenFields(resource.table, asking.query.fields, version);
      const { row, node } = await findVisible(resource, rooms, who, asking.params.ident);
      rooms.policy().require(ruleOf(resource, 'get'), who, nodeTarget(node));
      const { represent } = fields ? resource.shown.chosen(fields, version) : resource.shown.full(version);
      return ok(represent(besideNode(row, node), shownTo(rooms, asking)));
    },
  });

/** The routes that show it. */
export const shownRoutes = <Row extends NodeResourceRow>(resource: NodeResource<Row>): Route[] => [
  listRoute(resource, false),
  ...(resource.detail ? [listRoute(resource, true)] : []),
  nestedRoute(resource, false),
  ...(resource.detail ? [nestedRoute(resource, true)] : []),
  showRoute(resource),
];
