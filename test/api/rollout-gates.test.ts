/** A gate that has not let the next wave open: who may pass it, what is kept of that, and that a guard is not passed. */
import type { Gate, GateAnswer } from '../../src/model/rollouts/gates';
import type { Gates } from '../../src/rollouts/gates';
import { type RolloutWorld, startRestartWorld, unasked } from '../support/rollout-world';

const gate: Gate = { metric: { query: 'sum(alarms)', at_most: 0 } };
const note = 'The value is 3.';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());
beforeEach(() => world.setPolicy({ set: 'temper', overrides: unasked }));

const passes: GateAnswer = { is: 'pass', note: '' };
const gatesOf = (answer: GateAnswer, guard = passes) => {
  const asked: Gate[] = [];
  const gates: Gates = {
    ask: async (one) => {
      asked.push(one);
      return answer;
    },
    guard: async () => guard,
  };
  return { asked, gates };
};

type Rollout = { readonly uuid: string; readonly plan_hash: string };

/** A rollout of the system, begun, the first wave of which is over and has been answered for. */
const answered = async (waves: readonly object[], answer: GateAnswer): Promise<Rollout> => {
  const nodes = await world.nodes(waves.map(() => 'r1'));
  const rollout: Rollout = await world.plan({ select: { nodes }, waves }, 'operator');
  await world.start(rollout, {}, 'operator');
  await world.tend(rollout);
  await world.endRuns(rollout);
  await world.tend(rollout, gatesOf(answer));
  return rollout;
};

const audited = (rollout: Rollout) =>
  world.api
    .sql`select rule, data from audit where resource_id = ${rollout.uuid} and action = 'rollout.advance' and verdict = 'granted'`;

test.each([
  ['fail', 'gate_failed', 'auto'],
  ['inconclusive', 'gate_inconclusive', 'auto'],
  ['fail', 'gate_failed', 'manual'],
] as const)('a gate that answers %s (%s, %s) is passed by a person with a reason', async (is, code, advance) => {
  const rollout = await answered([{ size: 1, advance, gate }, { rest: true }], { is, note });
  expect(await world.show(rollout)).toMatchObject({ state: 'paused', code, reason: note, wave: 1 });
  expect((await world.act(rollout, 'advance', { expected_wave: 2 }, 'operator')).status).toBe(409);
  const advanced = await world.act(rollout, 'advance', { expected_wave: 1, reason: 'a false alarm' }, 'operator');
  expect(advanced).toMatchObject({
    status: 200,
    body: {
      state: 'running',
      code: null,
      wave: 2,
      waves: [
        { gate: { answer: is, note, passed: { reason: 'a false alarm', by: expect.any(String) } } },
        { gate: null, opened_at: expect.any(String) },
      ],
    },
  });
  expect(await audited(rollout)).toEqual([
    {
      rule: 'temper:rollout:advance',
      data: expect.objectContaining({ gate: { answer: is, note }, reason: 'a false alarm', wave: 1 }),
    },
  ]);
  const { asked, gates } = gatesOf({ is: 'fail', note });
  await world.tend(rollout, { gates });
  await world.endRuns(rollout);
  await world.tend(rollout, { gates });
  expect(await world.show(rollout)).toMatchObject({ state: 'succeeded', states: { done: 2 } });
  expect(asked).toEqual([]);
});

test('after the last wave the rollout ends when its gate is passed', async () => {
  const rollout = await answered([{ rest: true, gate }], { is: 'fail', note });
  expect(await world.show(rollout)).toMatchObject({ state: 'paused', code: 'gate_failed' });
  expect((await world.act(rollout, 'advance', {}, 'operator')).body).toMatchObject({ state: 'running', wave: 1 });
  const { asked, gates } = gatesOf({ is: 'fail', note });
  await world.tend(rollout, { gates });
  expect(await world.show(rollout)).toMatchObject({ state: 'succeeded', states: { done: 1 } });
  expect(asked).toEqual([]);
});

test('a gate that is asked again and passes is not noted as passed by a person', async () => {
  const rollout = await answered([{ size: 1, advance: 'auto', gate }, { rest: true }], { is: 'fail', note });
  expect((await world.act(rollout, 'resume', {}, 'operator')).status).toBe(200);
  await world.tend(rollout, gatesOf(passes));
  const { waves, wave } = await world.show(rollout);
  expect(wave).toBe(2);
  expect(waves[0].gate).toMatchObject({ answer: 'pass' });
  expect(waves[0].gate).not.toHaveProperty('passed');
});

test('no gate is passed without the rule', async () => {
  const rollout = await answered([{ size: 1, advance: 'auto', gate }, { rest: true }], { is: 'fail', note });
  world.setPolicy({ set: 'temper', overrides: { ...unasked, 'temper:rollout:advance': '!' } });
  expect((await world.act(rollout, 'advance', {}, 'operator')).status).toBe(403);
  const { state, wave, waves } = await world.show(rollout);
  expect({ state, wave }).toEqual({ state: 'paused', wave: 1 });
  expect(waves[0].gate).not.toHaveProperty('passed');
});

test('a guard is not passed: it is asked again before anything is begun', async () => {
  const nodes = await world.nodes(['r1', 'r1']);
  const body = { select: { nodes }, guard: gate, waves: [{ size: 1 }, { rest: true }] };
  const rollout: Rollout = await world.plan(body, 'operator');
  await world.start(rollout, {}, 'operator');
  await world.tend(rollout, gatesOf(passes, { is: 'fail', note }));
  expect(await world.show(rollout)).toMatchObject({ state: 'paused', code: 'gate_failed', states: { pending: 2 } });
  const refused = await world.act(rollout, 'advance', {}, 'operator');
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('resume it instead')]);
  expect(await world.show(rollout)).toMatchObject({ state: 'paused', wave: 1 });
});
