/** The workflow bundle builds without a server, and nothing but workflow code is in it. */
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { sharedModules } from '../../src/process/temporal/shared-modules';

const twoMegabytes = 2 * 1024 * 1024;

/** The bundled code, without its map. */
const bundled = async (preloadModules: string[] = []): Promise<string> => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(__dirname, '../../src/workflows/index.ts'),
    preloadModules,
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} } as never,
  });
  return code.replace(/\/\/# sourceMappingURL=.*$/s, '');
};

test('workflows bundle without Node’s modules, drivers or zod, below 2 MB', async () => {
  const withoutMap = await bundled();
  expect(withoutMap).not.toMatch(/node_modules\/(zod|postgres|express|undici|pino)\//);
  expect(withoutMap.length).toBeLessThan(twoMegabytes);
});

test('what workflows use of the model is shared by all runs, and nothing else is', async () => {
  const sources = sharedModules.map((file) => file.replace(/\.js$/, '.ts'));
  const code = await bundled(sources.map((file) => join(__dirname, '../../src', file)));
  const used = [...code.matchAll(/^\/\*\*\*\/ "\.\/src\/(model\/[^"]+)"/gm)].map(([, file]) => file!);
  expect(used.sort()).toEqual([...sources].sort());
});

test('one copy of protobufjs serves all of Temporal’s packages', () => {
  const versions = ['common', 'proto', 'worker'].map((name) =>
    require.resolve('protobufjs', { paths: [require.resolve(`@temporalio/${name}`)] }),
  );
  expect(new Set(versions).size).toBe(1);
});
