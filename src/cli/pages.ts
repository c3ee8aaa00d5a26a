/** Lists that the API answers a page at a time: the page that was asked for, and a word where more follow. */
import type { Command } from 'commander';
import { ownPage } from '../model/resources/own-lists';
import type { Context } from './context';
import { CliFault } from './faults';
import { queryText } from './query';
import { plainText } from './tables';

/** Options that say which page. */
export type PageOptions = { readonly limit?: string; readonly marker?: string };

export type PagedList<Row> = {
  readonly path: string;
  /** The key of the answer that holds the rows. */
  readonly rows: string;
  /** By what a request for the page behind a row names it. */
  marker(row: Row): string | number;
};

type Query = PageOptions & Readonly<Record<string, string | undefined>>;

const limitHelp = `at most so many, 1 to ${ownPage.most}; ${ownPage.unasked} when absent`;

export const limitOption = (command: Command): Command => command.option('--limit <number>', limitHelp);

/** @param row what a row is in the list: `run` */
export const pageOptions = (command: Command, row: string): Command =>
  limitOption(command).option(`--marker <${row}>`, `the page that follows this ${row}`);

const pathWith = (path: string, query: Query): string => {
  const asked = queryText(query);
  return asked === '' ? path : `${path}?${asked}`;
};

/** Whether a page has all the rows that it may have. */
export const isFull = (rows: readonly unknown[], { limit }: PageOptions): boolean =>
  rows.length > 0 && rows.length >= Number(limit ?? ownPage.unasked);

const rowsOf = <Row>(answer: unknown, { rows }: Pick<PagedList<Row>, 'rows'>): readonly Row[] =>
  (answer as Readonly<Record<string, readonly Row[]>>)[rows]!;

/** The marker of the page that follows these rows; undefined where nothing follows. */
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
    // The page itself was answered; what could not be asked may be so.
    if (thrown instanceof CliFault) return marker;
    throw thrown;
  }
};

/**
 * Prints a page of a list, and where more rows follow says so on stderr, which a script's output stays clear of.
 * @param textOf makes the rows a text for people
 */
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

/** All rows of a list, for what is looked for in them. */
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
