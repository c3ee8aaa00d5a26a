/** Rows as CSV: a reader gets each text as it is, and a spreadsheet runs none of them. */
import { csv } from '../../src/api/resource/csv';

const text = (rows: readonly Record<string, unknown>[], columns: readonly string[]) => csv(columns, rows).text;

test('quotes, commas and line breaks are quoted, and what is missing is empty', () => {
  const row = {
    a: 'plain',
    b: 'x,y',
    c: 'say "hi"',
    d: 'two\nlines',
    e: null,
    f: undefined,
    g: 7,
    h: true,
    i: { k: 1 },
  };
  expect(text([row], Object.keys(row))).toBe(
    'a,b,c,d,e,f,g,h,i\r\nplain,"x,y","say ""hi""","two\nlines",,,7,true,"{""k"":1}"\r\n',
  );
});

test.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx'])('%j does not begin a formula', (value) => {
  expect(text([{ a: value }], ['a'])).toMatch(/^a\r\n"?'/);
});

test('numbers below zero stay numbers, and no rows are a heading', () => {
  expect(text([{ a: -5 }], ['a'])).toBe('a\r\n-5\r\n');
  expect(text([], ['a', 'b'])).toBe('a,b\r\n');
});

test('the next page is in a header', () => {
  expect(csv(['a'], [], 'http://api/x?marker=1').headers).toEqual({
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    Link: '<http://api/x?marker=1>; rel="next"',
  });
});
