/** OpenAPI 3.1 document of the API, built from its routes, schemas, resources and errors. */
import type { Document } from '../../model/document';
import { maxVersion, minVersion } from '../../model/resources/microversions';
import { bodyLimit } from '../body/body';
import type { Route } from '../server/route';
import { goodAnswers } from './answers';
import { headerComponents, parametersOf } from './parameters';
import { faultSchemas, refusalComponents, refusalsOf } from './refusals';
import { componentName, type ResourceSeen, resourceTables, seenAt } from './resources';
import { noted, patchSchema, requestSchema, resourceSchema, versionText } from './schemas';
import { operationId, summaryOf, tagsOf } from './words';

const bodySchema = (route: Route, seen: ResourceSeen | undefined): Document => {
  const schema = requestSchema(route.body!);
  if (!seen) return schema;
  return route.method === 'PATCH' ? patchSchema(schema, seen.table) : noted(schema, seen.table);
};

const takesNothing = (schema: Document): boolean => {
  const { required } = schema as { required?: readonly string[] };
  return schema.type === 'object' && !required?.length;
};

const requestBodyOf = (route: Route, seen: ResourceSeen | undefined): Document => {
  // Like Ironic, GET accepts a body; the document describes the query only.
  if (!route.body || route.method === 'GET') return {};
  const schema = bodySchema(route, seen);
  return {
    requestBody: {
      required: !takesNothing(schema) && !route.arguments,
      ...(route.arguments && { description: 'Each of these may as well be a parameter of the query.' }),
      content: { 'application/json': { schema } },
    },
  };
};

const securityOf = ({ rules, open }: Route): Document => (rules === 'public' || open ? { security: [] } : {});

/** Extensions without an OpenAPI field. */
const notesOf = (route: Route): Document => ({
  'x-since': versionText(route.since ?? 1),
  ...((route.since ?? 1) > 1 && { 'x-older-versions-get': route.tooOld ?? 404 }),
  'x-rules': route.rules === 'public' ? [] : route.rules,
  ...(route.body && { 'x-body-limit': route.bodyLimit ?? bodyLimit }),
});

const operation = (route: Route): Document => {
  const seen = seenAt(route.path);
  return {
    operationId: operationId(route),
    summary: summaryOf(route),
    tags: tagsOf(route),
    ...securityOf(route),
    parameters: parametersOf(route, seen),
    ...requestBodyOf(route, seen),
    responses: { ...(goodAnswers(route) ?? { 200: { description: 'Done; here it is.' } }), ...refusalsOf(route) },
    ...notesOf(route),
  };
};

/** OpenAPI's form: `{name}` for `:name`. */
const templated = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/** Routes may name a path's parameters differently. OpenAPI counts these as one path. */
const shape = (path: string): string => path.replace(/:\w+/g, ':');

const pathsOf = (routes: readonly Route[]): Document => {
  const names = new Map<string, string>();
  const paths: Record<string, Record<string, Document>> = {};
  for (const one of routes) {
    const path = names.get(shape(one.path)) ?? one.path;
    names.set(shape(one.path), path);
    paths[templated(path)] = { ...paths[templated(path)], [one.method.toLowerCase()]: operation({ ...one, path }) };
  }
  return paths;
};

const tags = [
  { name: 'Ironic', description: 'The Bare Metal API of OpenStack.' },
  { name: 'Temper', description: 'What Temper adds: runs, freezes, webhooks, audit, the policy.' },
];

const securitySchemes = {
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Auth-Token',
    description: 'A Keystone token, an OIDC token, or a static one.',
  },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  basic: { type: 'http', scheme: 'basic' },
};

const link = {
  type: 'object',
  properties: { href: { type: 'string' }, rel: { type: 'string' }, type: { type: 'string' } },
  required: ['href', 'rel'],
  additionalProperties: false,
};

const components = (): Document => ({
  securitySchemes,
  parameters: headerComponents(),
  responses: refusalComponents(),
  schemas: {
    Link: link,
    ...Object.fromEntries(resourceTables.map((table) => [componentName(table), resourceSchema(table)])),
    ...faultSchemas,
  },
});

/** @param server prefix of paths; default: the host that serves the document */
export const describe = (routes: readonly Route[], server = '/') => ({
  openapi: '3.1.0',
  info: {
    title: 'Temper',
    version: maxVersion,
    description:
      `Bare-metal provisioning that speaks the Bare Metal API of OpenStack Ironic, versions ${minVersion} to ${maxVersion}. ` +
      'Operations and fields carry the version that brought them (x-since) and the policy rules that decide (x-rules).',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: server }],
  tags,
  security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
  paths: pathsOf(routes),
  components: components(),
});
