/** A request is compared with few of the API's paths, and yet finds the route that it would find among all of them. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import express, { type Request, type Response } from 'express';
import { routes } from '../../src/api';
import { createDirect } from '../../src/api/http/direct';
import { createDispatch, groupOf } from '../../src/api/http/dispatch';
import { byPrecision } from '../../src/api/http/paths';
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

describe('served without Express’ routers', () => {
  type Found = { readonly path: string; readonly params: Readonly<Record<string, string>> };
  const [all, found] = [express(), new Map<object, Found>()];
  const note = (path: string) => async (request: Request) =>
    void found.set(request, { path, params: { ...request.params } as Record<string, string> });
  const direct = createDirect(express(), () => {});
  for (const path of paths) {
    all.get(path, note(path));
    direct.add(path, { GET: note(path) });
  }

  const asRequest = (url: string, method = 'GET'): Request =>
    // From 1.91 a suffix belongs to the name.
    ({
      url,
      path: url.split('?')[0],
      method,
      headers: { 'x-openstack-ironic-api-version': '1.91' },
    }) as unknown as Request;
  const byExpress = (url: string): Found | undefined => {
    const request = asRequest(url);
    const { router } = all as unknown as { router: (request: object, response: object, next: () => void) => void };
    router(request, {}, () => {});
    return found.get(request);
  };
  const directly = (url: string, method?: string): Found | undefined => {
    const request = asRequest(url, method);
    return direct.serve(request, {} as Response) ? found.get(request) : undefined;
  };

  const long = 'x'.repeat(5_000);

  test('a request finds the path and the parameters that Express finds', () => {
    const asked = [...paths.flatMap(requestsOf), '/v1/nodes/x?fields=uuid', `/v1/nodes/${long}`, '/v1/nodes/..'];
    expect(asked.filter((url) => byExpress(url) === undefined)).toEqual([]);
    for (const url of asked.filter((one) => !one.startsWith('/v1/nodes/states/')))
      expect({ url, ...directly(url) }).toEqual({ url, ...byExpress(url) });
  });

  test.each([
    ['a broken escape', '/v1/nodes/%zz', 'GET'],
    ['an escaped slash', '/v1/nodes/a%2Fb', 'GET'],
    ['an escaped word of a path', '/v1/n%6fdes', 'GET'],
    ['an absolute URL', 'http://host/v1/nodes', 'GET'],
    ['a fragment', '/v1/nodes#all', 'GET'],
    ['a method that is not offered', '/v1/nodes', 'TRACE'],
    ['a method that another path offers', '/v1/nodes/detail', 'PATCH'],
    ['a preflight', '/v1/nodes', 'OPTIONS'],
    ['a method with the name of what every object has', '/v1/nodes', 'constructor'],
    ['no path of ours', '/v1/nowhere', 'GET'],
  ])('%s is left to Express', (_what, url, method) => {
    expect(directly(url, method)).toBeUndefined();
  });

  test('HEAD is answered as GET is', () => {
    expect(directly('/v1/nodes', 'HEAD')).toEqual({ path: '/v1/nodes', params: {} });
  });

  test('a handler that throws is answered for', async () => {
    const thrown = new Promise((resolve) => {
      const breaking = createDirect(express(), resolve);
      breaking.add('/v1/nodes', { GET: () => Promise.reject(new Error('broken')) });
      breaking.serve(asRequest('/v1/nodes'), {} as Response);
    });
    expect(await thrown).toEqual(new Error('broken'));
  });
});

describe('over the wire', () => {
  let [direct, byExpress]: readonly TestApi[] = [];
  beforeAll(async () => {
    direct = await startTestApi();
    // What is answered to browsers is Express’ own, and so is all that comes after.
    byExpress = await startTestApi({ settings: { corsOrigins: ['https://pages.example'] } });
  });
  afterAll(() => Promise.all([direct?.close(), byExpress?.close()]));

  /** As it is written here: `fetch` would mend the path. */
  const answerTo = async (api: TestApi, method: string, path: string) => {
    const { hostname, port } = new URL(api.url);
    const headers = { 'x-auth-token': 'stranger-reader', 'x-openstack-ironic-api-version': '1.90' };
    const sent = request({ hostname, port, method, path, headers }).end();
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    const body = (await text(reply)).replaceAll(/req-[0-9a-f-]{36}/g, 'req').replaceAll(api.url, '');
    return { status: reply.statusCode, body, allow: reply.headers.allow, type: reply.headers['content-type'] };
  };

  const names = ['a%2Fb', '..', '%2e%2e', '%zz', '%C3%A4', 'x.json', 'x'.repeat(300)];
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];
  const withName = (path: string, name: string): string => path.replaceAll(/:\w+/g, name);
  const variants = (path: string): [string, string][] => {
    const plain = withName(path, 'x');
    const spelt = [
      ...(path.includes(':') ? names.map((name) => withName(path, name)) : []),
      ...['/', '?x=1', '.json', '%20', '/../nodes'].map((end) => plain + end),
      plain.replace('/', '//'),
      plain.replace('/v1', ''),
      plain.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase()),
    ];
    return [
      ...methods.map((method): [string, string] => [method, plain]),
      ...spelt.map((url): [string, string] => ['GET', url]),
    ];
  };

  test.each(paths)('%s is answered alike by both ways', async (path) => {
    for (const [method, url] of variants(path)) {
      const [one, other] = await Promise.all([answerTo(direct!, method, url), answerTo(byExpress!, method, url)]);
      expect({ method, url, ...one }).toEqual({ method, url, ...other });
    }
  });
});
