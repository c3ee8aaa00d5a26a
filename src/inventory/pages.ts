/** One page of a list: order, and the place after the last row of the page before. */
import type { PendingQuery, Row } from 'postgres';
import type { Predicate } from '../model/predicates';
import type { Db } from './database';
import { where } from './predicates';

type Fragment = PendingQuery<Row[]>;

export type Place = { readonly id: number; readonly empty: boolean };

export type Page = {
  readonly limit: number;
  /** A column; `id` is the order of creation. */
  readonly sort_key: string;
  readonly sort_dir: 'asc' | 'desc';
  /** The row after which the page begins, and whether it has no value in the sort column. */
  readonly after?: Place;
};

/** `order by` of a page; nulls come last going up and first going down, and `id` settles ties. */
export const orderBy = (sql: Db, alias: string, page: Page): Fragment => {
  const id = sql(`${alias}.id`);
  const column = sql(`${alias}.${page.sort_key}`);
  if (page.sort_key === 'id') return page.sort_dir === 'asc' ? sql`order by ${id}` : sql`order by ${id} desc`;
  return page.sort_dir === 'asc'
    ? sql`order by ${column} asc nulls last, ${id}`
    : sql`order by ${column} desc nulls first, ${id} desc`;
};

/**
 * `limit` of a page. Where the store cannot read the number it plans for a tenth of the rows, and walks a whole table in
 * order for the few that a tenant has. Only round numbers are written out, for each is a statement of its own.
 */
export const limitTo = (sql: Db, { limit }: Page): Fragment =>
  limit % 100 === 0 ? sql`limit ${sql.unsafe(String(limit))}` : sql`limit ${limit}`;

/**
 * The condition that a row comes after the marker in that order. The marker's value is read by the store itself: a Date
 * would lose the microseconds.
 */
export const afterMarker = (sql: Db, table: string, page: Page): Fragment => {
  if (!page.after) return sql`true`;
  const id = sql(`${table}.id`);
  const column = sql(`${table}.${page.sort_key}`);
  const up = page.sort_dir === 'asc';
  const later = up ? sql`${id} > ${page.after.id}` : sql`${id} < ${page.after.id}`;
  if (page.sort_key === 'id') return later;
  if (page.after.empty) return up ? sql`(${column} is null and ${later})` : sql`(${column} is not null or ${later})`;
  const value = sql`(select m.${sql(page.sort_key)} from ${sql(table)} m where m.id = ${page.after.id})`;
  return up
    ? sql`(${column} is null or ${column} > ${value} or (${column} = ${value} and ${later}))`
    : sql`(${column} < ${value} or (${column} = ${value} and ${later}))`;
};

/** The place of a marker among the visible rows of a table that decides about its own visibility, or undefined. */
export const findPlace = async (
  sql: Db,
  table: string,
  { uuid, sort_key, visible }: { uuid: string; sort_key: string; visible: Predicate },
): Promise<Place | undefined> => {
  const [row] = await sql<Place[]>`
    select id, ${sql(sort_key)} is null as empty from ${sql(table)}
    where uuid = ${uuid} and ${where(sql, visible, table)}`;
  return row;
};
