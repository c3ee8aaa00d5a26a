/** Counts for the caller's part of the world, and what it may do there: neither says more than lists and refusals do. */
import { startTestApi, type TestApi } from '../support/api';
import { runningRun, type SeenRun } from '../support/happenings';
import { rolloutOf } from '../support/rule-world';
import type { Persona } from '../support/world';

let api: TestApi;
let seen: SeenRun;
beforeAll(async () => {
  api = await startTestApi();
  seen = await runningRun(api, { state: 'parked' });
  const retried = await runningRun(api, { state: 'running', cursor: 0 });
  await api.sql`insert into run_steps (run_id, index, interface, step, state, last_error)
    values (${retried.run}, 0, 'power', 'reboot', 'running', 'no answer')`;
  await api.sql`update nodes set lessee = null, maintenance = true, fault = 'power failure' where uuid = ${retried.node}`;
  await api.sql`insert into nodes (driver, provision_state, power_state) values ('fake-hardware', 'available', 'power off')`;
});
afterAll(() => api?.close());

const summaryFor = async (who: Persona) => (await api.as(who, 'GET', '/temper/v1/summary')).body;

test('everything is counted for the operator', async () => {
  expect(await summaryFor('operator')).toEqual({
    nodes: {
      count: 3,
      provision_state: { active: 2, available: 1 },
      power_state: { 'power off': 1, unknown: 2 },
      fault: { 'power failure': 1 },
      maintenance: 1,
    },
    runs: { phase: { parked: 1, retrying: 1 } },
  });
});

test.each<[Persona, number, Record<string, number>]>([
  ['owner-reader', 2, { parked: 1, retrying: 1 }],
  ['lessee-reader', 1, { parked: 1 }],
  ['stranger-admin', 0, {}],
])('for %s only what its lists hold', async (who, nodes, phase) => {
  expect(await summaryFor(who)).toMatchObject({ nodes: { count: nodes }, runs: { phase } });
  expect((await api.as(who, 'GET', '/v1/nodes')).body.nodes).toHaveLength(nodes);
});

test('what needs care is counted alone, for each caller what it may see', async () => {
  await api.sql`insert into nodes (driver, provision_state, power_state) values ('fake-hardware', 'clean failed', 'power on'), ('fake-hardware', 'error', null)`;
  const trouble = async (who: Persona) => (await api.as(who, 'GET', '/temper/v1/summary?only=trouble')).body;
  expect(await trouble('operator')).toEqual({
    nodes: {
      count: 2,
      provision_state: { 'clean failed': 1, error: 1 },
      power_state: {},
      fault: { 'power failure': 1 },
      maintenance: 1,
    },
    runs: { phase: {} },
  });
  expect((await trouble('owner-reader')).nodes).toMatchObject({ provision_state: {}, maintenance: 1 });
  expect((await trouble('lessee-reader')).nodes).toMatchObject({ fault: {}, maintenance: 0 });
  expect((await api.as('operator', 'GET', '/temper/v1/summary?only=all')).status).toBe(400);
  await api.sql`delete from nodes where provision_state in ('clean failed', 'error')`;
});

const can = (who: Persona, asks: readonly object[]) => api.as(who, 'POST', '/temper/v1/policy/can', { body: { asks } });

test('rules with objects are answered in their order, with the reason of a refusal', async () => {
  const asks = [
    { rule: 'temper:run:retry', run: seen.run },
    { rule: 'temper:run:skip', run: seen.run },
    { rule: 'baremetal:node:set_power_state', node: seen.node },
    { rule: 'temper:audit:get' },
  ];
  const { status, body } = await can('lessee-member', asks);
  expect(status).toBe(200);
  expect(body.answers).toMatchObject([
    { rule: 'temper:run:retry', allowed: true, reason: null },
    {
      allowed: false,
      reason: expect.stringMatching(/^The rule temper:run:skip does not admit you\. Go on with a run/),
    },
    { rule: 'baremetal:node:set_power_state', allowed: true },
    { rule: 'temper:audit:get', allowed: false },
  ]);
});

test('what is answered is what the act itself answers', async () => {
  const who: readonly Persona[] = [
    'operator',
    'owner-manager',
    'owner-member',
    'owner-reader',
    'lessee-member',
    'lessee-reader',
  ];
  for (const persona of who)
    for (const act of ['pause', 'skip', 'abort']) {
      const { body } = await can(persona, [{ rule: `temper:run:${act}`, run: seen.run }]);
      const done = await api.as(persona, 'POST', `/temper/v1/runs/${seen.run}/${act}`, { body: { reason: 'a test' } });
      expect({ persona, act, allowed: body.answers[0].allowed }).toEqual({
        persona,
        act,
        allowed: done.status === 202,
      });
    }
});

test('of a rollout the answer is the one that the act gets, for the whole and for a node of it', async () => {
  const rollout = await rolloutOf(api, seen.node, 'running');
  const { node } = seen;
  await api.sql`update rollout_targets set state = 'asked', owner = 'project-owner', lessee = 'project-lessee' where rollout = ${rollout}`;
  const answersFor = async (who: Persona) =>
    (
      await can(who, [
        { rule: 'temper:rollout:pause', rollout },
        { rule: 'temper:rollout:answer', rollout, node },
        { rule: 'temper:rollout:skip', rollout, node },
      ])
    ).body.answers.map(({ allowed }: { allowed: boolean }) => allowed);
  expect(await answersFor('owner-manager')).toEqual([true, false, true]);
  expect(await answersFor('owner-member')).toEqual([false, false, false]);
  expect(await answersFor('lessee-manager')).toEqual([false, true, false]);
  expect(await answersFor('lessee-member')).toEqual([false, false, false]);
  // Who sees a node of it alone gets the answer of a missing rollout about the whole.
  const hidden = { allowed: false, reason: 'It does not exist, or you may not see it.' };
  const whole = { rule: 'temper:rollout:get', rollout };
  expect((await can('lessee-manager', [whole])).body.answers[0]).toMatchObject(hidden);
  for (const ask of [whole, { ...whole, node }, { rule: 'temper:rollout:answer', rollout: seen.run, node }])
    expect((await can('stranger-admin', [ask])).body.answers[0]).toMatchObject(hidden);
});

test('a hidden object is answered as a missing one, whatever the rule', async () => {
  const missing = '00000000-0000-4000-8000-00000000dead';
  const { body } = await can('stranger-admin', [
    { rule: 'temper:run:get', run: seen.run },
    { rule: 'temper:run:get', run: missing },
    { rule: 'baremetal:node:get', node: seen.node },
    { rule: 'baremetal:node:get', node: missing },
    { rule: 'baremetal:runbook:get', runbook: missing },
    { rule: 'baremetal:allocation:get', allocation: missing },
  ]);
  const hidden = { allowed: false, reason: 'It does not exist, or you may not see it.' };
  expect(body.answers).toHaveLength(6);
  for (const answer of body.answers) expect(answer).toMatchObject(hidden);
});

test.each([
  ['nothing', []],
  ['too much', Array.from({ length: 101 }, () => ({ rule: 'x' }))],
  ['two objects at once', [{ rule: 'x', node: 'a', run: 'b' }]],
  ['a rollout with a run', [{ rule: 'x', rollout: 'a', run: 'b' }]],
])('%s is no question', async (_, asks) => {
  expect((await can('operator', asks)).status).toBe(400);
});

test('a rule that an operator’s file replaces is not described by the built-in text', async () => {
  api.setPolicy({ set: 'temper', overrides: { 'temper:run:skip': '!' } });
  try {
    const { body } = await can('operator', [{ rule: 'temper:run:skip', run: seen.run }]);
    expect(body.answers[0]).toEqual({
      rule: 'temper:run:skip',
      allowed: false,
      reason: 'The rule temper:run:skip does not admit you.',
    });
  } finally {
    api.setPolicy({ set: 'temper' });
  }
});
