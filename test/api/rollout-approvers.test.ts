/** Who has approved, and how many must: asked of identity again when a rollout starts, and the same for every process. */
import type { Caller } from '../../src/model/access/callers';
import { type RolloutWorld, startRolloutWorld } from '../support/rollout-world';

type Voters = (caller: Caller) => Promise<'holds' | 'lost' | 'away'>;

let world: RolloutWorld;
let voters: Voters = async () => 'holds';
beforeAll(async () => {
  world = await startRolloutWorld({ voters: (caller) => voters(caller) });
  await world.runbook('CUSTOM_RESTART');
});
afterAll(() => world?.close());
/** As the setting of the API process. */
const setApprovers = (many: number): void => {
  (world.api.rooms.settings as { rolloutApprovers: number }).rolloutApprovers = many;
};
beforeEach(() => {
  voters = async () => 'holds';
  setApprovers(1);
  world.setPolicy({
    set: 'temper',
    overrides: {
      'temper:rollout:start_alone': '!',
      'temper:rollout:get': 'role:reader',
      'temper:rollout:approve': 'role:manager and not user_id:%(rollout.requester)s',
    },
  });
});

const planned = async () => world.plan({ select: { nodes: await world.nodes(['r1']) } });
type Rollout = { readonly uuid: string; readonly plan_hash: string };
const vote = (rollout: Rollout, who: 'operator' | 'stranger-admin', verb = 'approve') =>
  world.act(rollout, verb, { plan_hash: rollout.plan_hash }, who);
const begin = (rollout: Rollout, body: object = {}) =>
  world.act(rollout, 'start', { plan_hash: rollout.plan_hash, ...body });
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const isDue = ({ uuid }: Rollout) =>
  world.api.sql`update rollouts set start_at = now() - interval '1 second' where id = ${uuid}`;

test('a vote whose user has lost the roles since is none, at the start and for one that begins by itself', async () => {
  const [now, later]: Rollout[] = [await planned(), await planned()];
  for (const rollout of [now!, later!]) expect((await vote(rollout, 'operator')).body).toMatchObject({ approved: 1 });
  expect((await begin(later!, { start_at: inAnHour() })).status).toBe(200);
  voters = async ({ system_scope }) => (system_scope === 'all' ? 'lost' : 'holds');
  const refused = await begin(now!);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('0 of 1')]);
  await isDue(later!);
  await world.tend(later!);
  expect(await world.show(later!)).toMatchObject({ state: 'expired', states: { pending: 1 } });
});

test('a rejection of a user without the roles does not stand either', async () => {
  const rollout = await planned();
  await vote(rollout, 'operator', 'reject');
  await vote(rollout, 'stranger-admin');
  expect((await begin(rollout)).status).toBe(409);
  voters = async ({ system_scope }) => (system_scope === 'all' ? 'lost' : 'holds');
  expect((await begin(rollout)).status).toBe(200);
});

test('while identity does not answer about those who approved nothing is begun, nor is the rollout ended', async () => {
  const rollout = await planned();
  await vote(rollout, 'operator');
  voters = async () => 'away';
  expect((await begin(rollout)).status).toBe(503);
  expect((await vote(rollout, 'stranger-admin')).status).toBe(200);
  voters = async () => 'holds';
  expect((await begin(rollout, { start_at: inAnHour() })).status).toBe(200);
  await isDue(rollout);
  voters = async () => 'away';
  expect(await world.tend(rollout)).toMatchObject({ over: false, nextMs: expect.any(Number) });
  expect(await world.show(rollout)).toMatchObject({ state: 'scheduled', states: { pending: 1 } });
  voters = async () => 'holds';
  await world.tend(rollout);
  expect(await world.show(rollout)).toMatchObject({ state: 'running', states: { admitted: 1 } });
});

test('how many must approve is kept with the plan, for the process that begins it as for the one that was asked', async () => {
  setApprovers(2);
  const rollout = await planned();
  expect(rollout).toMatchObject({ approvers: 2 });
  expect((await vote(rollout, 'operator')).body).toMatchObject({ wanted: 2, approved: 1 });
  setApprovers(1);
  expect((await begin(rollout)).status).toBe(409);
  await vote(rollout, 'stranger-admin');
  expect((await begin(rollout, { start_at: inAnHour() })).status).toBe(200);
  await world.api
    .sql`delete from rollout_votes where rollout = ${rollout.uuid} and requester ->> 'system_scope' is null`;
  await isDue(rollout);
  await world.tend(rollout);
  expect(await world.show(rollout)).toMatchObject({ state: 'expired' });
});

test('where the setting is more than when the plan was made, the start takes it', async () => {
  const rollout = await planned();
  expect(rollout).toMatchObject({ approvers: 1 });
  await vote(rollout, 'operator');
  setApprovers(2);
  const refused = await begin(rollout);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('1 of 2')]);
});

test('a plan from before the number was kept wants two of a process that begins it by itself', async () => {
  const rollout = await planned();
  await vote(rollout, 'operator');
  expect((await begin(rollout, { start_at: inAnHour() })).status).toBe(200);
  await world.api.sql`update rollouts set approvers = null where id = ${rollout.uuid}`;
  await isDue(rollout);
  await world.tend(rollout);
  expect(await world.show(rollout)).toMatchObject({ state: 'expired', states: { pending: 1 } });
});
