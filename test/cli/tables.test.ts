/** Texts of others on a terminal: they move no cursor and turn no line around, in tables and in JSON. */
import { cut, jsonText, plainText, safeLines, sheet, table } from '../../src/cli/tables';

const turning = ['\u202e', '\u202a', '\u2066', '\u2069', '\u200e', '\u200f', '\u061c'];
const moving = ['\u009b2J', '\u0085', '\u007f', '\u001b[2J'];

test.each([...turning, ...moving])('a table has none of %j', (mark) => {
  const text = table(['Name', 'Why'], [['n-1', `the ${mark}reason`]]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
});

test('a text in a script that is written from the right stays as it is', () => {
  expect(plainText('שלום \u202eabc')).toBe('שלום abc');
});

test.each([...turning, ...moving])('JSON has %j escaped, and means the same', (mark) => {
  const value = { reason: `the ${mark}reason`, [`${mark}key`]: ['Zürich'] };
  for (const indent of [undefined, 2]) {
    const text = jsonText(value, indent);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
    expect(JSON.parse(text)).toEqual(value);
  }
  expect(jsonText({ name: 'Zürich' })).toBe('{"name":"Zürich"}');
});

test('wide characters take two columns, and those that join the one before take none', () => {
  const lines = table(
    ['NODE', 'WHY'],
    [
      ['東京データ', 'x'],
      ['e\u0301-1', 'x'],
      ['🇩🇪-1', 'x'],
      ['n', 'x'],
    ],
  );
  expect(lines).toBe('NODE        WHY\n東京データ  x\ne\u0301-1         x\n🇩🇪-1        x\nn           x\n');
  expect(sheet({ 東京: 1, 'a-name': 2 })).toBe('東京    1\na-name  2\n');
});

test('a text is cut by columns, between characters', () => {
  expect(cut('東京データ', 7)).toBe('東京デ…');
  expect(cut('東京データ', 6)).toBe('東京…');
  expect(cut('東京データ', 10)).toBe('東京データ');
  expect(cut('ab👨‍👩‍👧cd', 5)).toBe('ab👨‍👩‍👧…');
  expect(cut('😀😀', 3)).toBe('😀…');
});

test('the last guard leaves lines and tabs, and nothing else that a terminal obeys', () => {
  expect(safeLines('a\tb\nc\u001b[2J\r\u202ed\u009b')).toBe('a\tb\nc [2J d ');
});
