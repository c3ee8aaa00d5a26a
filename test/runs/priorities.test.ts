/** Who comes first where work waits: what a run's workflow is started with, and what an abort makes of it. */
import type { ProjectId, RunUuid } from '../../src/model/ids';
import { priorityOf } from '../../src/runs/priorities';
import { startEngineWorld, type World } from '../support/engine';
import { step } from '../support/recording-driver';

test.each([
  ['a power request of a person', 'power', undefined, 1],
  ['an act that a caller waits for', 'call', undefined, 1],
  ['a run of its own', 'clean', undefined, 3],
  ['a run of a rollout', 'service', 'r', 5],
  ['power within a rollout', 'power', 'r', 5],
] as const)('%s', (_, verb, rollout, priorityKey) => {
  expect(priorityOf({ verb }, { owner: 'p1', rollout })).toEqual({ priorityKey, fairnessKey: 'project p1' });
});

test('projects take turns by their owner, and nodes of no project by one key; none is longer than the server takes', () => {
  const keys = ['a', 'b', null, 'ß'.repeat(100)].map((owner) => priorityOf({ verb: 'clean' }, { owner }).fairnessKey!);
  expect(new Set(keys).size).toBe(4);
  for (const key of keys) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(64);
});

describe('on the engine', () => {
  let world: World;
  beforeAll(async () => {
    world = await startEngineWorld();
    await world.control();
  });
  afterAll(() => world?.close());

  const priorityNow = async (run: RunUuid) => {
    const { workflow_id } = (await world.inventory.runs.find(run))!;
    return (await world.client.workflow.getHandle(workflow_id).describe()).priority;
  };

  test('a run has its level and its owner’s key; its abort goes first, and the key stays', async () => {
    const node = await world.node();
    await world.sql`update nodes set owner = ${'p1' as ProjectId} where uuid = ${node}`;
    // No worker of this group runs, so that the step waits.
    const { run } = await world.runs.start(
      await world.order(node, 'clean', [step('management.set_boot_mode', { boot_mode: 'uefi' })]),
    );
    expect(await priorityNow(run)).toMatchObject({ priorityKey: 3, fairnessKey: 'project p1' });
    await world.until(async () => ((await world.inventory.runs.find(run))!.state === 'running' ? true : undefined));
    const { asked } = await world.order(node, 'abort');
    await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'x', asked });
    expect(await priorityNow(run)).toMatchObject({ priorityKey: 1, fairnessKey: 'project p1' });
  });
});
