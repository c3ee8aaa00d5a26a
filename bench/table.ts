/** Figures as text: tables with even columns, and as many digits as are worth reading. */

/** Rows as a table; the first column to the left, the others to the right. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row.map((text, column) => (column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]!))).join('  ');
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
};

export const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
export const rate = (value: number): string => (value < 100 ? value.toFixed(1) : value.toFixed(0));
export const cpu = (value: number | null): string => (value === null ? '-' : value.toFixed(2));
export const amount = (value: number | null): string => (value === null ? '-' : value.toFixed(0));
