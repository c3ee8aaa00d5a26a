/** Files of rows: all pages, or an end that says that more rows follow. */
import { type SheetParts, sheetRows, sheetTexts } from '../../src/console/server/sheets';

/** A list of so many pages. */
const pages =
  (count: number): SheetParts =>
  async (marker = '1') => ({
    text: `page ${marker}\n`,
    next: Number(marker) < count ? String(Number(marker) + 1) : undefined,
  });

const fileOf = async (count: number, type: 'csv' | 'json', most = 3 * sheetRows): Promise<string> => {
  const parts = pages(count);
  let text = '';
  for await (const piece of sheetTexts(await parts(undefined, true), { name: 'x', type, parts, most })) text += piece;
  return text;
};

test('a file has all pages', async () => {
  expect(await fileOf(3, 'csv')).toBe('page 1\npage 2\npage 3\n');
  expect(await fileOf(1, 'json')).toBe('page 1\n\n]}\n');
});

test('a longer selection ends with a word about it', async () => {
  expect(await fileOf(4, 'csv')).toBe('page 1\npage 2\npage 3\nMore rows follow. Choose fewer.\r\n');
  expect(await fileOf(4, 'json')).toMatch(/page 3\n\n\], "cut": true\}\n$/);
});
