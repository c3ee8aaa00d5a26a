/** An API process that stands still before it listens: it answers no question yet, and is ended when its time to start is over. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Entry, endAll, good, start } from './support/entries';

const hook = join(__dirname, 'support/stand-still.js');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'api-process-starts-'));
});
afterAll(async () => {
  await endAll();
  rmSync(folder, { recursive: true });
});

/** An API of two processes, of which the one in this place stands still at its first start. */
const begin = (slot: '1' | '2'): Entry =>
  start('api', {
    ...good.api,
    TEMPER_API_PROCESSES: '2',
    NODE_OPTIONS: `--require ${hook}`,
    STILL_SLOT: slot,
    STILL_FILE: join(folder, slot),
  });

const ended = '"message":"an API process does not begin to listen, it is ended"';

test.concurrent('it is started again, and all serve', async () => {
  const { child, says, ended: over } = begin('2');
  expect(JSON.parse(await says(ended))).toMatchObject({ api_process: 2, level: 50 });
  const again = JSON.parse(await says('"message":"an API process ended, it is started again"'));
  expect(again).toMatchObject({ api_process: 2, signal: 'SIGKILL' });
  // The first of them has listened before.
  for (let text = ''; !text.includes('"message":"listening"'); ) text += (await once(child.stdout!, 'data'))[0];
  child.kill('SIGTERM');
  expect((await over).status).toBe(0);
});

test.concurrent('where it is the first of them the API ends, for others to start it anew', async () => {
  const { out, status } = await begin('1').ended;
  expect(out).toContain(ended);
  expect(out).toContain('"message":"the first API process did not start"');
  expect(status).toBe(1);
});
