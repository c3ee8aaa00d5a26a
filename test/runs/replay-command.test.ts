/** `temper replay` and `temper doctor` as processes, against a real engine and store. */
import { randomUUID } from 'node:crypto';
import { controlQueue } from '../../src/workflows/contract';
import { endAll, run } from '../bin/support/entries';
import { startEngineWorld, type World } from '../support/engine';
import { temporalAddress, temporalNamespace, workflowBundle } from '../support/servers';

let world: World;
beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterEach(endAll);
afterAll(() => world?.close());

const env = () => ({
  TEMPER_TEMPORAL_ADDRESS: temporalAddress(),
  TEMPER_TEMPORAL_NAMESPACE: temporalNamespace,
  TEMPER_WORKFLOW_BUNDLE: workflowBundle(),
  TEMPER_QUEUE_PREFIX: world.prefix,
});

test('a history that this build can tell again is replayed from Temporal', async () => {
  const workflowId = `test.${randomUUID()}`;
  await world.client.workflow.execute('reconcile', { workflowId, taskQueue: controlQueue(world.prefix) });
  const { status, out, err } = await run(`temper --json replay ${workflowId}`, env());
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(JSON.parse(out)).toEqual({ events: expect.any(Number), fault: null });
  expect(JSON.parse(out).events).toBeGreaterThan(5);
});

test('a run that Temporal does not know is reported as such', async () => {
  const { status, err } = await run(`temper replay node.${randomUUID()}`, env());
  expect(status).toBe(1);
  expect(err).toContain(`, namespace ${temporalNamespace}, has no history of`);
});

test('doctor finds Temporal with its attributes and the control worker', async () => {
  const { out } = await run('temper doctor', env());
  expect(out).toMatch(/^ok +Temporal: answers; namespace .* has all \d+ search attributes$/m);
  expect(out).toMatch(/^ok +control workers: \d+ poll for workflows$/m);
  expect(out).toMatch(/^skipped +database: /m);
});
