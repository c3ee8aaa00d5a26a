/** Requests that are wrong in one way each, made from what a route says it takes. */
import { randomUUID } from 'node:crypto';
import type { Route } from '../../src/api';
import { maxDepth, maxValues } from '../../src/api/body/body';
import { requestSchema } from '../../src/api/openapi/schemas';
import type { Request } from './api';

// biome-ignore lint/suspicious/noExplicitAny: schemas of every shape
type Schema = any;

/** One wrong request: what is wrong with it, and what to send. */
export type Wrong = { readonly wrong: string; readonly path: string; readonly method?: string } & Request;

const typesOf = (schema: Schema): string[] =>
  schema.anyOf ? schema.anyOf.flatMap(typesOf) : schema.type ? [schema.type].flat() : [];

const branches = (schema: Schema): Schema[] => (schema.anyOf ? schema.anyOf.flatMap(branches) : [schema]);

const texts: Readonly<Record<string, () => string>> = {
  uuid: () => randomUUID(),
  'date-time': () => '2099-01-01T00:00:00Z',
  uri: () => 'https://hooks.example.org/x',
};

const textOf = ({ format, pattern, minLength = 0 }: Schema): string => {
  if (texts[format]) return texts[format]();
  const fitting = ['/extra', '1', 'CUSTOM_X', 'x', 'run.failed'].find(
    (text) => !pattern || new RegExp(pattern).test(text),
  );
  return (fitting ?? 'x').padEnd(minLength, 'x');
};

/** Something that the schema takes: no more than it asks for. */
const sampleOf = (schema: Schema): unknown => {
  const one = branches(schema).find(({ type }) => type !== 'null') ?? schema;
  if (one.const !== undefined) return one.const;
  if (one.enum) return one.enum[0];
  switch ([one.type].flat()[0]) {
    case 'object':
      return Object.fromEntries((one.required ?? []).map((name: string) => [name, sampleOf(one.properties[name])]));
    case 'array':
      return one.minItems ? [sampleOf(one.items)] : [];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return one.minimum > 0 ? one.minimum : 1;
    case 'string':
      return textOf(one);
    default:
      return {};
  }
};

type Change = { readonly wrong: string; readonly value: unknown };

const strangers: readonly { type: string; value: unknown }[] = [
  { type: 'object', value: { no: 'such' } },
  { type: 'array', value: [{ no: 'such' }] },
  { type: 'string', value: 'no such value' },
  { type: 'integer', value: 1.5 },
  { type: 'null', value: null },
];

const canBe = (types: readonly string[], type: string): boolean =>
  types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'));

const strange = (schema: Schema): Change[] => {
  const types = typesOf(schema);
  return strangers
    .filter(({ type }) => !canBe(types, type))
    .map(({ type, value }) => ({ wrong: `of type ${type === 'integer' ? 'number' : type}`, value }));
};

const ofBounds = (schema: Schema): Change[] => [
  ...(schema.maxLength ? [{ wrong: 'too long', value: 'x'.repeat(schema.maxLength + 1) }] : []),
  ...(schema.minLength ? [{ wrong: 'too short', value: '' }] : []),
  ...(schema.maximum < Number.MAX_SAFE_INTEGER ? [{ wrong: 'too large', value: schema.maximum + 1 }] : []),
  ...(schema.minimum > Number.MIN_SAFE_INTEGER ? [{ wrong: 'too small', value: schema.minimum - 1 }] : []),
  ...(schema.minItems ? [{ wrong: 'empty', value: [] }] : []),
  ...(schema.maxItems
    ? [{ wrong: 'too many', value: Array.from({ length: schema.maxItems + 1 }, () => sampleOf(schema.items)) }]
    : []),
];

const ofForm = (schema: Schema): Change[] => [
  ...(schema.enum ? [{ wrong: 'not among the values', value: 'no-such-value' }] : []),
  ...(schema.pattern || schema.format ? [{ wrong: 'of another form', value: 'no such form' }] : []),
  ...(canBe(typesOf(schema), 'boolean') && typesOf(schema).length > 0
    ? [{ wrong: 'no boolean', value: 'perhaps' }]
    : []),
];

const textChanges: readonly Change[] = [
  { wrong: 'with a NUL', value: 'nul \0 within' },
  { wrong: 'half a surrogate pair', value: 'half \ud800' },
];

/** Single values: what only one branch refuses is no fault where another takes it. */
const ofValue = (schema: Schema): Change[] => {
  const single = branches(schema).filter(({ type }) => type !== 'null');
  const [one] = single;
  return [
    ...strange(schema),
    ...(single.length === 1 ? [...ofBounds(one), ...ofForm(one)] : []),
    ...(canBe(typesOf(schema), 'string') ? textChanges : []),
  ];
};

const maxNesting = 4;

const ofObject = (schema: Schema, sample: Record<string, unknown>, depth: number): Change[] => {
  const properties = Object.entries<Schema>(schema.properties ?? {});
  const without = (name: string) => Object.fromEntries(Object.entries(sample).filter(([key]) => key !== name));
  return [
    ...(schema.additionalProperties === false
      ? [{ wrong: 'with an unknown field', value: { ...sample, no_such_field: 1 } }]
      : []),
    ...(schema.required ?? []).map((name: string) => ({ wrong: `without ${name}`, value: without(name) })),
    ...properties.flatMap(([name, one]) =>
      changes(one, depth + 1).map(({ wrong, value }) => ({
        wrong: `${name} ${wrong}`,
        value: { ...sample, [name]: value },
      })),
    ),
  ];
};

/** Values that are each wrong in one way. */
const changes = (schema: Schema, depth = 0): Change[] => {
  if (depth > maxNesting) return [];
  const one = branches(schema).find(({ type }) => type === 'object' || type === 'array');
  const inner =
    one?.type === 'object'
      ? ofObject(one, sampleOf(one) as Record<string, unknown>, depth)
      : one?.items && typesOf(one.items).length > 0
        ? changes(one.items, depth + 1).map(({ wrong, value }) => ({ wrong: `item ${wrong}`, value: [value] }))
        : [];
  return [...ofValue(schema), ...inner];
};

const nested = (levels: number): unknown => (levels === 0 ? 1 : { no_such_field: nested(levels - 1) });

const ordinaryLimit = 1024 * 1024;
const json = { 'content-type': 'application/json' };

/** Bodies that are wrong whatever the schema. */
const anyBody = (limit: number): Omit<Wrong, 'path'>[] => [
  { wrong: 'body too deep', body: nested(maxDepth + 1) },
  { wrong: 'body too large', raw: JSON.stringify({ no_such_field: 'x'.repeat(limit) }), headers: json },
  { wrong: 'body of too many values', body: Array.from({ length: maxValues + 1 }, () => 0) },
  { wrong: 'half a body', raw: '{"no_such_field": ', headers: json },
  { wrong: 'no JSON', raw: 'target=clean', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  { wrong: 'a strange encoding', raw: '{}', headers: { ...json, 'content-encoding': 'no-such' } },
  { wrong: 'a body that is not encoded as it says', raw: 'x', headers: { ...json, 'content-encoding': 'gzip' } },
  { wrong: 'a strange charset', raw: '{}', headers: { 'content-type': 'application/json; charset=no-such' } },
];

/** Bodies of people: machines' are cleaned instead. */
const carefulBody = (sample: unknown): Omit<Wrong, 'path'>[] => [
  { wrong: 'invalid UTF-8', raw: Buffer.from([0x5b, 0x22, 0xff, 0xfe, 0x22, 0x5d]), headers: json },
  {
    wrong: 'invalid UTF-8 among what is right',
    raw: Buffer.concat([Buffer.from(JSON.stringify(sample).slice(0, -1)), Buffer.from([0xc3, 0x28, 0x7d])]),
    headers: json,
  },
  { wrong: 'a key twice', raw: twice(sample), headers: json },
];

const twice = (sample: unknown): string => {
  const text = JSON.stringify(sample);
  const again = '"no_such_field":1,"no_such_field":1';
  if (text.startsWith('[')) return `[{${again}}]`;
  const [name] = Object.keys(sample as object);
  const same =
    name === undefined ? again : `${JSON.stringify(name)}:${JSON.stringify((sample as Record<string, unknown>)[name])}`;
  return text === '{}' ? `{${again}}` : `{${same},${text.slice(1)}`;
};

const patchFaults = ['/no_such_attribute', '/uuid', '/created_at', 'extra', '/__proto__/x', '/extra/a/b/c', '/', ''];

const patches = (path: string): Wrong[] => [
  ...patchFaults.map((at) => ({
    wrong: `a patch of ${JSON.stringify(at)}`,
    path,
    body: [{ op: 'replace', path: at, value: 1 }],
  })),
  ...['test', 'move', 'copy'].map((op) => ({
    wrong: `operation ${op}`,
    path,
    body: [{ op, path: '/extra', from: '/uuid' }],
  })),
];

const bodies = (route: Route, path: string): Wrong[] => {
  if (route.method === 'GET') return [];
  if (!route.body)
    return route.method === 'DELETE' ? [] : [{ wrong: 'a body where none is taken', path, body: { no_such_field: 1 } }];
  const schema = requestSchema(route.body as never);
  const sample = sampleOf(schema);
  const limit = route.bodyLimit ?? ordinaryLimit;
  return [
    ...changes(schema)
      // Null stands for no arguments at all.
      .filter(({ value }) => !(route.arguments && value === null))
      .map(({ wrong, value }) => ({ wrong: `body ${wrong}`, path, body: value })),
    ...anyBody(limit).map((one) => ({ ...one, path })),
    ...(route.cleansTexts ? [] : carefulBody(sample).map((one) => ({ ...one, path }))),
    ...(schema.type === 'array' && route.method === 'PATCH' ? patches(path) : []),
  ];
};

const strangeParameters: Readonly<Record<string, readonly string[]>> = {
  limit: ['0', '-1', 'ten', '1.5', '9999999999'],
  marker: ['no such marker', '00000000-0000-4000-8000-00000000dead'],
  fields: ['no_such_field', ',', ''],
  sort_key: ['no_such_key', 'extra', 'links'],
};

const valuesFor = (name: string, schema: Schema): string[] => [
  ...(strangeParameters[name] ?? []),
  ...branches(schema)
    .flatMap(ofForm)
    .map(({ value }) => String(value)),
  ...(schema.maxLength ? ['x'.repeat(schema.maxLength + 1)] : []),
  'nul\0',
];

const queries = (route: Route, path: string): Wrong[] => {
  const at = (wrong: string, query: string): Wrong => ({ wrong, path: `${path}?${query}` });
  const properties = route.query ? Object.entries<Schema>(requestSchema(route.query as never).properties ?? {}) : [];
  const unknown = route.arguments && requestSchema(route.body as never).additionalProperties !== false;
  return [
    ...(unknown ? [] : [at('an unknown parameter', 'no_such_parameter=1')]),
    ...properties.flatMap(([name, schema]) => [
      ...valuesFor(name, schema).map((value) =>
        at(`${name}=${value.slice(0, 20)}`, `${name}=${encodeURIComponent(value)}`),
      ),
      at(`${name} twice`, `${name}=1&${name}=2`),
    ]),
  ];
};

const idents = [
  'no%20such%20thing',
  '%00',
  '%E0%A4%A',
  'x'.repeat(300),
  '00000000-0000-4000-8000-00000000dead',
  '..%2f..',
  '%F0%9F%92%A9',
];

/** Paths with each parameter replaced; `filled` has real ones. */
const paths = (route: Route, filled: string): Wrong[] => {
  const [named, real] = [route.path.split('/'), filled.split('/')];
  return named.flatMap((segment, at) =>
    segment.startsWith(':')
      ? idents.map((ident) => ({
          wrong: `${segment} is ${ident.slice(0, 30)}`,
          path: real.map((one, index) => (index === at ? ident : one)).join('/'),
          ...(route.body && route.method !== 'GET' && { body: sampleOf(requestSchema(route.body as never)) }),
        }))
      : [],
  );
};

const versions = ['1.999', '0.1', '2.1', 'abc', '1', '1.', '-1.1', '1.1.1'];

const versionFaults = (path: string): Wrong[] => [
  ...versions.map((version) => ({
    wrong: `version ${version}`,
    path,
    minor: null,
    headers: { 'x-openstack-ironic-api-version': version },
  })),
  { wrong: 'a service version', path, minor: null, headers: { 'openstack-api-version': 'baremetal 1.999' } },
];

/** Everything that is wrong with a request to this route, one fault at a time. `path` names things that are there. */
export const wrongRequests = (route: Route, path: string): Wrong[] => [
  ...bodies(route, path),
  ...queries(route, path),
  ...paths(route, path),
  ...versionFaults(path),
];
