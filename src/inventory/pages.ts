/** One page of a list: its order, and the rows after a marker, found by its place in that order and never by counting. */
import type { PendingQuery, Row } from 'postgres';
import { raise } from '../model/errors';
import type { Db } from './database';
import type { LinesPage } from './lines';

type Fragment = PendingQuery<Row[]>;

export type Page = {
  readonly limit: number;
  /** A column; `id` is the order of creation. */
  readonly sort_key: string;
  readonly sort_dir: 'asc' | 'desc';
  /** UUID of the row after which the page begins. */
  readonly marker?: string;
};

/** Where the rows of a list come from. */
export type PageListed = {
  /** The table whose rows they are; it has `id` and `uuid`. */
  readonly table: string;
  /** The table, and others that conditions or columns need. */
  readonly from: Fragment;
  readonly columns: Fragment;
  /** What only the columns need, joined to the rows. */
  readonly beside?: Fragment;
  /** Rows that the caller may see: the marker must be one of them. */
  readonly visible: Fragment;
  /** Rows that are asked for, among those. */
  readonly wanted: Fragment;
};

/**
 * `limit` of a page. Where the store cannot read the number it plans for a tenth of the rows, and walks a whole table in
 * order for the few that a tenant has. Only round numbers are written out, for each is a statement of its own.
 */
const limitTo = (sql: Db, limit: number): Fragment =>
  limit % 100 === 0 ? sql`limit ${sql.unsafe(String(limit))}` : sql`limit ${limit}`;

/** Nulls come last going up and first going down, as they lie in an index, and `id` settles ties. */
const orderBy = (sql: Db, { table }: PageListed, { sort_key, sort_dir }: Page): Fragment => {
  const [column, id] = [sql(`${table}.${sort_key}`), sql(`${table}.id`)];
  if (sort_dir === 'asc') return sort_key === 'id' ? sql`order by ${id}` : sql`order by ${column}, ${id}`;
  return sort_key === 'id' ? sql`order by ${id} desc` : sql`order by ${column} desc, ${id} desc`;
};

/**
 * The rows that have a value and come after the marker, which is looked up in the same statement: nothing comes after one
 * that is not there, is hidden, or has no value itself. A comparison of pairs is a range of an index.
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

/** The stretches of the order that follow those rows: after a marker with a value come the nulls, or the nulls come first. */
const stretchesAfter = (sql: Db, { table }: PageListed, { sort_key, sort_dir }: Page, place: Place): Fragment[] => {
  const [column, id] = [sql(`${table}.${sort_key}`), sql(`${table}.id`)];
  if (sort_dir === 'asc')
    return place.empty ? [sql`${column} is null and ${id} > ${place.id}`] : [sql`${column} is null`];
  return place.empty ? [sql`${column} is null and ${id} < ${place.id}`, sql`${column} is not null`] : [];
};

/** Reads the rows of one stretch of the order, so many at most. @returns how many there were */
type ReadStretch = (stretch: Fragment, limit: number) => Promise<number>;

/**
 * A page, stretch by stretch: one, but for the end of what has values in the sort column.
 * Throws MarkerNotFound where the marker is not there or not to be seen.
 */
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

/** A list whose columns are an expression of one text. */
type LinesListed = PageListed & {
  /** The text holds documents, of which the table counts the bytes in `document_bytes`. */
  readonly withDocuments: boolean;
};

/** Bytes of documents. Each table has an index of the rows that have more, which is empty in most installations. */
const longDocuments = 32_768;

/** The expression of a line, which is null if the documents of the rows before it fill the page: those are never written. */
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

/** The answer of an aggregate of lines, as the bytes that came: the driver decodes none of it. */
type RawLines = readonly [lines: Buffer | null, count: Buffer, last: Buffer | null, cut: Buffer | null];

/** Of a page, unless its first row alone has more. Largest honest use: 1,000 nodes in detail are 3 MB. */
const mostPageBytes = 16 * 2 ** 20;

/**
 * The lines of a page as one text. Rows of a sorted query reach an aggregate in their order: PostgreSQL's documentation,
 * 9.21 Aggregate Functions. Throws MarkerNotFound.
 */
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
