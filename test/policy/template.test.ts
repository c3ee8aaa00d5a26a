/** The right side of a check: what it is read as, and what of it is refused. */
import { brokenPart, parseTemplate } from '../../src/policy/language/template';

const read = (source: string) => {
  const template = parseTemplate(source);
  if ('refused' in template) throw new Error(`refused: ${template.refused}`);
  return template;
};

test.each([
  ['', ''],
  ['p1', 'p1'],
  ['%%', '%'],
  ['a%%b%%', 'a%b%'],
])('"%s" is the text "%s"', (source, constant) => {
  expect(read(source)).toEqual({ source, constant, keys: [], parts: constant === '' ? [] : [{ text: constant }] });
});

test('one placeholder alone is the value of its key', () => {
  expect(read('%(node.owner)s')).toEqual({
    source: '%(node.owner)s',
    parts: [{ key: 'node.owner' }],
    keys: ['node.owner'],
    only: 'node.owner',
  });
});

test('a key may hold parentheses that are closed', () => {
  expect(read('%(a(b)c)s').keys).toEqual(['a(b)c']);
});

test('several placeholders and texts stand in their order, and are neither a constant nor one key', () => {
  const source = 'x%(a)s-%%%(b)sy';
  expect(read(source)).toEqual({
    source,
    parts: [{ text: 'x' }, { key: 'a' }, { text: '-%' }, { key: 'b' }, { text: 'y' }],
    keys: ['a', 'b'],
  });
});

test.each([
  ['%', 'a lone % (write %% for a percent sign)'],
  ['100%', 'a lone % (write %% for a percent sign)'],
  ['%q', '%q means nothing (write %% for a percent sign)'],
  ['%(a', 'an unfinished %(key)s'],
  ['%(a)', 'an unfinished %(key)s'],
  ['%((a)s', 'an unfinished %(key)s'],
  ['%(a)q', '%(a)q'],
])('"%s" is broken, which matters when a decision reaches it: %s', (source, broken) => {
  const template = read(source);
  expect(brokenPart(template)).toBe(broken);
  expect([template.only, template.constant]).toEqual([undefined, undefined]);
});

test('what stands behind a broken part is not read', () => {
  expect(read('a%q%(b)s').parts).toEqual([{ text: 'a' }, { broken: expect.stringContaining('%q') }]);
  expect(read('%(a)q%(b)s').keys).toEqual([]);
});

test('a template that can be filled has no broken part', () => {
  expect(brokenPart(read('x%(a)s'))).toBeUndefined();
});

test.each([
  ['%s', '%s without a target key'],
  ['%d', '%d without a target key'],
  ['a%(b)d', '%(b)d'],
  ['%(b)%', '%(b)%'],
  ['%(b)05d', '%(b)0'],
])('"%s" is refused in every mode: %s', (source, refused) => {
  expect(parseTemplate(source)).toEqual({ refused });
});
