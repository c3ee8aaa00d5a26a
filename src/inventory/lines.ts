/** Lists as JSON text that PostgreSQL writes and the API does not parse. */
import type { Db, Fragment } from './database';

/** `document`, `printed`: PostgreSQL's text (`jsonb`, numbers, texts inside our quotes). `time`: the API's format. `value`: to_json. */
type ColumnAs = 'document' | 'printed' | 'time' | 'value';

/**
 * `base` is the beginning of the request's links. `held` marks a value that is neither null nor an empty document, so that the reader finds
 * it.
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
  | { readonly columns: readonly string[] };

/** One object per set of fields: its SQL is cached by identity. */
export type Line = { readonly parts: readonly LinePart[] };

export const columnsOfLine = ({ parts }: Line): string[] =>
  parts.flatMap((part) => ('columns' in part ? part.columns : 'column' in part ? [part.column] : []));

/** Text of the rows in consecutive pieces, with commas between rows. */
export type LinesPage = {
  readonly pieces: readonly Buffer[];
  readonly count: number;
  readonly last: string | undefined;
  /** The page ends before its limit, because its rows are long. */
  readonly cut: boolean;
};

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

// Milliseconds, written as microseconds, and left out if zero.
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

/** PostgreSQL's limit is 100 arguments per function. */
const mostArguments = 90;

const joinTexts = (texts: readonly string[]): string => {
  if (texts.length <= mostArguments) return `concat(${texts.join(', ')})`;
  const groups = Array.from({ length: Math.ceil(texts.length / mostArguments) }, (_, at) =>
    joinTexts(texts.slice(at * mostArguments, (at + 1) * mostArguments)),
  );
  return joinTexts(groups);
};

const rendered = new WeakMap<Line, string>();

/** The statement needs `givenBase` among its sources. @param of SQL of a column; always the same for a line */
export const lineText = (line: Line, of: (column: string) => string): string => {
  const known = rendered.get(line);
  if (known !== undefined) return known;
  const made = joinTexts(line.parts.map((part) => partText(part, of)));
  rendered.set(line, made);
  return made;
};

/** Documents may be long. */
export const hasDocuments = ({ parts }: Line): boolean =>
  parts.some((part) => 'column' in part && part.as === 'document');

/** One row, so that a long line has the parameter once. @param base already escaped for JSON */
export const givenBase = (sql: Db, base: string): Fragment => sql`cross join (select ${base}::text as base) given`;
