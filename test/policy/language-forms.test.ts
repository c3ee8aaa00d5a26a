/** The language below the checks: pieces of a text, values as texts, and what stands left of a colon. */
import { printCheck, walk } from '../../src/policy/language/check';
import { parseKind } from '../../src/policy/language/kinds';
import { parseRule } from '../../src/policy/language/parse';
import { anyAtPath, EvaluationFault } from '../../src/policy/language/paths';
import { floatText, textOf } from '../../src/policy/language/text';
import { hasSpace, tokenize } from '../../src/policy/language/tokens';

test.each([
  [null, 'None'],
  [undefined, 'None'],
  [true, 'True'],
  [false, 'False'],
  ['a', 'a'],
  [5, '5'],
  [-0.5, '-0.5'],
  [1e21, '1000000000000000000000'],
  [1.5e-7, '1.5e-07'],
  [0.000015, '1.5e-05'],
  [0.00015, '0.00015'],
  [1.5e-17, '1.5e-17'],
  [['a', 1, null], "['a', 1, None]"],
  [{ a: ['b'], c: true }, "{'a': ['b'], 'c': True}"],
  [["it's"], '["it\'s"]'],
  [['it\'s "so"'], "['it\\'s \"so\"']"],
  [['a\\b\n\t\r'], "['a\\\\b\\n\\t\\r']"],
])('the value %j is the text %s', (value, text) => {
  expect(textOf(value)).toBe(text);
});

test.each([
  [1, '1.0'],
  [0.25, '0.25'],
  [1e15, '1000000000000000.0'],
  [1e16, '1e+16'],
  [1e-7, '1e-07'],
])('the number %d with a point is %s', (value, text) => {
  expect(floatText(value)).toBe(text);
});

test.each([
  ['role:a and role:b', ['role:a', 'and', 'role:b']],
  ['((role:a)) OR Not role:b', ['(', '(', 'role:a', ')', ')', 'or', 'not', 'role:b']],
  ['(and)', ['(', 'and', ')']],
  ['()', ['(', ')']],
  ['a(b)c', ['a(b)c']],
  ["'a' \"b\" 'c\" '", ["'a'", '"b"', '\'c"', "'"]],
  ['a\u001cb\u00a0c\u2003d', ['a', 'b', 'c', 'd']],
  ['a\ufeffb', ['a\ufeffb']],
  ['  ', []],
])('%j is cut into %j', (text, pieces) => {
  expect(tokenize(text).map((token) => ('source' in token ? token.source : token.is))).toEqual(pieces);
});

test('a piece in quotes at both ends is a text, and one in unlike quotes is a check', () => {
  expect(tokenize(`'a' "b" 'c" ('d')`).map(({ is }) => is)).toEqual(['string', 'string', 'check', '(', 'check', ')']);
});

test.each([
  ['a b', true],
  ['ab', false],
])('%j holds white space: %s', (text, has) => {
  expect(hasSpace(text)).toBe(has);
});

test.each([
  ['None', { is: 'literal', value: null, text: 'None' }],
  ['True', { is: 'literal', value: true, text: 'True' }],
  ["'a'", { is: 'literal', value: 'a', text: 'a' }],
  ['"a\'\\"\\n"', { is: 'literal', value: 'a\'"\n', text: 'a\'"\n' }],
  ['5', { is: 'literal', value: 5, text: '5' }],
  ['-0x1F', { is: 'literal', value: -31, text: '-31' }],
  ['1_000', { is: 'literal', value: 1000, text: '1000' }],
  ['+1.5e3', { is: 'literal', value: 1500, text: '1500.0' }],
  ['.5', { is: 'literal', value: 0.5, text: '0.5' }],
  ['-2.5', { is: 'literal', value: -2.5, text: '-2.5' }],
  ['1e-5', { is: 'literal', value: 1e-5, text: '1e-05' }],
  ['1e+5', { is: 'literal', value: 1e5, text: '100000.0' }],
  ['a', { is: 'path', path: ['a'] }],
  ['a.b', { is: 'path', path: ['a', 'b'] }],
  ['größe', { is: 'path', path: ['größe'] }],
  ['a-b', { is: 'path', path: ['a-b'] }],
  ['not a', { is: 'path', path: ['not a'] }],
  ['class', { is: 'invalid' }],
  ['a.class', { is: 'invalid' }],
  ["'a", { is: 'invalid' }],
  ["'", { is: 'invalid' }],
  ["'a'b'", { is: 'invalid' }],
  ["'a\\'", { is: 'invalid' }],
  ["'a\\q'", { is: 'invalid' }],
  ['007', { is: 'invalid' }],
  ['1__0', { is: 'invalid' }],
  ['a b', { is: 'invalid' }],
  ['constructor', { is: 'path', path: ['constructor'] }],
])('left of a colon, %s is %j', (source, kind) => {
  expect(parseKind(source)).toEqual({ source, ...kind });
});

test.each([
  ['role:a and role:b or role:c', '((role:a and role:b) or role:c)'],
  ['role:a or (role:b and role:c) and role:d', '(role:a or (role:b and role:c and role:d))'],
  ['(role:a and role:b) and role:c', '((role:a and role:b) and role:c)'],
  ['not (role:a or http://x/y)', 'not (role:a or http://x/y)'],
  ['https://x/y', 'https://x/y'],
  ['rule:a', 'rule:a'],
  [[['role:a', 'role:b'], 'role:c'], '((role:a and role:b) or role:c)'],
  [[], '@'],
  [[[]], '!'],
  ['', '@'],
])('%j is printed as %s', (value, print) => {
  expect(printCheck(parseRule(value).check)).toBe(print);
});

test('every check of a tree is walked with the negations above it', () => {
  const { check } = parseRule('role:a and not (role:b or not role:c)');
  expect([...walk(check)].map((one) => [one.check.is, one.negations])).toEqual([
    ['and', 0],
    ['role', 0],
    ['not', 0],
    ['or', 1],
    ['role', 1],
    ['not', 1],
    ['role', 2],
  ]);
});

describe('a path into credentials', () => {
  const found = (from: unknown, path: string): unknown[] => {
    const values: unknown[] = [];
    anyAtPath(from, path.split('.'), (value) => {
      values.push(value);
      return false;
    });
    return values;
  };

  test.each([
    [{ a: { b: 1 } }, 'a.b', [1]],
    [{ a: [{ b: 1 }, { b: [2, 3] }, {}] }, 'a.b', [1, 2, 3]],
    [{ a: null }, 'a', [null]],
    [{}, 'toString', []],
  ])('%j at %s is %j', (from, path, values) => {
    expect(found(from, path)).toEqual(values);
  });

  test.each([
    [{ a: 'text' }, 'a.b'],
    [{ a: null }, 'a.b'],
    [{ a: [[1]] }, 'a.b'],
  ])('%j cannot be followed to %s', (from, path) => {
    expect(() => found(from, path)).toThrow(EvaluationFault);
  });

  test('is left at the first value that satisfies', () => {
    expect(anyAtPath({ a: [1, 2] }, ['a'], (value) => value === 2)).toBe(true);
    expect(anyAtPath({ a: [1, 2] }, ['a'], (value) => value === 3)).toBe(false);
  });
});
