/** The API's description: that every route is in it, that it holds together, and that the document and its page are served. */
import { describeApi, routes } from '../../src/api';
import { goodAnswers } from '../../src/api/openapi/answers';
import { refusals } from '../../src/api/openapi/refusals';
import { resourceTables } from '../../src/api/openapi/resources';
import { errors } from '../../src/model/errors';
import { startTestApi, type TestApi } from '../support/api';

// biome-ignore lint/suspicious/noExplicitAny: a document of every shape
const document: any = describeApi();

const templated = (path: string): string => path.replace(/:\w+/g, '{}');
const operations = Object.entries<Record<string, { operationId: string; parameters: unknown[] }>>(
  document.paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);

/** Every value of a key, wherever it is. */
const valuesOf = (value: unknown, wanted: string): unknown[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key === wanted ? [inner] : []),
    ...valuesOf(inner, wanted),
  ]);
};

const found = (reference: string): unknown =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);

describe('the document', () => {
  test('holds every route and nothing else', () => {
    const described = operations.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
    expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${templated(path)}`).sort());
  });

  test('gives every operation an id of its own', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
  });

  test('says of every route what it answers', () => {
    const silent = routes.filter((route) => goodAnswers(route) === undefined);
    expect(silent.map(({ method, path }) => `${method} ${path}: say "answers" in its route`)).toEqual([]);
  });

  test('refers only to what is in it', () => {
    const references = valuesOf(document, '$ref').filter((one) => typeof one === 'string');
    expect(references.length).toBeGreaterThan(500);
    expect(references.filter((one) => found(one as string) === undefined)).toEqual([]);
  });

  test('declares each parameter of a path once', () => {
    for (const { path, parameters } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (parameters as { in?: string; name?: string; required?: boolean }[]).filter(
        (one) => one.in === 'path',
      );
      expect([path, declared.map(({ name }) => name)]).toEqual([path, named]);
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  test('knows every status that an error of the list has', () => {
    const known = refusals.map(({ status }) => status);
    const unknown = Object.entries(errors).filter(([, { status }]) => !known.includes(status));
    expect(unknown.map(([code, { status }]) => `${code}: ${status}`)).toEqual([]);
  });

  test('shows every field of every resource at the newest version', () => {
    for (const table of resourceTables) {
      const shown = table.fields.filter((row) => !row.hidden).map(({ name }) => name);
      const schemas = Object.values<{ properties?: object }>(document.components.schemas);
      expect(schemas.some(({ properties = {} }) => String(Object.keys(properties)) === String(shown))).toBe(true);
    }
  });

  test('says since when, and by which rules', () => {
    expect(document.paths['/v1/runbooks'].post).toMatchObject({
      'x-since': '1.92',
      'x-older-versions-get': 405,
      'x-rules': expect.arrayContaining(['baremetal:runbook:create']),
      tags: ['Ironic'],
    });
    expect(document.paths['/temper/v1/runs/{run}'].get).toMatchObject({ tags: ['Temper'] });
    expect(document.components.schemas.Node.properties.shard['x-since']).toBe('1.82');
  });
});

describe('served', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ settings: { publicEndpoint: 'https://api.example.org/baremetal' } });
  });
  afterAll(() => api.close());

  test.each([null, 1, 90, 115])('the document needs no login, at version %s', async (minor) => {
    const reply = await api.as(null, 'GET', '/temper/v1/openapi.json', { minor });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ...document, servers: [{ url: 'https://api.example.org/baremetal' }] });
  });

  test('the page loads what it needs from here and nothing from elsewhere', async () => {
    const page = await api.as(null, 'GET', '/temper/v1/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const loads = [...page.text.matchAll(/(?:src|href|data-document)="([^"]+)"/g)].map(([, url]) => url!);
    expect(loads).toHaveLength(5);
    for (const url of loads.filter((one) => one !== 'data:,')) {
      expect(url).toMatch(/^\/baremetal\/temper\/v1\//);
      const reply = await api.as(null, 'GET', url.replace('/baremetal', ''));
      expect([reply.status, reply.text.length > 100]).toEqual([200, true]);
    }
  });

  test('the page may run its own scripts, and be framed by no other', async () => {
    const { headers } = await api.as(null, 'GET', '/temper/v1/docs');
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; ");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|script-src[^;]*unsafe/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.each(['package.json', '..%2Findex.js', 'swagger-ui.js.map', 'constructor'])(
    'a file that is no part of the page is not there: %s',
    async (name) => {
      expect((await api.as(null, 'GET', `/temper/v1/docs/${name}`)).status).toBe(404);
    },
  );
});
