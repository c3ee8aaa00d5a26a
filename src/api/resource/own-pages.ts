/** Pages of the lists of /temper/v1: their parameters, markers and links. */
import { z } from 'zod';
import { type ErrorCode, isTemperError, raise } from '../../model/errors';
import type { ApiRequest } from '../server/route';
import { pageLimit, uuid } from './validation';

/** Parameters of a list whose rows have a UUID. */
export const uuidPage = { limit: pageLimit, marker: uuid.optional() };
export const uuidPageQuery = z.strictObject(uuidPage);

/**
 * The record after which a page begins; undefined without marker. Throws MarkerNotFound.
 * @param find undefined for missing and for hidden records
 */
export const markedRecord = async <Row>(
  marker: string | undefined,
  find: (marker: string) => Promise<Row | undefined>,
): Promise<Row | undefined> =>
  marker === undefined ? undefined : ((await find(marker)) ?? raise('MarkerNotFound', { marker }));

/** Makes `find` return undefined in place of the error `missing`. Its other errors pass unchanged. */
export const unless =
  <Row>(missing: ErrorCode, find: (ident: string) => Promise<Row>) =>
  async (ident: string): Promise<Row | undefined> => {
    try {
      return await find(ident);
    } catch (thrown) {
      return isTemperError(thrown, missing) ? undefined : Promise.reject(thrown);
    }
  };

type ListRequest = Pick<ApiRequest<unknown, { readonly limit: number }, unknown>, 'base' | 'params' | 'query'>;

/** Repeats every parameter of the request. */
const linkTo = ({ base, params, query }: ListRequest, path: string, marker: string | number): string => {
  const named = params as Readonly<Record<string, string>>;
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries<unknown>({ ...query, marker }))
    if (value !== undefined) given.set(name, value instanceof Date ? value.toISOString() : String(value));
  return `${base}${path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(named[name]!))}?${given}`;
};

/**
 * Reads one row more than the page has, so `next` is set only if more follow.
 * @param path of the route
 * @param markerOf the marker of the page after this row
 */
export const readPage = async <Row>(
  request: ListRequest,
  path: string,
  read: (limit: number) => Promise<readonly Row[]>,
  markerOf: (last: Row) => string | number,
): Promise<{ readonly rows: readonly Row[]; readonly next: { readonly next?: string } }> => {
  const { limit } = request.query;
  const found = await read(limit + 1);
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? { next: linkTo(request, path, markerOf(rows.at(-1)!)) } : {} };
};
