/** List pages as JSON that PostgreSQL writes. The API parses only masked, hidden and computed fields. */
import type { Line, LinePart } from '../../inventory/lines';
import { withoutBmc } from '../../model/access/bmc-texts';
import { maskDocument, maskSecrets } from '../../model/access/secrets';
import { columnOf, emptyValue, type FieldRow } from '../../model/resources/fields';
import type { Extra, RepresentedRow, Shown } from './shown';

/** A line for PostgreSQL, and the function that replaces its held values. */
export type LineTexts = {
  readonly line: Line;
  /** The page to send. @param atOnce maximum bytes per decoded text, unless one held value is longer */
  readonly settle: (pieces: readonly Buffer[], shown: Shown, atOnce?: number) => readonly Buffer[];
};

type Parts = {
  readonly extras: Readonly<Record<string, Extra>>;
  /** Columns that a field is computed from or hidden by. */
  readonly columnsFor: (field: FieldRow) => readonly string[];
  readonly minor: number;
  /** Nothing is hidden from the viewer. */
  readonly everything: boolean;
};

// JSON never contains a raw control character, so these delimit held values. The letter after the first identifies the field.
const [before, after] = ['\u0001', '\u0002'] as const;
const held = new RegExp(`${before}(.)([^${after}]*)${after}`, 'gs');
const [beforeByte, afterByte] = [before.charCodeAt(0), after.charCodeAt(0)];
/** V8 strings end below half a gibibyte; PostgreSQL writes texts up to one. */
const mostAtOnce = 2 ** 26;
const ofRow = '!';
const firstOfField = 0x23; // after `!` and `"`

/** The text that replaces a held value, from its text and its row. */
type Settle = (text: string, row: RepresentedRow, shown: Shown) => string;

type Compiled = {
  readonly parts: readonly LinePart[];
  /** Absent: the parts are sent unchanged. */
  readonly settle?: Settle;
  readonly needsRow?: true;
};

const isDocument = ({ type }: FieldRow): boolean => type === 'object' || type === 'list';

const columnPart = (field: FieldRow): LinePart & { readonly column: string } => {
  const column = columnOf(field)!;
  const empty = JSON.stringify(emptyValue({ ...field, default: undefined }));
  if (isDocument(field)) return { column, as: 'document', empty };
  if (field.type === 'boolean' || field.type === 'integer') return { column, as: 'printed', empty };
  return { column, as: field.type === 'timestamp' ? 'time' : 'value', empty };
};

const encoded = (value: unknown): string => JSON.stringify(value ?? null);

const maskedText = (text: string): string => encoded(maskSecrets(JSON.parse(text)));

/** A field before redaction. */
const shownText = (field: FieldRow, { extras, minor, everything }: Parts): Compiled => {
  const extra = extras[field.name];
  if (!extra) {
    const mask = isDocument(field) ? maskDocument : maskedText;
    return { parts: [columnPart(field)], ...(field.secret && { settle: mask }) };
  }
  const parts = extra.line?.({ minor, everything });
  if (parts) return { parts, ...(field.secret && { settle: maskedText }) };
  const value = (row: RepresentedRow, shown: Shown): unknown => extra(row, shown, minor);
  const settle: Settle = (_text, row, shown) =>
    encoded(field.secret ? maskSecrets(value(row, shown)) : value(row, shown));
  return { parts: [], settle, needsRow: true };
};

const asWritten: Settle = (text) => text;

/** The field's redaction for viewers from whom a rule may hide it; undefined without such a rule. */
const guardOf = (field: FieldRow): ((plain: Settle) => Settle) | undefined => {
  if (field.withoutBmc) {
    const { rule } = field.withoutBmc;
    return (plain) => (given, row, shown) => {
      const text = plain(given, row, shown);
      return text !== 'null' && shown.hides?.(rule, row) ? encoded(withoutBmc(JSON.parse(text))) : text;
    };
  }
  if (!field.redact) return undefined;
  const { rule, shown: instead } = field.redact;
  const text = JSON.stringify(instead);
  return (plain) => (given, row, shown) => (shown.hides?.(rule, row) ? text : plain(given, row, shown));
};

const compileField = (field: FieldRow, given: Parts): Compiled => {
  const plain = shownText(field, given);
  const guard = given.everything ? undefined : guardOf(field);
  if (!guard) return plain;
  return { parts: plain.parts, settle: guard(plain.settle ?? asWritten), needsRow: true };
};

/** A column that needs no row is held only if it has a value. */
const holding = (mark: string, { parts, needsRow }: Compiled): LinePart[] => {
  const [only] = parts;
  if (!needsRow && parts.length === 1 && only && 'column' in only)
    return [{ ...only, held: { before: `${before}${mark}`, after } }];
  return [{ text: `${before}${mark}` }, ...parts, { text: after }];
};

/** Merges adjacent constant texts. */
const joined = (parts: readonly LinePart[]): LinePart[] => {
  const made: LinePart[] = [];
  for (const part of parts) {
    const last = made.at(-1);
    if ('text' in part && last && 'text' in last) made[made.length - 1] = { text: last.text + part.text };
    else made.push(part);
  }
  return made;
};

/** Compiles fields to the line that PostgreSQL writes and to the replacement of its held values. */
export const compileLine = (fields: readonly FieldRow[], given: Parts): LineTexts => {
  const settlers = new Map<string, Settle>();
  const needed = new Set<string>();
  const parts = fields.flatMap((field, at): LinePart[] => {
    const name = { text: `${at === 0 ? '{' : ','}${JSON.stringify(field.name)}:` };
    const compiled = compileField(field, given);
    if (!compiled.settle) return [name, ...compiled.parts];
    if (compiled.needsRow) for (const column of given.columnsFor(field)) needed.add(column);
    const mark = String.fromCharCode(firstOfField + settlers.size);
    settlers.set(mark, compiled.settle);
    return [name, ...holding(mark, compiled)];
  });
  const columns = [...needed];
  const row: LinePart[] = columns.length === 0 ? [] : [{ text: `${before}${ofRow}` }, { columns }, { text: after }];
  const line: Line = { parts: joined([...row, ...parts, { text: '}' }]) };
  return { line, settle: settling(columns, settlers) };
};

/** Splits a piece at ends of held values, so none is cut. The rest after the last one is one part. */
const partsOf = (piece: Buffer, atOnce: number): Buffer[] => {
  const parts: Buffer[] = [];
  let at = 0;
  while (piece.length - at > atOnce) {
    const near = piece.lastIndexOf(afterByte, at + atOnce);
    const end = near >= at ? near : piece.indexOf(afterByte, at + atOnce);
    if (end < 0) break;
    parts.push(piece.subarray(at, end + 1));
    at = end + 1;
  }
  return [...parts, piece.subarray(at)];
};

const settling = (columns: readonly string[], settlers: ReadonlyMap<string, Settle>): LineTexts['settle'] => {
  const rowOf = (text: string): RepresentedRow => {
    const values = JSON.parse(text) as unknown[];
    return Object.fromEntries(columns.map((name, at) => [name, values[at]]));
  };
  return (pieces, shown, atOnce = mostAtOnce) => {
    const holds = (piece: Buffer): boolean => piece.includes(beforeByte);
    if (settlers.size === 0 || !pieces.some(holds)) return pieces;
    let row: RepresentedRow = {};
    const parts = pieces.flatMap((piece) => partsOf(piece, atOnce));
    return parts.map((piece) => {
      if (!holds(piece)) return piece;
      const text = piece.toString().replace(held, (_all, mark: string, value: string) => {
        if (mark !== ofRow) return settlers.get(mark)!(value, row, shown);
        row = rowOf(value);
        return '';
      });
      return Buffer.from(text);
    });
  };
};
