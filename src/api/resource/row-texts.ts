/** Writes rows of a list as JSON text: what needs no masking passes from the store to the wire without being parsed. */

import type { ListColumn } from '../../inventory/pages';
import { withoutBmc } from '../../model/access/bmc-texts';
import { maskDocument, maskSecrets } from '../../model/access/secrets';
import { columnOf, emptyValue, type FieldRow } from '../../model/resources/fields';
import type { Extra, RepresentedRow, Shown } from './shown';

/** The columns to read, and what makes the text of an object of their values. */
export type RowTexts = {
  readonly columns: readonly ListColumn[];
  readonly write: (values: readonly unknown[], shown: Shown) => string;
};

/** A field's value as JSON text. `row` holds the columns that are read parsed. */
type Writer = (values: readonly unknown[], row: RepresentedRow, shown: Shown) => string;

/** Whatever JSON.stringify would make something else of than the text between quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

const quoted = (text: string): string => (escaped.test(text) ? JSON.stringify(text) : `"${text}"`);

/** A value as JSON text; undefined as null. */
export const encoded = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
};

/** Rows that follow each other often have the same value: it is encoded once. */
const remembering = (encode: (value: unknown) => string): ((value: unknown) => string) => {
  let [last, text]: [unknown, string] = [null, encode(null)];
  return (value) => {
    if (value === last) return text;
    if (typeof value === 'object' && value !== null) return encode(value);
    text = encode(value);
    last = value;
    return text;
  };
};

/** `2026-11-22 10:11:12.123456` as the wire has it: milliseconds, where there are any. */
const wireTime = (utc: unknown): string => {
  if (typeof utc !== 'string') return 'null';
  const whole = `"${utc.slice(0, 10)}T${utc.slice(11, 19)}`;
  const millis = utc.slice(20, 23).padEnd(3, '0');
  return millis === '000' ? `${whole}+00:00"` : `${whole}.${millis}000+00:00"`;
};

const holdsDocument = ({ type }: FieldRow): boolean => type === 'object' || type === 'list';

/** How a column is read that no extra looks at. */
const asRead = (field: FieldRow): ListColumn => {
  const column = columnOf(field)!;
  if (holdsDocument(field)) return { column, as: 'json' };
  return field.type === 'timestamp' ? { column, as: 'utc' } : column;
};

const columnEncoder = (field: FieldRow): ((value: unknown) => string) => {
  const empty = JSON.stringify(emptyValue({ ...field, default: undefined }));
  if (holdsDocument(field)) {
    const text = (value: unknown): string => (value === null ? empty : (value as string));
    return field.secret ? (value) => maskDocument(text(value)) : text;
  }
  if (field.type === 'timestamp') return remembering(wireTime);
  const encode = (value: unknown): string => (value === null ? empty : encoded(value));
  return field.secret ? (value) => encode(maskSecrets(value)) : remembering(encode);
};

const extraWriter = (field: FieldRow, extra: Extra, minor: number): Writer => {
  const { text } = extra;
  if (text) return (_values, row, shown) => text(row, shown);
  const encode = remembering(encoded);
  return field.secret
    ? (_values, row, shown) => encode(maskSecrets(extra(row, shown, minor)))
    : (_values, row, shown) => encode(extra(row, shown, minor));
};

/** What the rule that hides a field makes of its text; undefined where no rule does. */
export const guardedText = (
  field: FieldRow,
): ((text: () => string, row: RepresentedRow, shown: Shown) => string) | undefined => {
  if (field.withoutBmc) {
    const { rule } = field.withoutBmc;
    return (plain, row, shown) => {
      const text = plain();
      return text !== 'null' && shown.hides?.(rule, row) ? encoded(withoutBmc(JSON.parse(text))) : text;
    };
  }
  if (!field.redact) return undefined;
  const { rule, shown: instead } = field.redact;
  const text = JSON.stringify(instead);
  return (plain, row, shown) => (shown.hides?.(rule, row) ? text : plain());
};

/** The writer of a field, behind the rule that hides it. */
const guarded = (field: FieldRow, plain: Writer): Writer => {
  const guard = guardedText(field);
  return guard ? (values, row, shown) => guard(() => plain(values, row, shown), row, shown) : plain;
};

type Parts = {
  readonly extras: Readonly<Record<string, Extra>>;
  /** Columns to read parsed: those that extras and rules look at. */
  readonly parsed: readonly string[];
  readonly minor: number;
};

/** Fields, compiled: what each is written as, in their order. */
export const compileTexts = (fields: readonly FieldRow[], { extras, parsed, minor }: Parts): RowTexts => {
  const inRow = new Set(parsed);
  const columns: ListColumn[] = [...inRow];
  const places = new Map<string, number>();
  const placeOf = (field: FieldRow): number => {
    const read = asRead(field);
    const key = JSON.stringify(read);
    const known = places.get(key) ?? (typeof read === 'string' && inRow.has(read) ? columns.indexOf(read) : undefined);
    const place = known ?? columns.push(read) - 1;
    places.set(key, place);
    return place;
  };
  const writerOf = (field: FieldRow): Writer => {
    const extra = extras[field.name];
    if (extra) return extraWriter(field, extra, minor);
    const [place, encode] = [placeOf(field), columnEncoder(field)];
    return (values) => encode(values[place]);
  };
  const writers = fields.map((field) => guarded(field, writerOf(field)));
  const names = fields.map(({ name }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const rowOf = (values: readonly unknown[]): RepresentedRow => {
    const row: Record<string, unknown> = {};
    parsed.forEach((name, at) => {
      row[name] = values[at];
    });
    return row;
  };
  return {
    columns,
    write: (values, shown) => {
      const row = rowOf(values);
      let text = '';
      for (let at = 0; at < writers.length; at++) text += names[at]! + writers[at]!(values, row, shown);
      return `${text}}`;
    },
  };
};
