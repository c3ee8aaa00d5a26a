/** Texts of others on a terminal: they move no cursor and turn no line around, in tables and in JSON. */
import { jsonText, plainText, table } from '../../src/cli/tables';

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
