/** List parameters, checked against the resource's table, and the `next` link that repeats them. */

import { z } from 'zod';
import { came, flag } from '../../admission/schemas';
import type { Line, LinesPage } from '../../inventory/lines';
import type { Page } from '../../inventory/pages';
import { raise } from '../../model/errors';
import { asUuid } from '../../model/ids';
import { always, and, not, or, type Predicate } from '../../model/predicates';
import {
  choosable,
  type FieldRow,
  type FilterRow,
  fieldOf,
  isSortable,
  type ResourceTable,
  sinceOf,
} from '../../model/resources/fields';
import { requireMinor } from '../../model/resources/microversions';
import type { Answer } from '../server/route';
import type { Projection, Shown } from './representation';
import { fieldNames, uuid } from './validation';

const fieldsSince = 8;
const firstDetail = 43;

type FilterValue = string | boolean | readonly string[];

export type ListAsked = {
  readonly limit: number;
  readonly marker?: string;
  readonly sort_key: string;
  readonly sort_dir: 'asc' | 'desc';
  /** Names from `fields=`. */
  readonly fields?: readonly string[];
  readonly detail: boolean;
  readonly filters: Readonly<Record<string, FilterValue>>;
};

const pageNumber = z
  .string()
  .regex(/^-?\d{1,9}$/, { error: 'must be a whole number of at least 1' })
  .transform(Number);

const page = {
  limit: pageNumber.optional(),
  marker: z.string().optional(),
  sort_key: z.string().optional(),
  sort_dir: z.enum(['asc', 'desc']).optional(),
  fields: fieldNames.optional(),
  detail: flag.optional(),
};

const filterSchema = (row: FilterRow): z.ZodType => {
  if (row.type === 'boolean') return flag;
  if (row.type === 'uuid') return uuid;
  // Shard names keep their case: PostgreSQL compares them case-sensitively.
  if (row.type === 'texts')
    return z.string().transform((given) =>
      given
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    );
  return row.oneOf ? z.enum(row.oneOf as [string, ...string[]]) : z.string();
};

type PageQuery = { [Key in keyof typeof page]: z.output<(typeof page)[Key]> };

export const listQuery = (table: ResourceTable, more: Readonly<Record<string, z.ZodType>> = {}) =>
  z.strictObject({
    ...page,
    ...Object.fromEntries(table.filters.map((row) => [row.name, filterSchema(row).optional()])),
    ...more,
  });

/** Query of a show route: `fields=` only. */
export const showQuery = z.strictObject({ fields: fieldNames.optional() });

/** Checks the chosen fields: unknown is 400; newer than the version is 406, also for `fields` itself. */
export const chosenFields = (
  table: ResourceTable,
  fields: readonly string[] | undefined,
  minor: number,
  since = fieldsSince,
): readonly string[] | undefined => {
  if (fields === undefined) return undefined;
  requireMinor(minor, since, 'the parameter fields');
  const known = choosable(table);
  const unknown = fields.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    raise('InvalidInput', { field: 'fields', reason: `unknown: ${unknown.join(', ')}; known are ${known.join(', ')}` });
  for (const name of fields) requireMinor(minor, sinceOf(fieldOf(table, name)!), `field ${name}`);
  return fields;
};

const sortKeys = (table: ResourceTable, minor: number): string[] => [
  'id',
  ...table.fields.filter((row) => isSortable(row) && sinceOf(row) <= minor).map((row) => row.name),
];

const sortField = (table: ResourceTable, name: string, minor: number): string => {
  if (name === 'id') return name;
  const row: FieldRow | undefined = fieldOf(table, name);
  if (!row || !isSortable(row))
    return raise('InvalidInput', {
      field: 'sort_key',
      reason: `${came(name)} came; sort keys are: ${sortKeys(table, minor).join(', ')}`,
    });
  requireMinor(minor, sinceOf(row), `sort_key ${name}`);
  return row.column ?? row.name;
};

/**
 * Checks the parsed query of a list. Throws InvalidInput, NotAcceptable.
 * @param detailSince first minor version of `detail`
 */
export const askedList = (
  table: ResourceTable,
  query: Readonly<Record<string, unknown>>,
  minor: number,
  maxLimit: number,
  detailSince = firstDetail,
): ListAsked => {
  const given = query as PageQuery;
  const filters = Object.fromEntries(
    table.filters
      .filter((row) => query[row.name] !== undefined)
      .map((row) => [row.name, query[row.name] as FilterValue]),
  );
  for (const row of table.filters)
    if (filters[row.name] !== undefined) requireMinor(minor, sinceOf(row), `filter ${row.name}`);
  if (given.detail !== undefined && minor < detailSince)
    raise('InvalidInput', { field: 'detail', reason: `needs API version 1.${detailSince}` });
  if (given.detail && given.fields)
    raise('InvalidInput', { field: 'fields', reason: 'cannot be combined with detail=true' });
  return {
    limit: limitOf(given.limit, maxLimit),
    marker: given.marker,
    sort_key: sortField(table, given.sort_key ?? 'id', minor),
    sort_dir: given.sort_dir ?? 'asc',
    fields: chosenFields(table, given.fields, minor),
    detail: given.detail ?? false,
    filters,
  };
};

/**
 * The requested page. A marker that is no UUID throws InvalidInput.
 * It throws MarkerNotFound for resources with names, because a name is never a marker.
 */
export const pageAsked = (
  { limit, sort_key, sort_dir, marker }: ListAsked,
  otherwise: 'InvalidInput' | 'MarkerNotFound' = 'InvalidInput',
): Page => {
  const order = { limit, sort_key, sort_dir };
  if (marker === undefined) return order;
  const uuid = asUuid(marker) ?? raise(otherwise, { field: 'marker', reason: 'must be a UUID', marker });
  return { ...order, marker: uuid };
};

const limitOf = (given: number | undefined, max: number): number => {
  if (given === undefined) return max;
  if (given <= 0)
    return raise('InvalidInput', { field: 'limit', reason: `must be a whole number of at least 1; ${given} came` });
  return Math.min(given, max);
};

/** Combines the filters that name a column. */
export const filterPredicate = (table: ResourceTable, filters: ListAsked['filters']): Predicate =>
  table.filters.reduce((all, row) => {
    const value = filters[row.name];
    return value === undefined ? all : and(all, filterCondition(row, value));
  }, always);

const filterCondition = (row: FilterRow, value: FilterValue): Predicate => {
  if (row.set) return value === true ? not({ is: 'null', column: row.set }) : { is: 'null', column: row.set };
  if (!row.column) return always;
  const { column } = row;
  if (row.contains) return { is: 'contains', column, value: String(value) };
  return typeof value === 'object' ? or(...value.map((one) => equals(column, one))) : equals(column, value);
};

const equals = (column: string, value: string | boolean): Predicate => ({ is: 'equals', column, value });

/** The absolute URL of the next page with every parameter of this one. `path` is below the version, such as `nodes`. */
export const nextLink = (base: string, path: string, asked: ListAsked, marker: string): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked.filters)) query.set(name, String(value));
  if (asked.sort_key !== 'id') query.set('sort_key', asked.sort_key);
  if (asked.sort_dir !== 'asc') query.set('sort_dir', asked.sort_dir);
  if (asked.fields) query.set('fields', asked.fields.join(','));
  if (asked.detail) query.set('detail', 'True');
  query.set('limit', String(asked.limit));
  query.set('marker', marker);
  return `${base}/v1/${path}?${query}`;
};

type PageShown = { readonly projection: Projection; readonly shown: Shown; readonly path: string };

/** Reads a page. `base` is escaped for a JSON text. */
type ReadLines = (line: Line, base: string) => Promise<LinesPage>;

/**
 * The response of a list. It has `next` if the page is full, even if nothing follows.
 * @param asked repeated in the `next` link
 */
export const answerPage = async (
  { collection: name }: ResourceTable,
  asked: ListAsked,
  { projection, shown, path }: PageShown,
  read: ReadLines,
): Promise<Answer> => {
  const { line, settle } = projection.lines(shown);
  const { pieces, count, last, cut } = await read(line, JSON.stringify(shown.base).slice(1, -1));
  const full = last !== undefined && (count === asked.limit || cut);
  const next = full ? `,"next":${JSON.stringify(nextLink(shown.base, path, asked, last))}` : '';
  return { status: 200, bytes: [Buffer.from(`{"${name}":[`), ...settle(pieces, shown), Buffer.from(`]${next}}`)] };
};

/** The body of a small list. It has `next` if the page is full, even if nothing follows. */
export const collection = (
  table: ResourceTable,
  items: readonly unknown[],
  next: () => string,
  limit: number,
): Record<string, unknown> =>
  items.length === limit && items.length > 0
    ? { [table.collection]: items, next: next() }
    : { [table.collection]: items };
