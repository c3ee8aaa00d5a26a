/** Lists as CSV (RFC 4180), for callers that accept it in place of JSON. */
import type { Answer, ApiRequest } from '../server/route';

export const csvType = 'text/csv';

export const wantsCsv = (request: Pick<ApiRequest, 'header'>): boolean =>
  request.header('accept')?.includes(csvType) === true;

// A spreadsheet would run a text that begins so as a formula: OWASP, CSV Injection.
const formula = /^[=+\-@\t\r]/;

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'string' && formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** @param next address of the next page */
export const csv = <Row extends object>(
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
  next?: string,
): Answer<never> => ({
  status: 200,
  text: [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((cells) => `${cells.map(cell).join(',')}\r\n`)
    .join(''),
  headers: {
    'Content-Type': `${csvType}; charset=utf-8; header=present`,
    ...(next !== undefined && { Link: `<${next}>; rel="next"` }),
  },
});
