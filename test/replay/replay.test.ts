/** All recorded histories on today's code: a running story is never edited under its feet. Needs no server. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import * as stories from '../../src/workflows';
import { scenarios } from '../support/scenarios';
import { workflowBundle } from '../support/servers';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const folder = join(__dirname, 'histories');
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
type Recorded = { workflowId: string; events: Record<string, unknown>[] };
const read = (name: string): Recorded => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const replay = ({ workflowId, events }: Recorded) =>
  Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, { events }, workflowId);

test.each(names)('%s replays', async (name) => {
  await expect(replay(read(name))).resolves.toBeUndefined();
});

test.each(Object.keys(stories))('story %s has a recorded history', (story) => {
  expect(names.some((name) => name.startsWith(`${story}.`))).toBe(true);
});

test.each(scenarios().map(({ story, ends }) => [`${story}.${ends}`]))(
  'the ending %s has a recorded history',
  (ending) => {
    expect(names.some((name) => name.startsWith(`${ending}.`))).toBe(true);
  },
);

test('a history of other code is noticed', async () => {
  const recorded = read('clean.succeeded.1.json');
  const altered = JSON.parse(JSON.stringify(recorded).replaceAll('"runAct"', '"runSomethingElse"')) as Recorded;
  await expect(replay(altered)).rejects.toBeInstanceOf(DeterminismViolationError);
});
