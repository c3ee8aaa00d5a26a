/** `temper runs watch` on a terminal: a bar that says step, attempts and expected time, with the events above it. */
import { Writable } from 'node:stream';
import { leftMs, progressText } from '../../src/cli/runs/progress';
import type { Run, RunStep } from '../../src/wire/runs';
import { temper } from './support/command';
import { startDouble } from './support/double';
import { runStep, shownRun } from './support/runs';

const uuid = '11111111-2222-4333-8444-555555555555';
const now = Date.parse('2026-11-01T00:01:00Z');
const step = (over: Partial<RunStep>): RunStep => runStep(0, over);
const run = (steps: readonly RunStep[], over: Partial<Run> = {}): Run =>
  shownRun({ runbook: null, cursor: 0, started_at: null, steps, ...over });
const begun = { state: 'running', started_at: '2026-11-01T00:00:20Z', expected_ms: 90_000 };

test('the text has the step, its attempts, how long it runs and usually takes, and why it is tried again', () => {
  const tried = step({ ...begun, attempt: 3, last_error: 'The BMC did not answer.' });
  expect(progressText(run([tried], { phase: 'retrying' }), now)).toBe(
    'retrying (about 0:50 left): bios.apply_configuration, attempt 3, 0:40, usually 1:30, The BMC did not answer.',
  );
});

test('a run is given a time only when every step that is left has one', () => {
  expect(leftMs(run([step(begun), step({ expected_ms: 3_600_000 })]), now)).toBe(3_650_000);
  expect(leftMs(run([step(begun), step({ expected_ms: null })]), now)).toBeNull();
  expect(leftMs(run([step(begun)], { cursor: 1 }), now)).toBeNull();
});

test('a step that takes longer than usual leaves no time, not less than none', () =>
  expect(leftMs(run([step({ ...begun, expected_ms: 1_000 })]), now)).toBe(0));

/** A terminal that keeps what is written to it. */
const terminal = () => {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  const shape = { isTTY: true, columns: 140, rows: 24, getWindowSize: () => [140, 24], cursorTo: () => true };
  return { stream: Object.assign(stream, shape) as unknown as NodeJS.WriteStream, text: () => text };
};

test('on a terminal there is a bar, which is gone at the end, and every event stays', async () => {
  let state = 'running';
  const api = await startDouble(({ path }, response) => {
    if (!path.endsWith('/events')) return { json: run([step({ ...begun, attempt: 2 })], { state }) };
    if (state === 'succeeded') return { status: 204 };
    state = 'succeeded';
    const event = { seq: 1, at: 'T1', kind: 'run.succeeded', data: {} };
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`id: 1\nevent: run.succeeded\ndata: ${JSON.stringify(event)}\n\n`);
    return undefined;
  });
  const screen = terminal();
  const { status, out } = await temper(['runs', 'watch', uuid], {
    env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' },
    terminal: screen.stream,
  });
  await api.close();
  expect({ status, out }).toEqual({ status: 0, out: 'The run ended: succeeded\n' });
  expect(screen.text()).toContain('bios.apply_configuration, attempt 2');
  expect(screen.text()).toContain('T1  run.succeeded\n');
});
