/** Normalises request paths, and sorts routes: a word precedes a parameter. A dropped `.json` comes back if no resource has the shorter name. */
import type { NextFunction, Request, Response } from 'express';
import { dropsJsonSuffix } from './versions';

const prefixes = ['/v1', '/temper/v1'];

/** These paths never had a `.json` suffix to drop. */
const ours = '/temper/';

/** Clients read the version document here without a login. The route exists at `/v1` only. */
export const unversioned = '/v1.json';

const isVersioned = (path: string): boolean =>
  path === unversioned || prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));

/** `/nodes` becomes `/v1/nodes`; doubled and trailing slashes go. `/` stays. */
const withPrefix = (path: string): string => {
  const clean = path.length > 1 ? path.replace(/\/{2,}/g, '/').replace(/\/$/, '') || '/' : path;
  return clean === '/' || isVersioned(clean) ? clean : `/v1${clean}`;
};

/** Some clients put a sub-resource before the node: `/v1/nodes/states/console/<node>`. No node can have such a name. */
const nodeLast = /^(\/v1\/nodes)\/((?:states|management)\/[a-z_]+)\/([^/]+)$/;

const withNodeFirst = (path: string): string => path.replace(nodeLast, '$1/$3/$2');

/** `suffixed`: the URL with its dropped `.json`. */
type Located = { readonly url: string; readonly suffixed?: string };

/**
 * @param url path and query
 * @param headers for the version: from 1.91, `.json` belongs to the name
 */
const locate = (url: string, headers: Readonly<Record<string, string | string[] | undefined>>): Located => {
  const mark = url.indexOf('?');
  const query = mark < 0 ? '' : url.slice(mark);
  const path = withNodeFirst(withPrefix(mark < 0 ? url : url.slice(0, mark)));
  if (!path.endsWith('.json') || path === unversioned || path.startsWith(ours) || !dropsJsonSuffix(headers))
    return { url: path + query };
  return { url: path.slice(0, -'.json'.length) + query, suffixed: path + query };
};

// The URL with its dropped suffix.
const suffixes = new WeakMap<Request, string | null>();

/** Express middleware before the routes. */
export const takeSuffixOff = (request: Request, _response: Response, next: NextFunction): void => {
  if (suffixes.get(request) === undefined) {
    const { url, suffixed } = locate(request.url, request.headers);
    request.url = url;
    if (suffixed) suffixes.set(request, suffixed);
  }
  next();
};

/** @returns true if the request must be routed again */
export const putSuffixBack = (request: Request): boolean => {
  const suffixed = suffixes.get(request);
  if (!suffixed) return false;
  suffixes.set(request, null);
  request.url = suffixed;
  return true;
};

const rank = (segment: string | undefined): number => (segment === undefined ? 0 : segment.startsWith(':') ? 2 : 1);

export const byPrecision = (a: string, b: string): number => {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = rank(left[at]) - rank(right[at]);
    if (difference !== 0) return difference;
  }
  return 0;
};
