/** Read routes of a resource: its lists, its lists below other resources, and a single row. */
import type { z } from 'zod';
import { raise } from '../../model/errors';
import { isMac } from '../../model/ids';
import { always, and, or, type Predicate } from '../../model/predicates';
import { nodeTarget } from '../../policy';
import type { ApiContext } from '../context';
import { type Answer, type ApiRequest, ok, type Route, route } from '../server/route';
import {
  type AnyRow,
  type Below,
  identIn,
  type ListRequest,
  onePath,
  type PathParams,
  paramsOf,
  ruleOf,
  type Shows,
} from './kit';
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
import { type FoundRow, findVisible, scopeOf, visibleHome } from './reach';
import type { Shown } from './representation';
import type { StoredValues } from './values';

/** The row with the owner and lessee of its node, which decide about redaction. */
export const asShown = ({ row, node }: FoundRow): StoredValues =>
  node ? { ...row, owner: node.owner, lessee: node.lessee } : (row as unknown as StoredValues);

export const shownTo = (
  { redacting }: Pick<Shows, 'redacting'>,
  ctx: ApiContext,
  { who, base }: Pick<ListRequest, 'who' | 'base'>,
): Shown => {
  if (!redacting) return { base };
  const policy = ctx.policy();
  return { base, hides: (rule, row) => !policy.allows(rule, who, nodeTarget(row as Parameters<typeof nodeTarget>[0])) };
};

const columnIn = (column: string, values: unknown): Predicate =>
  Array.isArray(values) ? or(...values.map((value) => ({ is: 'equals', column, value }) as const)) : always;

/** Filters that name a place. They exclude each other. */
const places = ['node', 'address', 'shard', 'conductor_groups'] as const;

const checkPlaces = (filters: ListAsked['filters'], nested: boolean): void => {
  const named = places.filter((name) => filters[name] !== undefined);
  if (named.length + (nested ? 1 : 0) > 1)
    raise('InvalidInput', { field: named.join(', '), reason: 'only one of these may be named, and none below a node' });
};

/** The predicate on nodes from filters and path. Throws NodeNotFound for missing and for hidden nodes. */
const homeOf = async (
  { home }: Shows,
  ctx: ApiContext,
  { who }: ListRequest,
  filters: ListAsked['filters'],
  parent: Parent | undefined,
): Promise<Predicate> => {
  if (!home) return always;
  (home.checkFilters ?? checkPlaces)(filters, parent !== undefined);
  const within = and(columnIn('shard', filters.shard), columnIn('conductor_group', filters.conductor_groups));
  const ident = parent?.of === 'nodes' ? parent.ident : (filters.node ?? filters.node_uuid);
  if (ident === undefined) return within;
  const node = await visibleHome(ctx, who, String(ident));
  return and(
    within,
    node ? { is: 'equals', column: 'uuid', value: node.uuid } : raise('NodeNotFound', { node: ident }),
  );
};

/** PostgreSQL holds addresses in lower case. Throws InvalidInput for an invalid address. */
const lowered = (filters: ListAsked['filters']): ListAsked['filters'] => {
  if (filters.address === undefined) return filters;
  const address = String(filters.address).toLowerCase();
  if (!isMac(address)) raise('InvalidInput', { field: 'address', reason: 'must be a MAC address' });
  return { ...filters, address };
};

type Parent = { readonly of: Below['parent']; readonly ident: string };
type Listing = { readonly whole: boolean; readonly path: string; readonly parent?: Parent };

const answerList = async (
  kind: Shows,
  request: ListRequest,
  ctx: ApiContext,
  { whole, path, parent }: Listing,
): Promise<Answer> => {
  const { who, query, version } = request;
  const reach = scopeOf(kind);
  if (reach.ruleFirst) for (const rule of listRulesOf(kind)) ctx.policy().require(rule, who);
  const table = kind.tableAt?.(version) ?? kind.table;
  const since = kind.detailSince === 'never' ? undefined : kind.detailSince;
  const asked = askedList(table, query, version, ctx.settings.maxLimit, since);
  if (whole && asked.fields) raise('InvalidInput', { field: 'fields', reason: 'cannot be combined with detail' });
  const home = await homeOf(kind, ctx, request, asked.filters, parent);
  const wanted = (await kind.wanted?.(ctx, request, asked.filters, parent)) ?? always;
  const visible = reach.visible(ctx.policy(), who, asked.filters);
  const filter = and(filterPredicate(kind.table, lowered(asked.filters)), wanted);
  const projection = kind.shown.ofList(version, { fields: asked.fields, detail: whole || asked.detail });
  const page = pageAsked(asked, kind.badMarker);
  const store = kind.store(ctx.inventory);
  const selected = { visible, home, filter };
  return answerPage(kind.table, asked, { projection, shown: shownTo(kind, ctx, request), path }, (line, base) =>
    store.lines(line, base, selected, page),
  );
};

const listRulesOf = (kind: Shows): readonly string[] => [
  ...(kind.listRules ?? scopeOf(kind).listRules),
  ...(kind.redacting ?? []),
];

const listRoute = (kind: Shows, whole: boolean, below?: Below): Route => {
  const own = `${kind.path}${whole ? '/detail' : ''}`;
  const query = listQuery(kind.table);
  return route<PathParams, StoredValues>({
    method: 'GET',
    path: below ? `/v1/${below.parent}/:${below.param}/${own}` : `/v1/${own}`,
    since: below ? (below.since ?? 1) : kind.since,
    rules: listRulesOf(kind),
    ...(below && { params: paramsOf(below.param) }),
    query: kind.detailSince === 'never' ? query.omit({ detail: true }) : query,
    handler: (request, ctx) => {
      if (!below) return answerList(kind, request, ctx, { whole, path: own });
      const ident = identIn(below, request.params);
      const path = `${below.parent}/${ident}/${own}`;
      return answerList(kind, request, ctx, { whole, path, parent: { of: below.parent, ident } });
    },
  });
};

const showOne = async (
  kind: Shows,
  request: ApiRequest<PathParams, z.output<typeof showQuery>, unknown>,
  ctx: ApiContext,
): Promise<Answer> => {
  const { who, params, query, version } = request;
  const reach = scopeOf(kind);
  const rule = ruleOf(kind, 'get');
  if (reach.ruleFirst) ctx.policy().require(rule, who);
  const fields = chosenFields(kind.tableAt?.(version) ?? kind.table, query.fields, version);
  const found = await findVisible(kind, ctx, who, identIn(kind, params), { version });
  if (!reach.ruleFirst && !reach.seeing.includes(rule)) ctx.policy().require(rule, who, reach.target(found));
  return ok(kind.shown.ofOne(version, fields).represent(asShown(found), shownTo(kind, ctx, request)));
};

const showRoute = (kind: Shows): Route =>
  route<PathParams, z.output<typeof showQuery>>({
    method: 'GET',
    path: onePath(kind),
    since: kind.since,
    rules: [...new Set([...scopeOf(kind).seeing, ruleOf(kind, 'get'), ...(kind.redacting ?? [])])],
    params: paramsOf(kind.param),
    query: showQuery,
    handler: (request, ctx) => showOne(kind, request, ctx),
  });

export const shownRoutes = <Row extends AnyRow>(given: Shows<Row>): Route[] => {
  const kind = given as unknown as Shows;
  const forms = kind.detail ? [false, true] : [false];
  return [
    ...forms.map((whole) => listRoute(kind, whole)),
    ...(kind.below ?? []).flatMap((below) => forms.map((whole) => listRoute(kind, whole, below))),
    showRoute(kind),
  ];
};
