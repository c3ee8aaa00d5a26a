/** Pages of lists. The rows after a marker are found by its place, never by counting. */
import { raise } from '../model/errors';
import type { Db, Fragment } from './database';
import type { LinesPage } from './lines';

export type Page = {
  readonly limit: number;
  /** A column; `id` is the order of creation. */
  readonly sort_key: string;
  readonly sort_dir: 'asc' | 'desc';
  /** UUID of the last row before the page. */
  readonly marker?: string;
};

export type PageListed = {
  /** The table of the rows, with `id` and `uuid`. */
  readonly table: string;
  /** `table`, and others for conditions or columns. */
  readonly from: Fragment;
  readonly columns: Fragment;
  /** Joined only for columns. */
  readonly beside?: Fragment;
  /** Applies to the marker, too. */
  readonly visible: Fragment;
  /** The caller's filter. */
  readonly wanted: Fragment;
};

/**
 * With a parameterised LIMIT, PostgreSQL plans for 10 % of the rows and walks a whole table for the few of a tenant. Only round numbers are
 * literals, because each is a prepared statement.
 */
const limitTo = (sql: Db, limit: number): Fragment =>
  limit % 100 === 0 ? sql`limit ${sql.unsafe(String(limit))}` : sql`limit ${limit}`;

/** Nulls as in an index: last if ascending, first if descending. `id` breaks ties. */
const orderBy = (sql: Db, { table }: PageListed, { sort_key, sort_dir }: Page): Fragment => {
  const [column, id] = [sql(`${table}.${sort_key}`), sql(`${table}.id`)];
  if (sort_dir === 'asc') return sort_key === 'id' ? sql`order by ${id}` : sql`order by ${column}, ${id}`;
  return sort_key === 'id' ? sql`order by ${id} desc` : sql`order by ${column} desc, ${id} desc`;
};

/**
 * Rows with a value after the marker. None if the marker is missing, hidden or without a value. Comparing pairs makes it an index range.
 */
const afterMarker = (sql: Db, { table, from, visible }: PageListed, { sort_key, sort_dir, marker }: Page): Fragment => {
  const [column, id] = [sql(`${table}.${sort_key}`), sql(`${table}.id`)];
  const place = (what: Fragment) =>
    sql`(select ${what} from ${from} where ${sql(`${table}.uuid`)} = ${marker!} and ${visible})`;
  const beyond = sort_dir === 'asc' ? sql`>` : sql`<`;
  if (sort_key === 'id') return sql`${id} ${beyond} ${place(sql`${id}`)}`;
  return sql`(${column}, ${id}) ${beyond} (${place(sql`${column}`)}, ${place(sql`${id}`)})`;
};

type Place = { readonly id: number; readonly empty: boolean };

const findPlace = async (sql: Db, { table, from, visible }: PageListed, page: Page): Promise<Place | undefined> => {
  const [place] = await sql<Place[]>`
    select ${sql(`${table}.id`)} as id, ${sql(`${table}.${page.sort_key}`)} is null as empty
    from ${from} where ${sql(`${table}.uuid`)} = ${page.marker!} and ${visible}`;
  return place;
};

/** Ranges after those rows. Ascending: the remaining nulls. Descending: after a null, the remaining nulls, then the values. */
const stretchesAfter = (sql: Db, { table }: PageListed, { sort_key, sort_dir }: Page, place: Place): Fragment[] => {
  const [column, id] = [sql(`${table}.${sort_key}`), sql(`${table}.id`)];
  if (sort_dir === 'asc')
    return place.empty ? [sql`${column} is null and ${id} > ${place.id}`] : [sql`${column} is null`];
  return place.empty ? [sql`${column} is null and ${id} < ${place.id}`, sql`${column} is not null`] : [];
};

/** @returns the number of rows */
type ReadStretch = (stretch: Fragment, limit: number) => Promise<number>;

/** Reads usually one range, and more at the border between values and nulls. Throws MarkerNotFound. */
const walkPage = async (sql: Db, listed: PageListed, page: Page, read: ReadStretch): Promise<void> => {
  if (page.marker === undefined) return void (await read(sql`true`, page.limit));
  let count = await read(afterMarker(sql, listed, page), page.limit);
  if (count === page.limit || (count > 0 && page.sort_key === 'id')) return;
  const place = await findPlace(sql, listed, page);
  if (!place && count === 0) raise('MarkerNotFound', { marker: page.marker });
  if (!place || page.sort_key === 'id') return;
  for (const stretch of stretchesAfter(sql, listed, page, place))
    if (count < page.limit) count += await read(stretch, page.limit - count);
};

const rowsOf = (sql: Db, listed: PageListed, page: Page, stretch: Fragment, limit: number): Fragment => sql`
  select ${listed.columns} from ${listed.from} ${listed.beside ?? sql``}
  where ${listed.visible} and ${listed.wanted} and ${stretch}
  ${orderBy(sql, listed, page)} ${limitTo(sql, limit)}`;

type LinesListed = PageListed & {
  /** The text has documents; `document_bytes` is their size. */
  readonly withDocuments: boolean;
};

/** Each table has an index of rows with more bytes, which is usually empty. */
const longDocuments = 32_768;

/** Null for rows after documents that fill the page, so that PostgreSQL does not write these. */
const lineWithin = (
  sql: Db,
  { columns, withDocuments, beside: _beside, ...listed }: LinesListed,
  page: Page,
  [stretch, limit, room]: readonly [stretch: Fragment, limit: number, room: number],
): Fragment => {
  if (!withDocuments) return columns;
  const [id, bytes] = [sql(`${listed.table}.id`), sql(`${listed.table}.document_bytes`)];
  const sized = rowsOf(sql, { ...listed, columns: sql`${id} as id, ${bytes} as bytes` }, page, stretch, limit);
  return sql`
    case when not exists (select from ${sql(listed.table)} where ${bytes} > ${sql.unsafe(String(longDocuments))}) or ${id} in (
      select id from (select id, sum(bytes) over (rows unbounded preceding) - bytes as before from (${sized}) sized) placed
      where before <= ${room}) then ${columns} end`;
};

/** Raw bytes, not decoded by postgres.js. */
type RawLines = readonly [lines: Buffer | null, count: Buffer, last: Buffer | null, cut: Buffer | null];

/** Bound of a page, unless its first row is longer. 1,000 detailed nodes are 3 MB. */
const mostPageBytes = 16 * 2 ** 20;

/** Rows of a sorted subquery reach an aggregate in order: PostgreSQL's documentation, 9.21 Aggregate Functions. Throws MarkerNotFound. */
export const linesOf = async (sql: Db, listed: LinesListed, page: Page): Promise<LinesPage> => {
  const pieces: Buffer[] = [];
  let [all, lastUuid]: [number, string | undefined] = [0, undefined];
  let [room, isCut] = [mostPageBytes, false];
  await walkPage(sql, listed, page, async (stretch, limit) => {
    const line = lineWithin(sql, listed, page, [stretch, limit, room]);
    const columns = sql`${line} as line, ${sql(`${listed.table}.uuid`)} as uuid`;
    const answer = await sql`
      select string_agg(line, ',') filter (where fits), count(*) filter (where fits),
        (array_agg(uuid) filter (where fits))[count(*) filter (where fits)], bool_or(not fits)
      from (
        select line, uuid, line is not null and (bytes <= ${room} or ${pieces.length === 0} and bytes = octet_length(line)) as fits
        from (
          select line, uuid, sum(octet_length(line)) over (rows unbounded preceding) as bytes
          from (${rowsOf(sql, { ...listed, columns }, page, stretch, limit)}) listed) counted) lines`.raw();
    const [lines, count, last, cut] = (answer as unknown as RawLines[])[0]!;
    isCut = cut?.toString() === 't';
    if (lines === null) return isCut ? limit : 0;
    if (pieces.length > 0) pieces.push(comma);
    pieces.push(lines);
    room -= lines.length;
    all += Number(count.toString());
    lastUuid = last?.toString();
    return isCut ? limit : Number(count.toString());
  });
  return { pieces, count: all, last: lastUuid, cut: isCut };
};

const comma = Buffer.from(',');
