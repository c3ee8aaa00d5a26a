/** Fields as the store writes them: a page comes as the bytes that are sent, and only what is masked, hidden or computed is read. */
import type { Line, LinePart } from '../../inventory/lines';
import { withoutBmc } from '../../model/access/bmc-texts';
import { maskDocument, maskSecrets } from '../../model/access/secrets';
import { columnOf, emptyValue, type FieldRow } from '../../model/resources/fields';
import type { Extra, RepresentedRow, Shown } from './shown';

/** A page that is read in passing: what of it stands in for which text. */
export type LineTexts = {
  readonly line: Line;
  /** The page as it is sent. @param atOnce bytes that become one text, where what is held allows it */
  readonly settle: (pieces: readonly Buffer[], shown: Shown, atOnce?: number) => readonly Buffer[];
};

type Parts = {
  readonly extras: Readonly<Record<string, Extra>>;
  /** Columns that a field is computed or hidden by. */
  readonly columnsFor: (field: FieldRow) => readonly string[];
  readonly minor: number;
  /** Nothing is hidden from the viewer. */
  readonly everything: boolean;
};

// JSON holds no control character as it is, so that these stand nowhere else. One letter behind the first names what is held.
const [before, after] = ['\u0001', '\u0002'] as const;
const held = new RegExp(`${before}(.)([^${after}]*)${after}`, 'gs');
const [beforeByte, afterByte] = [before.charCodeAt(0), after.charCodeAt(0)];
/** V8 takes no text of half a gibibyte, and PostgreSQL writes texts of a whole one. */
const mostAtOnce = 2 ** 26;
const ofRow = '!';
const firstOfField = 0x23; // behind `!` and `"`

/** What a held value is sent as: of its text, and of the row that it stands in. */
type Settle = (text: string, row: RepresentedRow, shown: Shown) => string;

type Compiled = {
  readonly parts: readonly LinePart[];
  /** Absent: the parts are what is sent. */
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

/** A field before anything hides it. */
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

/** The text of a field for a viewer from whom a rule may hide it; undefined if no rule does. */
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

/** A column that is masked or left as it is needs to be held only where it has something. */
const holding = (mark: string, { parts, needsRow }: Compiled): LinePart[] => {
  const [only] = parts;
  if (!needsRow && parts.length === 1 && only && 'column' in only)
    return [{ ...only, held: { before: `${before}${mark}`, after } }];
  return [{ text: `${before}${mark}` }, ...parts, { text: after }];
};

/** Constant texts that follow each other are one. */
const joined = (parts: readonly LinePart[]): LinePart[] => {
  const made: LinePart[] = [];
  for (const part of parts) {
    const last = made.at(-1);
    if ('text' in part && last && 'text' in last) made[made.length - 1] = { text: last.text + part.text };
    else made.push(part);
  }
  return made;
};

/** Fields, compiled to what the store writes of each row, and to what is done with what it holds. */
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

/** A piece in parts, each of which ends with something held: none is cut through. What follows the last of them is a part of its own. */
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
