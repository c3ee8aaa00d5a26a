/** Brings a request's path to the one form that routes are written in, and sorts routes so that a word beats a parameter. */
import { dropsJsonSuffix } from './versions';

const prefixes = ['/v1', '/temper/v1'];

const isVersioned = (path: string): boolean =>
  prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));

/** `/nodes` is `/v1/nodes`; doubled and trailing slashes go. `/` stays. */
const withPrefix = (path: string): string => {
  const clean = path.length > 1 ? path.replace(/\/{2,}/g, '/').replace(/\/$/, '') || '/' : path;
  return clean === '/' || isVersioned(clean) ? clean : `/v1${clean}`;
};

/** A request's URL as routes see it, and with its `.json` suffix where that was dropped. */
export type Located = { readonly url: string; readonly suffixed?: string };

/**
 * @param url path and query as they came
 * @param headers for the version, which decides whether `.json` belongs to the name (from 1.91 it does)
 */
export const locate = (url: string, headers: Readonly<Record<string, string | string[] | undefined>>): Located => {
  const mark = url.indexOf('?');
  const query = mark < 0 ? '' : url.slice(mark);
  const path = withPrefix(mark < 0 ? url : url.slice(0, mark));
  if (!path.endsWith('.json') || !dropsJsonSuffix(headers)) return { url: path + query };
  return { url: path.slice(0, -'.json'.length) + query, suffixed: path + query };
};

const rank = (segment: string | undefined): number => (segment === undefined ? 0 : segment.startsWith(':') ? 2 : 1);

/** Order in which paths are tried: at the first difference a word comes before a parameter. */
export const byPrecision = (a: string, b: string): number => {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = rank(left[at]) - rank(right[at]);
    if (difference !== 0) return difference;
  }
  return 0;
};
