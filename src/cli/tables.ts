/** Text output: tables, and server texts made safe for a terminal. */
import stringWidth from 'string-width';

// Text from a BMC or another user must not move the cursor or paint the screen.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const control = /[\u0000-\u001f\u007f-\u009f]+/g;
// Marks that change the direction of text: Unicode 16, Bidi_Control.
const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// JSON.stringify leaves these unescaped.
const marks = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const withoutMarks = (text: string): string => text.replace(control, ' ').replace(bidi, '');

/** Escapes of JSON, which the double-quoted texts of YAML share. */
export const escapeMarks = (text: string): string =>
  text.replace(marks, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const hasMarks = (text: string): boolean => text.search(marks) >= 0;

/** JSON whose texts cannot move a terminal's cursor or reverse its line. */
export const jsonText = (value: unknown, indent?: number): string => escapeMarks(JSON.stringify(value, null, indent));

/** One line of plain text; empty for null. */
export const plainText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return withoutMarks(typeof value === 'string' ? value : JSON.stringify(value)).trim();
};

// The same without tab and newline.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const controlInLines = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g;

/** Last guard of every output: lines and tabs stay, and the rest of what a terminal obeys is taken out. */
export const safeLines = (text: string): string => text.replace(controlInLines, ' ').replace(bidi, '');

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The longest beginning that fits, in columns of a terminal: a Chinese character takes two. */
const beginningWithin = (text: string, columns: number): string => {
  let [beginning, taken] = ['', 0];
  for (const { segment } of graphemes.segment(text)) {
    taken += stringWidth(segment);
    if (taken > columns) break;
    beginning += segment;
  }
  return beginning;
};

/** @param longest in columns of a terminal */
export const cut = (value: unknown, longest: number): string => {
  const text = plainText(value);
  return stringWidth(text) > longest ? `${beginningWithin(text, longest - 1)}…` : text;
};

const padded = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - stringWidth(text)));

// A shorter text is useless; a narrower terminal wraps the line.
const leastText = 20;

/** @param width of the terminal in characters: cuts the last column. Undefined cuts nothing. */
export const table = (
  headings: readonly string[],
  rows: readonly (readonly unknown[])[],
  width: number | undefined = undefined,
): string => {
  const cells = [headings, ...rows.map((row) => row.map(plainText))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))));
  const last = headings.length - 1;
  const before = widths.slice(0, last).reduce((sum, one) => sum + one + 2, 0);
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(leastText, width - before);
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === last ? cut(cell, room) : padded(cell, widths[column]!))).join('  ');
  return cells.map((row) => `${line(row).trimEnd()}\n`).join('');
};

/** A table, or a sentence if the list is empty. */
export type Listing<Row> = ((rows: readonly Row[], width?: number) => string) & {
  readonly headings: readonly string[];
  readonly cells: (row: Row, width?: number) => readonly unknown[];
};

/**
 * @param things in the plural: `freezes`
 * @param cells of a row. The width is that of a terminal; a file or a pipe has none and gets everything
 */
export const listing = <Row>(
  things: string,
  headings: readonly string[],
  cells: (row: Row, width?: number) => readonly unknown[],
): Listing<Row> => {
  const text = (rows: readonly Row[], width?: number): string =>
    rows.length === 0
      ? `No ${things}.\n`
      : table(
          headings,
          rows.map((row) => cells(row, width)),
          width,
        );
  return Object.assign(text, { headings, cells });
};

/** One fact per line, without empty values. */
export const sheet = (facts: Readonly<Record<string, unknown>>): string => {
  const rows = Object.entries(facts)
    .map(([name, value]) => [name, plainText(value)] as const)
    .filter(([, value]) => value !== '');
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${padded(name, width)}  ${value}\n`).join('');
};

export const keyLines = (record: object): string =>
  Object.entries(record)
    .map(([key, value]) => `${key}: ${plainText(value)}\n`)
    .join('');
