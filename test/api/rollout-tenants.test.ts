/** What a tenant learns of a rollout on its nodes: its own rows, and nothing that says how many others there are. */
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { stranger } from '../support/world';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());

/** Of the system, on four nodes; the last two of the plan are a tenant's, each in a wave of its own. */
const shared = async () => {
  const [others, own] = [
    await world.nodes(['r1', 'r1']),
    await world.nodes(['r2', 'r2'], { lessee: stranger, owner: stranger }),
  ];
  const waves = [{ size: 1 }, { size: 1 }, { size: 1 }, { size: 1 }];
  const nodes = [...others, ...own];
  const rollout = await world.plan(
    { select: { nodes }, order: 'domain', spread: [{ by: 'properties.rack', max: 1 }], waves },
    'operator',
  );
  return { rollout, own };
};

test('its rows are counted among its own, and say nothing of waves', async () => {
  const { rollout, own } = await shared();
  const whole = await world.targets(rollout);
  expect(whole.map((one: { position: number; wave: number }) => [one.position, one.wave])).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
  ]);
  const seen = await world.targets(rollout, '', 'stranger-admin');
  expect(seen.map((one: { position: number; wave: number | null }) => [one.position, one.wave])).toEqual([
    [0, null],
    [1, null],
  ]);
  expect(own).toContain(seen[0].node_uuid);
  expect(await world.targets(rollout, '?marker=0', 'stranger-admin')).toEqual([seen[1]]);
  expect(await world.targets(rollout, '?state=pending&limit=1&marker=0', 'stranger-admin')).toEqual([seen[1]]);
});

test('no filter shows it in which wave its node is', async () => {
  const { rollout } = await shared();
  for (const wave of [1, 2, 3, 4, 5])
    expect(await world.targets(rollout, `?wave=${wave}`, 'stranger-admin')).toEqual([]);
});

test('the answer to its consent numbers the row as the list does', async () => {
  const { rollout } = await shared();
  await world.start(rollout, {}, 'operator');
  const [, second] = await world.targets(rollout, '', 'stranger-admin');
  const path = `/temper/v1/rollouts/${rollout.uuid}/targets/${second.node_uuid}/consent`;
  expect(await world.posted('stranger-admin', path, { now: true })).toMatchObject({ position: 1, wave: null });
});
