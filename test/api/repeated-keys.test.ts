/** Keys that come twice in one object: found wherever they are, and never where they are not. */
import fc from 'fast-check';
import { maxDepth, maxValues, parseBody } from '../../src/api/body/body';
import { repeatedKey } from '../../src/api/body/repeated-keys';

const parse = (text: string) => parseBody(Buffer.from(text), { depth: maxDepth, values: maxValues }, 'storable');

test.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"a":{"b":1,"c":[{"d":1,"d":1}]}}', 'd'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"":1,"":2}', ''],
  ['[{"a":1},{"a":1,"b":2,"b":3}]', 'b'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
])('%s', (text, key) => {
  expect(repeatedKey(text)).toBe(key);
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ code: 'InvalidInput', facts: expect.objectContaining({ field: key }) }),
  );
});

test.each(['{"__proto__":1}', '{"a":[{"__proto__":[]}]}', '{"\\u005f_proto__":1}', '{"a":"\\u0061","__proto__":1}'])(
  'a key that schemas leave out is refused, not lost: %s',
  (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: 'InvalidInput', facts: expect.objectContaining({ field: '__proto__' }) }),
    );
  },
);

test.each(['{"a":"__proto__"}', '{"proto":1,"a":"\\u0061"}'])('a text of that name is kept: %s', (text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test.each([
  '{"a":{"a":{"a":1}}}',
  '[{"a":1},{"a":1}]',
  '{"a":"a","b":"a:\\"a\\":{","c":["a","a"]}',
  '"a"',
  'null',
  '[]',
])('nothing comes twice in %s', (text) => {
  expect(repeatedKey(text)).toBeUndefined();
  expect(parse(text)).toEqual(JSON.parse(text));
});

test('what was written from an object has no key twice, and has one when one is written again', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (object) => {
      const text = JSON.stringify(object);
      expect(repeatedKey(text)).toBeUndefined();
      const [key] = Object.keys(object);
      expect(repeatedKey(`{${JSON.stringify(key)}:0,${text.slice(1)}`)).toBe(key);
    }),
  );
});

test('a megabyte of one text, and of many keys are looked through', () => {
  expect(repeatedKey(JSON.stringify({ a: '\\"'.repeat(250_000) }))).toBeUndefined();
  expect(repeatedKey(JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [at, at]))))).toBe(
    undefined,
  );
});
