/** Rows of a list as the store writes them: one JSON text for a whole page, of which the API parses nothing. */
import type { PendingQuery, Row } from 'postgres';
import type { Db } from './database';

/** How a column becomes JSON: as PostgreSQL prints it (`jsonb` documents, numbers, texts inside our quotes), or as JSON or the API writes it. */
type ColumnAs = 'document' | 'printed' | 'time' | 'value';

/**
 * A part of a row's text. `text` is written as it is; `base` is what the request's links begin with.
 * `held` stands around a value that is neither null nor an empty document, for the reader to find it by.
 */
export type LinePart =
  | { readonly text: string }
  | { readonly base: true }
  | {
      readonly column: string;
      readonly as: ColumnAs;
      /** JSON of a null. */
      readonly empty: string;
      readonly held?: { readonly before: string; readonly after: string };
    }
  /** A JSON list of values. */
  | { readonly columns: readonly string[] };

/** What each row of a list is written as. Made once for its fields, and then the same object. */
export type Line = { readonly parts: readonly LinePart[] };

/** The columns that a line reads. */
export const columnsOfLine = ({ parts }: Line): string[] =>
  parts.flatMap((part) => ('columns' in part ? part.columns : 'column' in part ? [part.column] : []));

/** What a page of lines is: their text, separated by commas, in pieces that follow each other. */
export type LinesPage = {
  readonly pieces: readonly Buffer[];
  readonly count: number;
  /** UUID of the last. */
  readonly last: string | undefined;
  /** It ends before its limit, because its rows are long. */
  readonly cut: boolean;
};

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

// Milliseconds, written as microseconds, and only where there are any.
const timeText = (from: string): string =>
  `replace(to_char(${from} at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"000+00:00"\\"'), '.000000', '')`;

const valueText = (from: string, as: ColumnAs): string => {
  if (as === 'printed' || as === 'document') return `${from}::text`;
  return as === 'time' ? timeText(from) : `to_json(${from})::text`;
};

const partText = (part: LinePart, of: (column: string) => string): string => {
  if ('text' in part) return literal(part.text);
  if ('base' in part) return 'given.base';
  if ('columns' in part) return `json_build_array(${part.columns.map(of).join(',')})::text`;
  const { column, as, empty, held } = part;
  const from = of(column);
  if (!held) return `coalesce(${valueText(from, as)}, ${literal(empty)})`;
  const whole = `concat(${literal(held.before)}, ${valueText(from, as)}, ${literal(held.after)})`;
  const plain = as === 'document' ? `when ${from} = '{}' then '{}' ` : '';
  return `case when ${from} is null then ${literal(empty)} ${plain}else ${whole} end`;
};

/** PostgreSQL's functions take a hundred arguments at most. */
const mostArguments = 90;

const together = (texts: readonly string[]): string => {
  if (texts.length <= mostArguments) return `concat(${texts.join(', ')})`;
  const groups = Array.from({ length: Math.ceil(texts.length / mostArguments) }, (_, at) =>
    together(texts.slice(at * mostArguments, (at + 1) * mostArguments)),
  );
  return together(groups);
};

const rendered = new WeakMap<Line, string>();

/**
 * The expression of a line, whose statement has `givenBase` among its sources.
 * @param of the expression behind a column; the same for a line whenever it is asked
 */
export const lineText = (line: Line, of: (column: string) => string): string => {
  const known = rendered.get(line);
  if (known !== undefined) return known;
  const made = together(line.parts.map((part) => partText(part, of)));
  rendered.set(line, made);
  return made;
};

/** Whether a line holds documents, which may be long. */
export const hasDocuments = ({ parts }: Line): boolean =>
  parts.some((part) => 'column' in part && part.as === 'document');

/** The source of `base`: one row, so that a long line names the parameter once. @param base as it stands within a JSON text */
export const givenBase = (sql: Db, base: string): PendingQuery<Row[]> =>
  sql`cross join (select ${base}::text as base) given`;
