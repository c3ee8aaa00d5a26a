/** The workflow bundle builds without a server, and nothing but workflow code is in it. */
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const twoMegabytes = 2 * 1024 * 1024;

test('workflows bundle without Node’s modules, drivers or zod, below 2 MB', async () => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(__dirname, '../../src/workflows/index.ts'),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} } as never,
  });
  const withoutMap = code.replace(/\/\/# sourceMappingURL=.*$/s, '');
  expect(withoutMap).not.toMatch(/node_modules\/(zod|postgres|express|undici|pino)\//);
  expect(withoutMap.length).toBeLessThan(twoMegabytes);
});

test('one copy of protobufjs serves all of Temporal’s packages', () => {
  const versions = ['common', 'proto', 'worker'].map((name) =>
    require.resolve('protobufjs', { paths: [require.resolve(`@temporalio/${name}`)] }),
  );
  expect(new Set(versions).size).toBe(1);
});
