/** Text for people: tables, and texts of a server made safe for a terminal. */

// Whatever a BMC or another user wrote must not move the cursor or paint the screen.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const control = /[\u0000-\u001f\u007f-\u009f]+/g;
// Marks that turn the direction of what follows: Unicode 16, Bidi_Control.
const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const unsafeInJson = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** JSON of the same meaning in which no text moves the cursor of a terminal, or turns its line around. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    unsafeInJson,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** A value as one line of plain text; nothing for null. */
export const plainText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return (typeof value === 'string' ? value : JSON.stringify(value)).replace(control, ' ').replace(bidi, '').trim();
};

/** A plain text that is cut when it is longer. */
export const cut = (value: unknown, longest: number): string => {
  const text = plainText(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
};

// Less of a text says nothing any more; a narrower terminal breaks the line itself.
const leastText = 20;

/**
 * Rows under their headings, columns as wide as they must be; the last one is not padded.
 * @param width of the terminal in characters: what does not fit is cut off the last column. Undefined leaves all as it is.
 */
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

/** What a list of things is printed as: a table, or a sentence where there are none. */
export type Listing<Row> = (rows: readonly Row[], width?: number) => string;

/** @param things in the plural: `freezes` */
export const listing =
  <Row>(things: string, headings: readonly string[], cells: (row: Row) => readonly unknown[]): Listing<Row> =>
  (rows, width) =>
    rows.length === 0 ? `No ${things}.\n` : table(headings, rows.map(cells), width);

/** Names and values, one a line; those without a value are left out. */
export const sheet = (facts: Readonly<Record<string, unknown>>): string => {
  const rows = Object.entries(facts)
    .map(([name, value]) => [name, plainText(value)] as const)
    .filter(([, value]) => value !== '');
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
};

/** Every key of a record with its value, one a line; a key without a value stands alone. */
export const keyLines = (record: object): string =>
  Object.entries(record)
    .map(([key, value]) => `${key}: ${plainText(value)}\n`)
    .join('');
