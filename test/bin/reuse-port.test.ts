/** Several APIs on one port, by SO_REUSEPORT; test/bin/settings.test.ts has what an older Node answers. */
import { canReusePort } from '../../src/process/settings/api';
import { endAll, good, start } from './support/entries';

afterEach(endAll);

const testHere = canReusePort(process.versions.node) ? test : test.skip;

testHere('APIs that each have TEMPER_API_REUSE_PORT share a port, which needs Node 22.12 or newer', async () => {
  const sharing = { ...good.api, TEMPER_API_REUSE_PORT: 'true' };
  const first = start('api', sharing);
  const { port } = JSON.parse(await first.says('"message":"listening"'));
  const second = start('api', { ...sharing, TEMPER_API_PORT: String(port) });
  await second.says('"message":"listening"');
  first.child.kill('SIGTERM');
  await first.ended;
  expect((await fetch(`http://127.0.0.1:${port}/v1`)).status).toBe(200);
  const alone = await start('api', { ...good.api, TEMPER_API_PORT: String(port) }).ended;
  expect([alone.status, alone.err]).toEqual([78, expect.stringContaining('is taken by another process')]);
});
