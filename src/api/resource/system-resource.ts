/** Routes of a resource that belongs to the installation and to no node: the rule is asked first, then whether it is there. */
import { z } from 'zod';
import type { Queries } from '../../inventory';
import type { ResourceQueries } from '../../inventory/resources';
import { type ErrorCode, raise } from '../../model/errors';
import { asUuid, isLogicalName } from '../../model/ids';
import type { ResourceTable } from '../../model/resources/fields';
import type { Rooms } from '../context';
import { type Answer, type Asking, ok, type Route, route } from '../http/route';
import { answerPage, askedList, chosenFields, filterPredicate, listQuery, pageAsked, showQuery } from './lists';
import type { projections } from './representation';
import type { Sealing, Values } from './values';

export type Row = { readonly uuid: string };

/** What decides about values beyond their table. */
export type Writing = {
  readonly rooms: Rooms;
  readonly asking: Pick<Asking<unknown, unknown, unknown>, 'who' | 'version'>;
};

export type SystemResource = {
  readonly table: ResourceTable;
  /** One word, as in audit rows: `deploy_template`. */
  readonly what: string;
  /** Below the version: `deploy_templates`. */
  readonly path: string;
  readonly since: number;
  /** What a write of an older version is answered. */
  readonly tooOld?: 404 | 405;
  /** Values in a body at most, where that is not the API's own limit. */
  readonly bodyValues?: number;
  /** Prefix of its rules. */
  readonly rules: string;
  /** Rules that a list asks; the one that shows a row when absent. */
  readonly listRules?: readonly string[];
  readonly missing: ErrorCode;
  /** Whether a name may stand for the UUID. */
  readonly named?: true;
  /** Whether `/detail` exists. */
  readonly detail?: true;
  readonly store: (inventory: Queries) => ResourceQueries<Row>;
  readonly shown: ReturnType<typeof projections>;
  readonly sealing?: Sealing;
  /** The values to store, made of those that came, parsed. `stored` on a patch. Throws what is wrong with them. */
  readonly checked?: (values: Values, writing: Writing, stored?: Values) => Values;
  /** What the record holds of values. */
  readonly told?: (values: Values, row: Values) => Values;
  /** Throws where a row cannot go. */
  readonly deletable?: (inventory: Queries, row: Row) => Promise<void>;
};

export const ruleOf = ({ rules }: SystemResource, act: 'get' | 'create' | 'update' | 'delete'): string =>
  `${rules}:${act}`;

export const params = z.object({ ident: z.string() });
export type Params = z.output<typeof params>;
export const collectionPath = ({ path }: SystemResource): string => `/v1/${path}`;
export const onePath = ({ path }: SystemResource): string => `/v1/${path}/:ident`;

/** Refuses what cannot name one. Throws InvalidInput. */
const checkIdent = ({ named, table }: SystemResource, ident: string): void => {
  if (asUuid(ident) !== undefined || (named && isLogicalName(ident))) return;
  raise('InvalidInput', { field: table.resource, reason: named ? 'must be a UUID or a name' : 'must be a UUID' });
};

/** The row of this ident. Throws InvalidInput, and the resource's own error where there is none. */
export const findRow = async (
  resource: SystemResource,
  inventory: Queries,
  ident: string,
  options?: { lock?: boolean },
): Promise<Row> => {
  checkIdent(resource, ident);
  const row = await resource.store(inventory).find(ident, options);
  return row ?? raise(resource.missing, { [resource.what]: ident });
};

type Query = Readonly<Record<string, unknown>>;

const rulesOfList = (resource: SystemResource): readonly string[] => resource.listRules ?? [ruleOf(resource, 'get')];

const answerList = async (
  resource: SystemResource,
  { who, query, version, base }: Asking<unknown, Query, unknown>,
  rooms: Rooms,
  whole: boolean,
): Promise<Answer> => {
  for (const rule of rulesOfList(resource)) rooms.policy().require(rule, who);
  const { table, shown } = resource;
  const asked = askedList(table, query, version, rooms.settings.maxLimit);
  if (whole && asked.fields) raise('InvalidInput', { field: 'fields', reason: 'cannot be combined with detail' });
  const projection = asked.fields
    ? shown.chosen(asked.fields, version)
    : shown[whole || asked.detail ? 'full' : 'list'](version);
  const path = `${resource.path}${whole ? '/detail' : ''}`;
  const page = pageAsked(asked, resource.named ? 'MarkerNotFound' : 'InvalidInput');
  return answerPage(table, asked, { projection, shown: { base }, path }, (columns, take) =>
    resource.store(rooms.inventory).list(columns, filterPredicate(table, asked.filters), page, take),
  );
};

const listRoute = (resource: SystemResource, whole: boolean): Route =>
  route<unknown, Query>({
    method: 'GET',
    path: `${collectionPath(resource)}${whole ? '/detail' : ''}`,
    since: resource.since,
    rules: rulesOfList(resource),
    query: listQuery(resource.table),
    handler: (asking, rooms) => answerList(resource, asking, rooms, whole),
  });

const showRoute = (resource: SystemResource): Route =>
  route<Params, z.output<typeof showQuery>>({
    method: 'GET',
    path: onePath(resource),
    since: resource.since,
    rules: [ruleOf(resource, 'get')],
    params,
    query: showQuery,
    handler: async ({ who, params: { ident }, query, version, base }, rooms) => {
      rooms.policy().require(ruleOf(resource, 'get'), who);
      const fields = chosenFields(resource.table, query.fields, version);
      const row = await findRow(resource, rooms.inventory, ident);
      const { represent } = fields ? resource.shown.chosen(fields, version) : resource.shown.full(version);
      return ok(represent(row, { base }));
    },
  });

/** The routes that show it: its lists, and one. */
export const shownRoutes = (resource: SystemResource): Route[] => [
  listRoute(resource, false),
  ...(resource.detail ? [listRoute(resource, true)] : []),
  showRoute(resource),
];
