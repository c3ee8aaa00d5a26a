/** A request is compared with few of the API's paths, and yet finds the route that it would find among all of them. */
import express from 'express';
import { routes } from '../../src/api';
import { createDispatch, groupOf } from '../../src/api/http/dispatch';
import { byPrecision } from '../../src/api/http/paths';

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
