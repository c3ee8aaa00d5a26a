/** The order in which test files start. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const { slowSuites } = jest.requireActual('./slow-suites') as { slowSuites: Record<string, number> };
const SlowFirst = jest.requireActual('./sequencer');

const fileOf = (name: string): string => resolve(__dirname, '..', `${name}.test.ts`);
const context = { config: { cacheDirectory: '/nowhere', id: 'x', rootDir: '/' }, hasteFS: { getSize: () => 1 } };

/** Names of files in the order in which they would start. */
const sorted = async (names: readonly string[]): Promise<string[]> => {
  const tests = names.map((name) => ({ path: fileOf(name), context }));
  const order: { path: string }[] = await new SlowFirst({ contexts: [], globalConfig: {} }).sort(tests);
  return order.map(({ path }) => names.find((name) => fileOf(name) === path)!);
};

test('every file of the table of slow ones is there', () => {
  expect(Object.keys(slowSuites).filter((name) => !existsSync(fileOf(name)))).toEqual([]);
});

test('slow ones start in order of what they take, others between them, and none is left out', async () => {
  const others = Array.from({ length: 10 }, (_, at) => `model/other-${at}`);
  const slow = ['runs/life', 'e2e/cli', 'e2e/crash'];
  const names = await sorted([...others, ...slow]);
  expect(names.filter((name) => slow.includes(name))).toEqual(['e2e/crash', 'e2e/cli', 'runs/life']);
  expect(names.slice(0, 2)).toEqual(['e2e/crash', 'e2e/cli']);
  expect(names.indexOf('runs/life')).toBe(4);
  expect([...names].sort()).toEqual([...others, ...slow].sort());
});

test('few files start as they are: the slow ones first', async () => {
  expect(await sorted(['model/texts', 'e2e/cli', 'runs/life'])).toEqual(['e2e/cli', 'runs/life', 'model/texts']);
});
