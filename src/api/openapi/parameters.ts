/** Parameters of operations: path, query and version header. */
import type { Document } from '../../model/document';
import { choosable, isSortable, type ResourceTable, sinceOf } from '../../model/resources/fields';
import { maxVersion } from '../../model/resources/microversions';
import { honoursKey } from '../idempotency/idempotency';
import { isShow } from '../server/etag';
import type { Route } from '../server/route';
import type { ResourceSeen } from './resources';
import { refTo, requestSchema, versionText } from './schemas';

type Properties = Readonly<Record<string, Document>>;

const versionParameter: Document = {
  name: 'X-OpenStack-Ironic-API-Version',
  in: 'header',
  description:
    'Minor version of the request; 1.1 if it is missing. This document describes the newest. Where both are sent, ' +
    'OpenStack-API-Version: baremetal 1.N is accepted too.',
  schema: { type: 'string', pattern: '^(latest|1\\.[0-9]{1,3})$' },
  example: maxVersion,
};

/** Headers of some routes. */
const headerParameters = [
  {
    when: honoursKey,
    name: 'Idempotency-Key',
    description:
      'Of several requests with the same key one does the work, and all get its answer; its Location alone, where what ' +
      'it made is gone again.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  },
  {
    when: isShow,
    name: 'If-None-Match',
    description: 'The ETag of an answer that is known: 304 if it is still the same.',
    schema: { type: 'string' },
  },
] as const;

/** By the name of their component. */
export const headerComponents = (): Document => ({
  version: versionParameter,
  ...Object.fromEntries(headerParameters.map(({ when: _, ...row }) => [row.name, { ...row, in: 'header' }])),
});

const namesIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

const pathParameters = (route: Route): Document[] => {
  const known = (route.params ? requestSchema(route.params).properties : {}) as Properties;
  return namesIn(route.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { minLength: 1, ...(known[name] ?? { type: 'string' }) },
  }));
};

const namesParameter = (names: readonly string[]): Document => ({
  schema: { type: 'array', items: { enum: names }, minItems: 1 },
  style: 'form',
  explode: false,
});

const sortKeys = (table: ResourceTable): string[] => ['id', ...table.fields.filter(isSortable).map(({ name }) => name)];

/** The table has the possible values of these parameters, the schema has not. */
const fromTable: Readonly<Record<string, (table: ResourceTable) => Document>> = {
  fields: (table) => namesParameter(choosable(table)),
  sort_key: (table) => ({ schema: { type: 'string', enum: sortKeys(table) } }),
};

/** Clients should send true or false for a text that means a boolean. */
const readable = (schema: Document): Document =>
  Array.isArray(schema.type) && schema.type.includes('boolean') ? { ...schema, type: 'boolean' } : schema;

const filterNotes = (table: ResourceTable | undefined, name: string): Document => {
  const row = table?.filters.find((one) => one.name === name);
  return row && sinceOf(row) > 1 ? { 'x-since': versionText(sinceOf(row)) } : {};
};

const queryParameters = (route: Route, table: ResourceTable | undefined): Document[] => {
  if (!route.query) return [];
  const { properties = {}, required = [] } = requestSchema(route.query!) as {
    properties?: Properties;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    ...((table && fromTable[name]?.(table)) ?? { schema: readable(schema) }),
    ...filterNotes(table, name),
  }));
};

export const parametersOf = (route: Route, seen: ResourceSeen | undefined): Document[] => [
  ...pathParameters(route),
  ...queryParameters(route, seen?.table),
  ...headerParameters.filter(({ when }) => when(route)).map(({ name }) => refTo('parameters', name)),
  refTo('parameters', 'version'),
];
