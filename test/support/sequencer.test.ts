/** The order in which test files start. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const { slowSuites } = jest.requireActual('./slow-suites') as { slowSuites: Record<string, number> };
const SlowFirst = jest.requireActual('./sequencer');

const fileOf = (name: string): string => resolve(__dirname, '..', `${name}.test.ts`);

test('every file of the table of slow ones is there', () => {
  expect(Object.keys(slowSuites).filter((name) => !existsSync(fileOf(name)))).toEqual([]);
});

test('the slow ones start first, the slowest at once, and none is left out', async () => {
  const context = { config: { cacheDirectory: '/nowhere', id: 'x', rootDir: '/' }, hasteFS: { getSize: () => 1 } };
  const names = ['model/texts', 'runs/life', 'policy/read', 'e2e/crash', 'e2e/cli'];
  const tests = names.map((name, at) => ({ path: fileOf(name), context, duration: at }));
  const sequencer = new SlowFirst({ contexts: [], globalConfig: {} });
  const sorted: { path: string }[] = await sequencer.sort(tests);
  expect(sorted.slice(0, 3).map(({ path }) => path)).toEqual(['e2e/crash', 'e2e/cli', 'runs/life'].map(fileOf));
  expect(sorted.map(({ path }) => path).sort()).toEqual(tests.map(({ path }) => path).sort());
});
