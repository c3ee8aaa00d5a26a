/** Paged lists of the API: one page, and a notice if more rows follow. */
import type { Command } from 'commander';
import { ownPage } from '../../model/resources/own-lists';
import type { Context } from '../context';
import { withFormats } from '../formats';
import { type Listing, plainText } from '../tables';
import { queryText } from './query';

export type PageOptions = { readonly limit?: string; readonly marker?: string };

export type PagedList = {
  readonly path: string;
  /** Key of the rows in the response. */
  readonly rows: string;
};

type Query = PageOptions & Readonly<Record<string, string | undefined>>;

const limitHelp = `at most so many, 1 to ${ownPage.most}; ${ownPage.unasked} when absent`;

export const pageOptions = (command: Command, row: string): Command =>
  withFormats(command)
    .option('--limit <number>', limitHelp)
    .option(`--marker <${row}>`, `the page that follows this ${row}`);

const pathWith = (path: string, query: Query): string => {
  const asked = queryText(query);
  return asked === '' ? path : `${path}?${asked}`;
};

const rowsOf = <Row>(answer: unknown, { rows }: PagedList): readonly Row[] =>
  (answer as Readonly<Record<string, readonly Row[]>>)[rows]!;

/** Undefined on the last page. */
const nextOf = (answer: unknown): string | undefined => {
  const { next } = answer as { readonly next?: string };
  return next === undefined ? undefined : (new URL(next).searchParams.get('marker') ?? undefined);
};

/** Goes to stderr, to keep a script's input clean. */
export const noteFurtherRows = ({ deps }: Pick<Context, 'deps'>, answer: unknown, shown: number): void => {
  const marker = nextOf(answer);
  if (marker !== undefined)
    deps.err(`temper: These are ${shown} and not all: more follow, with --marker ${plainText(marker)}.\n`);
};

export const printPage = async <Row>(
  context: Context,
  list: PagedList,
  query: Query,
  listing: Listing<Row>,
): Promise<void> => {
  const answer = (await context.api.send('GET', pathWith(list.path, query))) as object;
  const rows = rowsOf<Row>(answer, list);
  context.printRows(answer, rows, listing);
  noteFurtherRows(context, answer, rows.length);
};

export const everyRow = async <Row>({ api }: Pick<Context, 'api'>, list: PagedList): Promise<readonly Row[]> => {
  const all: Row[] = [];
  let marker: string | undefined;
  do {
    const answer = await api.send('GET', pathWith(list.path, { limit: String(ownPage.most), marker }));
    all.push(...rowsOf<Row>(answer, list));
    marker = nextOf(answer);
  } while (marker !== undefined);
  return all;
};
