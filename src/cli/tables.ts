/** Text output: tables, and server texts made safe for a terminal. */

// Text from a BMC or another user must not move the cursor or paint the screen.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const control = /[\u0000-\u001f\u007f-\u009f]+/g;
// Marks that change the direction of text: Unicode 16, Bidi_Control.
const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const unsafeInJson = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** JSON whose texts cannot move a terminal's cursor or reverse its line. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    unsafeInJson,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** One line of plain text; empty for null. */
export const plainText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return (typeof value === 'string' ? value : JSON.stringify(value)).replace(control, ' ').replace(bidi, '').trim();
};

export const cut = (value: unknown, longest: number): string => {
  const text = plainText(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
};

// A shorter text is useless; a narrower terminal wraps the line.
const leastText = 20;

/** @param width of the terminal in characters: cuts the last column. Undefined cuts nothing. */
export const table = (
  headings: readonly string[],
  rows: readonly (readonly unknown[])[],
  width: number | undefined = undefined,
): string => {
  const cells = [headings, ...rows.map((row) => row.map(plainText))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const last = headings.length - 1;
  const before = widths.slice(0, last).reduce((sum, one) => sum + one + 2, 0);
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(leastText, width - before);
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === last ? cut(cell, room) : cell.padEnd(widths[column]!))).join('  ');
  return cells.map((row) => `${line(row).trimEnd()}\n`).join('');
};

/** A table, or a sentence if the list is empty. */
export type Listing<Row> = (rows: readonly Row[], width?: number) => string;

/** @param things in the plural: `freezes` */
export const listing =
  <Row>(things: string, headings: readonly string[], cells: (row: Row) => readonly unknown[]): Listing<Row> =>
  (rows, width) =>
    rows.length === 0 ? `No ${things}.\n` : table(headings, rows.map(cells), width);

/** One fact per line, without empty values. */
export const sheet = (facts: Readonly<Record<string, unknown>>): string => {
  const rows = Object.entries(facts)
    .map(([name, value]) => [name, plainText(value)] as const)
    .filter(([, value]) => value !== '');
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
};

export const keyLines = (record: object): string =>
  Object.entries(record)
    .map(([key, value]) => `${key}: ${plainText(value)}\n`)
    .join('');
