/** An API process that stands still before it listens: it answers no question yet, and is ended when its time to start is over. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../demo/nodes';
import { type Entry, endAll, good, start } from './support/entries';

const hook = join(__dirname, 'support/stand-still.js');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'api-process-starts-'));
});
afterAll(async () => {
  await endAll();
  // Where a test fails: it would hold what the test reads from.
  for (const file of readdirSync(folder))
    if (existsSync(`/proc/${stillIn(file)}`)) process.kill(stillIn(file)!, 'SIGKILL');
  rmSync(folder, { recursive: true });
});

/** The process that stopped itself by this file; undefined where none has yet. */
const stillIn = (file: string): number | undefined => {
  const path = join(folder, file);
  return (existsSync(path) && Number(readFileSync(path, 'utf8'))) || undefined;
};

/** An API of two processes, of which the one in this place stands still at its first start. */
const begin = (slot: '1' | '2', file: string): Entry =>
  start('api', {
    ...good.api,
    TEMPER_API_PROCESSES: '2',
    NODE_OPTIONS: `--require ${hook}`,
    STILL_SLOT: slot,
    STILL_FILE: join(folder, file),
  });

const ended = '"message":"an API process does not begin to listen, it is ended"';

test.concurrent('it is started again, and all serve', async () => {
  const { child, says, ended: over } = begin('2', 'started again');
  expect(JSON.parse(await says(ended))).toMatchObject({ api_process: 2, level: 50 });
  const again = JSON.parse(await says('"message":"an API process ended, it is started again"'));
  expect(again).toMatchObject({ api_process: 2, signal: 'SIGKILL' });
  // The first of them has listened before.
  for (let text = ''; !text.includes('"message":"listening"'); ) text += (await once(child.stdout!, 'data'))[0];
  child.kill('SIGTERM');
  expect((await over).status).toBe(0);
});

test.concurrent('where it is the first of them the API ends, for others to start it anew', async () => {
  const { out, status } = await begin('1', 'first').ended;
  expect(out).toContain(ended);
  expect(out).toContain('"message":"the first API process did not start"');
  expect(status).toBe(1);
});

test.concurrent('SIGTERM to the first of them ends it too, and at once', async () => {
  const { child, ended: over } = begin('2', 'at the end');
  const still = await until('one that stands still', 120_000, async () => {
    const pid = stillIn('at the end');
    return pid !== undefined && / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) ? pid : undefined;
  });
  child.kill('SIGTERM');
  expect((await over).status).toBe(0);
  expect(existsSync(`/proc/${still}`)).toBe(false);
});
