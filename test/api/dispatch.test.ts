/** A request is compared with few of the API's paths, and yet finds the route that it would find among all of them. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import { routes } from '../../src/api';
import { createDispatch, groupOf } from '../../src/api/server/dispatch';
import { byPrecision } from '../../src/api/server/paths';
import { createApi } from '../../src/api/server/server';
import { guardedServer } from '../../src/process/guarded-server';
import { startTestApi, type TestApi } from '../support/api';

const paths = [...new Set(routes.map(({ path }) => path))].sort(byPrecision);

/** Requests that match a path: parameters as a name, as a number, and as each word that stands at that place in another path. */
const requestsOf = (path: string): string[] => {
  const segments = path.split('/');
  const at = segments.findIndex((segment) => segment.startsWith(':'));
  if (at < 0) return [path];
  const words = paths.flatMap((other) => other.split('/')[at] ?? []).filter((word) => word && !word.startsWith(':'));
  return [...new Set(['some.name', '7', ...words])].flatMap((word) => requestsOf(segments.with(at, word).join('/')));
};

const found = (app: ReturnType<typeof express>, url: string): string => {
  const request: Record<string, string> = { url, path: url, originalUrl: url, method: 'GET' };
  const { router } = app as unknown as { router: (request: object, response: object, next: () => void) => void };
  router(request, {}, () => {});
  return request.found ?? 'none';
};

const answering = (path: string) => (request: object) => void Object.assign(request, { found: path });

test('every path of every route is answered by the route that stands first among all that match it', () => {
  const [all, grouped] = [express(), express()];
  const dispatch = createDispatch(grouped);
  for (const path of paths) {
    all.get(path, answering(path));
    dispatch.route(path).get(answering(path));
  }
  grouped.use(dispatch.handle);
  expect(paths.flatMap(requestsOf).filter((url) => found(grouped, url) === 'none')).toEqual([]);
  const asked = [...paths.flatMap(requestsOf), '/v1/nodes/a/b/c/d/e', '/v2', '/v1/nodes/a%2Fb', '/v1//nodes', '/v1/x'];
  expect(asked.length).toBeGreaterThan(paths.length);
  const differing = asked.filter((url) => found(all, url) !== found(grouped, url));
  expect(differing).toEqual([]);
});

test('no request is compared with more than a quarter of all paths', () => {
  const sizes = new Map<string, number>();
  for (const path of paths) sizes.set(groupOf(path), (sizes.get(groupOf(path)) ?? 0) + 1);
  expect(Math.max(...sizes.values())).toBeLessThan(paths.length / 4);
});

test('a parameter among the words that tell groups apart is refused at start', () => {
  expect(() => createDispatch(express()).route('/v1/:collection')).toThrow('/v1/:collection');
});

describe('a request over the wire', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  // Not by fetch, which would change the path.
  const answerTo = async (method: string, path: string, base = api.url) => {
    const { hostname, port } = new URL(base);
    const headers = { 'x-auth-token': 'operator', 'x-openstack-ironic-api-version': '1.90' };
    const sent = request({ hostname, port, method, path, headers }).end();
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    const { allow, 'content-type': type } = reply.headers;
    return { status: reply.statusCode, allow, type, body: (await text(reply)).replaceAll(base, '') };
  };

  const [nowhere, unreadable] = ['The resource could not be found.', 'path: is not a valid URL path'];
  const noName = 'node: must be a UUID or, from API version 1.5, a name';

  test.each([
    ['/v1/nodes/%zz', 400, unreadable],
    ['/v1/nodes/a%2Fb', 400, noName],
    ['/v1/nodes/%20', 400, noName],
    ['/v1/nodes/%C3%A4', 400, noName],
    ['/v1/nodes/x;y', 400, noName],
    ['/v1/nodes/%2e%2e', 404, 'Node .. could not be found.'],
    ['/v1/nodes/..', 404, 'Node .. could not be found.'],
    ['/v1/nodes/x/', 404, 'Node x could not be found.'],
    ['//v1/nodes//x', 404, 'Node x could not be found.'],
    ['/nodes/x', 404, 'Node x could not be found.'],
    ['/v1/nodes/x#y', 404, 'Node x could not be found.'],
    ['/v1/nodes/X', 404, 'Node X could not be found.'],
    ['/v1/nodes/x.json', 404, 'Node x.json could not be found.'],
    [`/v1/nodes/${'x'.repeat(250)}`, 404, `Node ${'x'.repeat(250)} could not be found.`],
    ['/v1/nodes?x=1', 400, 'Unexpected arguments: x.'],
    ['/v1/n%6fdes', 404, nowhere],
    ['/v1/nodes%20', 404, nowhere],
    ['/v1/nodes/x/../nodes', 404, nowhere],
    ['/v1/Nodes', 404, nowhere],
    ['/V1/nodes', 404, nowhere],
    ['/v1/nowhere', 404, nowhere],
    ['http://host/v1/nodes', 404, nowhere],
  ])('GET %s is answered %i: %s', async (path, status, says) => {
    const answer = await answerTo('GET', path);
    expect(answer).toMatchObject({ status, allow: undefined, type: 'application/json' });
    expect(answer.body).toContain(says);
  });

  test.each(['PUT', 'PATCH', 'TRACE', 'OPTIONS', 'PROPFIND'])(
    '%s of a list is a 405 with what is offered',
    async (method) => {
      const allow = 'GET, HEAD, POST';
      expect(await answerTo(method, '/v1/nodes')).toMatchObject({ status: 405, allow, type: 'application/json' });
    },
  );

  test('a path that matches first decides, although a later one offers the method', async () => {
    expect(await answerTo('PATCH', '/v1/nodes/detail')).toMatchObject({ status: 405, allow: 'GET, HEAD' });
  });

  test.each([
    ['/v1/nodes', 200],
    ['/v1/nodes/x', 404],
  ])('HEAD %s is answered as GET is, without the body', async (path, status) => {
    const { body, ...shown } = await answerTo('GET', path);
    expect(body).not.toBe('');
    expect(shown.status).toBe(status);
    expect(await answerTo('HEAD', path)).toEqual({ ...shown, body: '' });
  });

  test.each(['/v1/nodes', '/v1/nodes/missing', '/v1/nodes/a%2fb', '/nowhere'])(
    'GET %s is answered alike by a server whose messages are made for the application',
    async (path) => {
      const app = createApi(api.rooms);
      const patience = { headersMs: 10_000, requestMs: 10_000, keepAliveMs: 1_000, connections: 10, ofSender: 10 };
      const server = guardedServer(patience, app, app).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      expect(await answerTo('GET', path, url)).toEqual(await answerTo('GET', path));
      server.closeAllConnections();
      server.close();
    },
  );
});
