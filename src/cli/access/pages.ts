/** Paged lists of the API: one page, and a notice if more rows follow. */
import type { Command } from 'commander';
import { ownPage } from '../../model/resources/own-lists';
import type { Context } from '../context';
import { CliFault } from '../faults';
import { plainText } from '../tables';
import { queryText } from './query';

export type PageOptions = { readonly limit?: string; readonly marker?: string };

export type PagedList<Row> = {
  readonly path: string;
  /** Key of the rows in the response. */
  readonly rows: string;
  /** Marker of the page that follows this row. */
  marker(row: Row): string | number;
};

type Query = PageOptions & Readonly<Record<string, string | undefined>>;

const limitHelp = `at most so many, 1 to ${ownPage.most}; ${ownPage.unasked} when absent`;

export const limitOption = (command: Command): Command => command.option('--limit <number>', limitHelp);

export const pageOptions = (command: Command, row: string): Command =>
  limitOption(command).option(`--marker <${row}>`, `the page that follows this ${row}`);

const pathWith = (path: string, query: Query): string => {
  const asked = queryText(query);
  return asked === '' ? path : `${path}?${asked}`;
};

export const isFull = (rows: readonly unknown[], { limit }: PageOptions): boolean =>
  rows.length > 0 && rows.length >= Number(limit ?? ownPage.unasked);

const rowsOf = <Row>(answer: unknown, { rows }: Pick<PagedList<Row>, 'rows'>): readonly Row[] =>
  (answer as Readonly<Record<string, readonly Row[]>>)[rows]!;

/** Returns undefined on the last page. */
const nextOf = async <Row>(
  { api }: Pick<Context, 'api'>,
  list: PagedList<Row>,
  query: Query,
  rows: readonly Row[],
): Promise<string | undefined> => {
  if (!isFull(rows, query)) return undefined;
  const marker = String(list.marker(rows.at(-1)!));
  try {
    const following = await api.send('GET', pathWith(list.path, { ...query, limit: '1', marker }));
    return rowsOf(following, list).length > 0 ? marker : undefined;
  } catch (thrown) {
    // The page itself was read, and more rows may follow.
    if (thrown instanceof CliFault) return marker;
    throw thrown;
  }
};

/** The notice of more rows goes to stderr, to keep a script's input clean. */
export const printPage = async <Row>(
  context: Context,
  list: PagedList<Row>,
  query: Query,
  textOf: (rows: readonly Row[], width?: number) => string,
): Promise<void> => {
  const answer = (await context.api.send('GET', pathWith(list.path, query))) as object;
  const rows = rowsOf<Row>(answer, list);
  context.print(answer, () => textOf(rows, context.width));
  const marker = await nextOf(context, list, query, rows);
  if (marker !== undefined)
    context.deps.err(
      `temper: These are ${rows.length} and not all: more follow, with --marker ${plainText(marker)}.\n`,
    );
};

export const everyRow = async <Row>({ api }: Pick<Context, 'api'>, list: PagedList<Row>): Promise<readonly Row[]> => {
  const all: Row[] = [];
  for (let marker: string | undefined, full = true; full; ) {
    const query = { limit: String(ownPage.most), marker };
    const rows = rowsOf<Row>(await api.send('GET', pathWith(list.path, query)), list);
    all.push(...rows);
    full = isFull(rows, query);
    if (full) marker = String(list.marker(rows.at(-1)!));
  }
  return all;
};
