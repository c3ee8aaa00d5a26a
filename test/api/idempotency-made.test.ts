/** A creation whose process died after its work is answered with where that is, and with what it made, wherever the route lies. */
import { randomUUID } from 'node:crypto';
import { discoveredMachine } from '../support/discovered-machines';
import { type RolloutWorld, startRolloutWorld } from '../support/rollout-world';
import type { Persona } from '../support/world';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRolloutWorld();
  await world.runbook('CUSTOM_RESTART');
});
afterAll(() => world?.close());
afterEach(() => jest.restoreAllMocks());

/** The same request twice, with a key: the process of the first dies when its work is done, the second comes after it. */
const twice = async (path: string, body: object, who: Persona = 'operator') => {
  const headers = { 'idempotency-key': randomUUID() };
  const send = () => world.api.as(who, 'POST', path, { body, headers });
  jest.spyOn(world.api.inventory.idempotency, 'answered').mockRejectedValueOnce(new Error('died'));
  const first = await send();
  await world.api.sql`update idempotency set lives_until = now() - interval '1 second'`;
  return [first, await send()] as const;
};

const restart = { runbook: 'CUSTOM_RESTART', budget: { total: '100%' }, waves: [{ rest: true }] };
const planned = async () => ({ ...restart, select: { nodes: await world.nodes(['r1']) } });
const finished = async (): Promise<string> => {
  const rollout = await world.plan(await planned(), 'operator');
  await world.api.sql`update rollout_targets set state = 'done', ended_at = now() where rollout = ${rollout.uuid}`;
  return rollout.uuid;
};

test.each<[string, () => Promise<readonly [path: string, body: object, who?: Persona]>]>([
  ['a node', async () => ['/v1/nodes', { driver: 'fake-hardware' }]],
  ['a freeze', async () => [`/temper/v1/nodes/${(await world.nodes(['r1']))[0]}/freezes`, { reason: 'audit' }]],
  ['a rollout', async () => ['/temper/v1/rollouts', await planned()]],
  [
    'a rollout that reverts another',
    async () => [`/temper/v1/rollouts/${await finished()}/rollback`, { ...restart, targets: 'done', reason: 'back' }],
  ],
  ['a disruption budget', async () => ['/temper/v1/disruption-budgets', { max_unavailable: 1 }, 'owner-manager']],
])('%s', async (_, asked) => {
  const [first, second] = await twice(...(await asked()));
  expect([first.status, first.text]).toEqual([201, expect.anything()]);
  expect([second.status, second.headers.get('location')]).toEqual([201, first.headers.get('location')]);
  expect(second.body).toEqual(first.body);
  const shown = await world.api.as('operator', 'GET', new URL(first.headers.get('location')!).pathname);
  expect(shown.status).toBe(200);
});

test('a machine that is enrolled is answered by the address of its node', async () => {
  const machine = await discoveredMachine(world.api.sql);
  const body = { revision: 'x', driver: 'fake-hardware' };
  const [first, second] = await twice(`/temper/v1/discovered-machines/${machine}/enroll`, body);
  expect([first.status, second.status, second.text]).toEqual([201, 201, '']);
  expect(second.headers.get('location')).toBe(first.headers.get('location'));
});
