/** Gates that ask their metrics several times, and guards: what they have answered is kept, shown, and counted against their limits. */
import type { GateAnswer } from '../../src/model/rollouts/gates';
import type { Gates } from '../../src/rollouts/gates';
import { type RolloutWorld, startRestartWorld, unasked } from '../support/rollout-world';

const metric = { query: 'sum(alarms)', at_most: 0 };

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());
beforeEach(() => world.setPolicy({ set: 'temper', overrides: unasked }));

type Is = 'pass' | 'fail' | 'inconclusive';
type Rollout = { readonly uuid: string; readonly plan_hash: string };

/** Answers these in turn, both at a wave's end and as a guard; more are a fault of the test. */
const answering = (...answers: readonly Is[]) => {
  const left = [...answers];
  const next = async (): Promise<GateAnswer> => {
    const is = left.shift();
    if (!is) throw new Error('asked once too often');
    return { is, note: `it says ${is}` };
  };
  const gates: Gates = { ask: next, guard: next };
  return { gates, left };
};

const begun = async (over: object, nodes = 2): Promise<Rollout> => {
  const select = { nodes: await world.nodes(Array(nodes).fill('r1')) };
  const rollout: Rollout = await world.plan({ select, ...over }, 'operator');
  await world.start(rollout, {}, 'operator');
  return rollout;
};

/** The first wave is over, and nothing was asked yet. */
const atItsEnd = async (more: object): Promise<Rollout> => {
  const waves = [{ size: 1, advance: 'auto', gate: { metric: { ...metric, ...more } } }, { rest: true }];
  const rollout = await begun({ waves });
  await world.tend(rollout);
  await world.endRuns(rollout);
  return rollout;
};

const gateIsDue = ({ uuid }: Rollout) => world.api.sql`
  update rollout_waves set gate = jsonb_set(gate, '{until}', to_jsonb((now() - interval '1 second')::text))
  where rollout = ${uuid} and gate ->> 'until' is not null`;
const guardIsDue = ({ uuid }: Rollout) => world.api.sql`
  update rollouts set guard = jsonb_set(jsonb_set(guard, '{until}', 'null'), '{at}', '"2001-01-01T00:00:00Z"') where id = ${uuid}`;

describe('a gate with a count', () => {
  test('is asked so often, an interval apart, before the next wave opens; how far it is stands in the rollout', async () => {
    const rollout = await atItsEnd({ count: 2, interval: '10m' });
    const { gates, left } = answering('pass', 'pass');
    await world.tend(rollout, { gates });
    await world.tend(rollout, { gates });
    expect(left).toHaveLength(1);
    const shown = await world.show(rollout);
    expect(shown).toMatchObject({
      state: 'running',
      wave: 1,
      reason: expect.stringContaining('1 of 2 asked'),
      states: { done: 1, pending: 1 },
      waves: [{ gate: { answer: 'later', samples: { taken: 1, failed: 0, inconclusive: 0 } } }, {}],
    });
    const { at, until } = shown.waves[0].gate;
    expect(Date.parse(until) - Date.parse(at)).toBe(600_000);
    await gateIsDue(rollout);
    await world.tend(rollout, { gates });
    expect(await world.show(rollout)).toMatchObject({
      wave: 2,
      reason: null,
      waves: [{ gate: { answer: 'pass', samples: { taken: 2 } } }, {}],
    });
  });

  test.each<[string, object, readonly Is[], string | null]>([
    ['fails with the first failure', { count: 3 }, ['fail'], 'gate_failed'],
    ['fails with the first beyond its limit', { count: 4, fail_limit: 1 }, ['fail', 'pass', 'fail'], 'gate_failed'],
    ['passes with failures within its limit', { count: 3, fail_limit: 1 }, ['fail', 'pass', 'pass'], null],
    ['passes with silences within theirs', { count: 2, inconclusive_limit: 1 }, ['inconclusive', 'pass'], null],
    ['is inconclusive beyond those', { count: 3, fail_limit: 2 }, ['fail', 'inconclusive'], 'gate_inconclusive'],
  ])('%s', async (_, more, answers, code) => {
    const rollout = await atItsEnd(more);
    const { gates, left } = answering(...answers);
    for (const _answer of answers) {
      await world.tend(rollout, { gates });
      await gateIsDue(rollout);
    }
    expect(left).toEqual([]);
    const { state, code: shown, wave } = await world.show(rollout);
    expect({ state, code: shown, wave }).toEqual(
      code === null ? { state: 'running', code: null, wave: 2 } : { state: 'paused', code, wave: 1 },
    );
  });

  test('counts anew when a person has it asked again', async () => {
    const rollout = await atItsEnd({ count: 3, fail_limit: 1 });
    const first = answering('fail', 'fail');
    await world.tend(rollout, first);
    await gateIsDue(rollout);
    await world.tend(rollout, first);
    expect(await world.show(rollout)).toMatchObject({ state: 'paused', code: 'gate_failed' });
    await world.act(rollout, 'resume', {}, 'operator');
    await world.tend(rollout, answering('fail'));
    expect(await world.show(rollout)).toMatchObject({
      state: 'running',
      waves: [{ gate: { samples: { taken: 1, failed: 1 } } }, {}],
    });
  });
});

test.each([
  ['gate', { count: 2, fail_limit: 1, inconclusive_limit: 1 }, 'one answer at least has to pass'],
  ['gate', { fail_limit: 1 }, 'one answer at least has to pass'],
  ['gate', { interval: '1m' }, 'interval comes with a count'],
  ['gate', { count: 2, interval: '5s' }, 'at least 10s'],
  ['gate', { count: 0 }, 'count'],
  ['guard', { count: 2 }, 'count'],
  ['guard', { interval: '1m' }, 'interval comes with a fail_limit'],
] as const)('a %s with %p is no plan: %s', async (of, more, says) => {
  const nodes = await world.nodes(['r1', 'r1']);
  const asked = { metric: { ...metric, ...more } };
  const body = of === 'guard' ? { guard: asked } : { waves: [{ size: 1, gate: asked }, { rest: true }] };
  const reply = await world.api.as('operator', 'POST', '/temper/v1/rollouts', {
    body: { runbook: 'CUSTOM_RESTART', select: { nodes }, ...body },
  });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(says)]);
});

describe('a guard', () => {
  const guarded = (more: object = {}, nodes = 2) =>
    begun({ waves: [{ rest: true }], guard: { metric: { ...metric, ...more } } }, nodes);

  test('that was not asked yet has answered nothing; what it answers is shown with when', async () => {
    const rollout = await guarded();
    expect((await world.show(rollout)).guard).toBeNull();
    await world.tend(rollout, answering('fail'));
    expect(await world.show(rollout)).toMatchObject({
      state: 'paused',
      code: 'gate_failed',
      guard: { answer: 'fail', note: 'it says fail', at: expect.any(String) },
      states: { pending: 2 },
    });
    await world.act(rollout, 'resume', {}, 'operator');
    await world.tend(rollout, answering('pass'));
    expect(await world.show(rollout)).toMatchObject({ guard: { answer: 'pass' }, states: { admitted: 2 } });
    const replanned = await guarded();
    expect((await world.show(replanned)).guard).toBeNull();
  });

  test('is asked while nodes work as well, and pauses what it no longer lets pass', async () => {
    const rollout = await guarded({}, 2);
    const { nextMs } = await world.tend(rollout, answering('pass'));
    expect(await world.show(rollout)).toMatchObject({ states: { admitted: 2 } });
    expect(nextMs).toBe(30_000);
    await guardIsDue(rollout);
    await world.tend(rollout, answering('inconclusive'));
    expect(await world.show(rollout)).toMatchObject({
      state: 'paused',
      code: 'gate_inconclusive',
      guard: { answer: 'inconclusive' },
    });
  });

  test('that has passed is believed by every control worker for half a minute', async () => {
    const rollout = await guarded({}, 2);
    await world.tend(rollout, answering('pass'));
    await world.tend(rollout, answering());
    expect((await world.show(rollout)).state).toBe('running');
  });

  test('that seems to have answered in an hour, for the clock of the store was set back, is asked again', async () => {
    const early = ({ uuid }: Rollout) => world.api.sql`
      update rollouts set guard = guard || jsonb_build_object('at', now() + interval '1 hour', 'until', now() + interval '2 hours')
      where id = ${uuid}`;
    const rollout = await guarded({ fail_limit: 1, interval: '10m' });
    await world.tend(rollout, answering('pass'));
    await early(rollout);
    await world.tend(rollout, answering('fail'));
    expect(await world.show(rollout)).toMatchObject({ state: 'running', guard: { answer: 'later' } });
    await early(rollout);
    await world.tend(rollout, answering('fail'));
    expect(await world.show(rollout)).toMatchObject({ state: 'paused', code: 'gate_failed' });
  });

  test('may fail as often in a row as its limit says; nothing is begun meanwhile', async () => {
    const rollout = await guarded({ fail_limit: 1, interval: '10m' });
    await world.tend(rollout, answering('fail'));
    await world.tend(rollout, answering());
    expect(await world.show(rollout)).toMatchObject({
      state: 'running',
      code: 'gate_inconclusive',
      guard: { answer: 'later', samples: { failed: 1 } },
      states: { pending: 2 },
    });
    await guardIsDue(rollout);
    await world.tend(rollout, answering('pass'));
    expect(await world.show(rollout)).toMatchObject({ code: null, reason: null, states: { admitted: 2 } });
    for (const [answer, state] of [
      ['fail', 'running'],
      ['fail', 'paused'],
    ] as const) {
      await guardIsDue(rollout);
      await world.tend(rollout, answering(answer));
      expect((await world.show(rollout)).state).toBe(state);
    }
    expect(await world.show(rollout)).toMatchObject({ code: 'gate_failed', guard: { samples: { failed: 2 } } });
  });
});
