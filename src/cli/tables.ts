/** Text for people: tables, and texts of a server made safe for a terminal. */

// Whatever a BMC or another user wrote must not move the cursor or paint the screen.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const control = /[\u0000-\u001f\u007f-\u009f]+/g;

/** A value as one line of plain text; nothing for null. */
export const plain = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return (typeof value === 'string' ? value : JSON.stringify(value)).replace(control, ' ').trim();
};

/** A plain text that is cut when it is longer. */
export const cut = (value: unknown, longest: number): string => {
  const text = plain(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
};

/** Rows under their headings, columns as wide as they must be; the last one is not padded. */
export const table = (headings: readonly string[], rows: readonly (readonly unknown[])[]): string => {
  const cells = [headings, ...rows.map((row) => row.map(plain))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
};

/** Names and values, one a line; those without a value are left out. */
export const sheet = (facts: Readonly<Record<string, unknown>>): string => {
  const rows = Object.entries(facts)
    .map(([name, value]) => [name, plain(value)] as const)
    .filter(([, value]) => value !== '');
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
};
