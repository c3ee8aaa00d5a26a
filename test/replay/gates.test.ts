/** The mechanism of changing workflows, on an example: a gate lets old and new histories replay, and what lacks it is noticed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker, type WorkflowBundle } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';

Runtime.install({ logger: new DefaultLogger('ERROR') });

let workflowBundle: WorkflowBundle;
beforeAll(async () => {
  const logger = new DefaultLogger('ERROR');
  workflowBundle = await bundleWorkflowCode({ workflowsPath: join(__dirname, 'gate-example.ts'), logger });
}, 60_000);

type Form = 'before' | 'gated' | 'ungated';

/** Replays a history of one form of the workflow on the code of another. */
const replay = async (recorded: 'before' | 'gated', on: Form): Promise<void> => {
  const text = readFileSync(join(__dirname, 'histories/gate-example', `${recorded}.json`), 'utf8');
  const { workflowId, events } = JSON.parse(text);
  events[0].workflowExecutionStartedEventAttributes.workflowType.name = on;
  await Worker.runReplayHistory({ workflowBundle }, { events }, workflowId);
};

test.each(['before', 'gated'] as const)('with a gate the history %s replays', async (recorded) => {
  await expect(replay(recorded, 'gated')).resolves.toBeUndefined();
});

test.each([
  ['before', 'ungated', 'the change without a gate'],
  ['gated', 'before', 'the change taken back'],
  ['gated', 'ungated', 'the gate taken out while a run that passed it is kept'],
] as const)('the history %s on the code %s is noticed: %s', async (recorded, on, _why) => {
  await expect(replay(recorded, on)).rejects.toBeInstanceOf(DeterminismViolationError);
});
