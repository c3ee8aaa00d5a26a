/** What changed between two JSON values: the changes make the second of the first, in time that grows with both. */
import fc from 'fast-check';
import { applyPatch, type Operation } from 'rfc6902';
import { changesBetween } from '../../src/model/json-diff';

const applied = (before: unknown, after: unknown): unknown => {
  const held = structuredClone({ root: before });
  const changes = changesBetween(before, after).map((change) => ({ ...change, path: `/root${change.path}` }));
  expect(applyPatch(held, changes as Operation[]).filter((fault) => fault !== null)).toEqual([]);
  return held.root;
};

const step = fc.record({
  interface: fc.constantFrom('bios', 'raid'),
  step: fc.constantFrom('apply', 'reset'),
  args: fc.dictionary(fc.constantFrom('a', 'b/c', '~1', ''), fc.jsonValue({ maxDepth: 3 })),
});
const member = fc.oneof(
  step,
  fc.record({ name: fc.constantFrom('Boot', 'Tpm', 'Sriov'), value: fc.constantFrom('On', 'Off', 1) }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer({ min: 0, max: 4 }),
);
// The library that applies patches leaves such a key out; no body brings one.
const document = fc
  .record({ steps: fc.array(member, { maxLength: 8 }), more: fc.jsonValue() })
  .filter((value) => !JSON.stringify(value).includes('__proto__'))
  .map((value) => JSON.parse(JSON.stringify(value)));

test('applied to the first value, the changes give the second', () => {
  fc.assert(
    fc.property(document, document, (before, after) => {
      expect(applied(before, after)).toEqual(after);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['nothing', { a: [1, 'x', null] }, { a: [1, 'x', null] }, []],
  ['a key', { a: 1 }, { 'b/c~': 2 }, ['remove /a', 'add /b~1c~0']],
  ['one member less', [1, 2, 3, 4], [1, 3, 4], ['remove /1']],
  ['one member more', [1, 2, 3], [0, 1, 2, 3], ['add /0']],
  ['a member that moved to the end', ['a', 'b', 'c', 'd'], ['b', 'c', 'd', 'a'], ['remove /0', 'add /-']],
  [
    'the value of a setting, while another one goes',
    [
      { name: 'Boot', value: 1 },
      { name: 'Tpm', value: 1 },
    ],
    [{ name: 'Tpm', value: 2 }],
    ['remove /0', 'replace /0/value'],
  ],
  [
    'one of two steps of the same name',
    [
      { interface: 'deploy', step: 'power_on' },
      { interface: 'deploy', step: 'power_on', order: 1 },
    ],
    [
      { interface: 'deploy', step: 'power_on' },
      { interface: 'deploy', step: 'power_on', order: 2 },
    ],
    ['replace /1/order'],
  ],
  [
    'the second of two steps of the same name',
    [
      { interface: 'm', step: 'boot', args: { to: 'pxe' } },
      { interface: 'power', step: 'reboot' },
      { interface: 'm', step: 'boot', args: { to: 'disk' } },
    ],
    [
      { interface: 'm', step: 'boot', args: { to: 'pxe' } },
      { interface: 'power', step: 'reboot' },
      { interface: 'm', step: 'boot', args: { to: 'cdrom' } },
    ],
    ['replace /2/args/to'],
  ],
  [
    'the first of two steps of the same name goes, and the others are numbered again',
    [
      { interface: 'm', step: 'boot', order: 1, args: { to: 'pxe' } },
      { interface: 'power', step: 'reboot', order: 2 },
      { interface: 'm', step: 'boot', order: 3, args: { to: 'disk' } },
    ],
    [
      { interface: 'power', step: 'reboot', order: 1 },
      { interface: 'm', step: 'boot', order: 2, args: { to: 'disk' } },
    ],
    ['remove /0', 'replace /0/order', 'replace /1/order'],
  ],
  [
    'a step before one of the same name',
    [{ interface: 'm', step: 'boot', args: { to: 'disk' } }],
    [
      { interface: 'm', step: 'boot', args: { to: 'pxe' } },
      { interface: 'm', step: 'boot', args: { to: 'disk' } },
    ],
    ['add /0'],
  ],
  ['a step in the place of another', [{ interface: 'a', step: 'b' }], [{ interface: 'a', step: 'c' }], ['replace /0']],
])('%s', (_, before, after, wanted) => {
  expect(changesBetween(before, after).map(({ op, path }) => `${op} ${path}`)).toEqual(wanted);
  expect(applied(before, after)).toEqual(after);
});

describe('what it costs grows with the values, not with their product', () => {
  const numbers = (count: number, from: number) => Array.from({ length: count }, (_, at) => from + at);
  const key = 'k'.repeat(400_000);
  const nested = (depth: number, leaf: unknown): unknown => (depth === 0 ? leaf : [nested(depth - 1, leaf), depth]);

  test.each([
    ['lists of which nothing is the same', numbers(8_000, 0), numbers(8_000, 8_000)],
    ['lists that were turned round', numbers(8_000, 0), numbers(8_000, 0).reverse()],
    ['lists of lists', numbers(80, 0).map((at) => numbers(90, at)), numbers(80, 5).map((at) => numbers(91, at))],
    ['a value below a key of 400 kB', { [key]: numbers(7_000, 0) }, { [key]: numbers(7_000, 1_000_000) }],
    ['values below lists', nested(24, numbers(7_000, 0)), nested(24, numbers(7_000, 7_000))],
  ])('%s', (_, before, after) => {
    const changes = changesBetween({ before }, { before: after });
    const paths = changes.reduce((sum, { path }) => sum + path.length, 0);
    expect(paths).toBeLessThan(1024 * 1024);
    expect(applied({ before }, { before: after })).toEqual({ before: after });
  });
});
