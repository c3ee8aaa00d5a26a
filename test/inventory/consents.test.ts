/** Consent over the real SQL: a tenant's answer, windows and budget move a target; votes and retries are kept as they count. */
import { randomUUID } from 'node:crypto';
import { anonymous, type Caller } from '../../src/model/access/callers';
import type { NodeUuid, ProjectId } from '../../src/model/ids';
import type { SelectedNode } from '../../src/model/rollouts/domains';
import { beginTarget } from '../../src/rollouts/admit';
import type { RolloutDeps } from '../../src/rollouts/contract';
import { begin, endOf, nodesIn, runningRollout } from '../support/rollouts';
import { openStores, type Stores } from '../support/stores';

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores?.close());

const requester = {
  user_id: 'u',
  user_name: 'u',
  project_id: null,
  system_scope: 'all',
  strategy: 'noauth',
  request_id: 'r',
};
const minute = 60_000;

/** A rollout of one node that a project of its own leases, by the system. */
const world = async (spec: object = {}) => {
  const { owner, control } = stores;
  const lessee = randomUUID() as ProjectId;
  const [node] = await nodesIn(owner, [null]);
  await owner`update nodes set owner = 'an-owner', lessee = ${lessee} where uuid = ${node!.uuid}`;
  const leased = await owner<SelectedNode[]>`select * from nodes where uuid = ${node!.uuid}`;
  const made = await runningRollout(control, leased);
  const rollout = { ...made, spec: { ...made.spec, ...spec } };
  const uuid = node!.uuid as NodeUuid;
  const target = async () => (await control.rolloutTargets.find(rollout.id, uuid))!;
  const settle = async () => {
    const row = await target();
    return control.transaction((store) => store.rolloutConsents.settle(rollout, row));
  };
  const answer = (given: object) =>
    stores.api.transaction((store) =>
      store.rolloutConsents.answer(rollout.id, 0, { reason: null, requester, answer: 'now', ...given }),
    );
  const window = (from: string, minutes: number) =>
    stores.api.projectWindows.create({
      project: lessee,
      name: `w${from.replace(':', '')}`,
      days: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
      from,
      minutes,
      zone: 'UTC',
    });
  return { rollout, lessee, uuid, target, settle, answer, window };
};

test('a tenant changes its answer for one node a hundred times, and no more', async () => {
  const { rollout, answer, target } = await world();
  await stores.owner`
    insert into rollout_answers (rollout, position, answer, requester) select ${rollout.id}, 0, 'now', '{}' from generate_series(1, 99)`;
  expect(await answer({})).toBe(true);
  await expect(answer({ answer: 'refuse', reason: 'no' })).rejects.toMatchObject({ code: 'Conflict' });
  expect((await target()).state).toBe('pending');
});

test('without any word the tenant is asked, once, with an event of its own and a time for its answer', async () => {
  const { rollout, lessee, uuid, target, settle } = await world({ consent: { grace_ms: 60 * minute } });
  expect([await settle(), await settle()]).toEqual(['asks', 'asks']);
  const { state, not_before } = await target();
  expect(state).toBe('asked');
  expect(not_before!.getTime() - (await stores.control.clock())).toBeGreaterThan(59 * minute);
  const events = await stores.owner`select kind, project, data from events where node_uuid = ${uuid}`;
  expect(events.map(({ kind, project, data }) => [kind, project, data.rollout])).toEqual([
    ['rollout.asked', lessee, rollout.id],
  ]);
  expect(await stores.control.rolloutDue.targets(rollout.id, 0, 10)).toEqual([]);
});

test.each([
  ['now', {}, 'given'],
  ['at a time to come', { answer: 'at', at: new Date(Date.now() + 10 * minute) }, 'waits'],
])('an answer %s lets it go on', async (_, given, wanted) => {
  const { rollout, target, settle, answer } = await world();
  await settle();
  expect(await answer(given)).toBe(true);
  expect((await target()).state).toBe('pending');
  expect(await settle()).toBe(wanted);
  expect(await stores.control.rolloutDue.targets(rollout.id, 0, 10)).toHaveLength(wanted === 'given' ? 1 : 0);
});

test('a refusal passes the node over, with its reason; afterwards there is nothing to answer', async () => {
  const { target, settle, answer } = await world();
  await settle();
  expect(await answer({ answer: 'refuse', reason: 'our release is tonight' })).toBe(true);
  expect(await target()).toMatchObject({ state: 'skipped', code: 'tenant_refused', reason: 'our release is tonight' });
  expect(await answer({})).toBe(false);
});

test('a window of the tenant puts it off until it opens, and is an answer to the question as well', async () => {
  const { target, settle, answer, window } = await world();
  const at = new Date((await stores.control.clock()) + 90 * minute);
  const from = at.toISOString().slice(11, 16);
  const made = await window(from, 30);
  expect(await settle()).toBe('waits');
  expect((await target()).not_before!.toISOString().slice(11, 16)).toBe(from);
  expect(await answer({ answer: 'in', window: made })).toBe(true);
  expect(await settle()).toBe('waits');
  await stores.api.projectWindows.delete(made!.uuid);
  expect(await settle()).toBe('asks');
});

test('an open window and a disruption budget of the tenant are its consent', async () => {
  const opened = await world();
  await opened.window('00:00', 24 * 60);
  expect(await opened.settle()).toBe('given');
  const budgeted = await world();
  const budget = { project: budgeted.lessee, query: {}, max_unavailable: 1, min_available: null, description: null };
  await stores.api.disruptionBudgets.create(budget);
  expect(await budgeted.settle()).toBe('given');
});

test('a rollout that a project asked for itself needs no other word of it; that others name the project is none', async () => {
  const { rollout, lessee, target } = await world();
  const row = await target();
  const named = { ...rollout, project: lessee };
  const own = { ...named, requester: { ...requester, project_id: lessee } };
  const settle = (of: typeof named) => stores.control.transaction((store) => store.rolloutConsents.settle(of, row));
  expect([await settle(own), await settle(named)]).toEqual(['given', 'asks']);
});

test.each([
  ['window opens later', { is: 'waits', code: 'consent' }],
  ['window is gone', { is: 'skipped', code: 'no_consent' }],
])('another attempt needs the word of a tenant whose %s', async (name, wanted) => {
  const { rollout, uuid, target, settle, answer, window } = await world();
  await stores.owner`update rollout_targets set code = 'leased' where rollout = ${rollout.id}`;
  await settle();
  await answer({});
  expect(await settle()).toBe('given');
  await begin(stores.control, rollout, { position: 0, node_uuid: uuid });
  const [run] = await stores.owner`select id, node_uuid, fence from runs where node_uuid = ${uuid}`;
  await endOf(stores.control, run as never, 'failed');
  const at = new Date((await stores.control.clock()) + 90 * minute);
  const later = await window(at.toISOString().slice(11, 16), 30);
  await stores.owner`update rollout_answers set answer = 'in', window_id = ${later!.uuid} where rollout = ${rollout.id}`;
  if (name.includes('gone')) await stores.api.projectWindows.delete(later!.uuid);
  await stores.api.rolloutConsents.retry(rollout.id, 0);
  const [due] = await stores.control.rolloutDue.targets(rollout.id, 0, 10);
  const prepareFor = () => {
    throw new Error('was begun');
  };
  const deps = { inventory: stores.control, prepareFor } as unknown as RolloutDeps;
  expect(await beginTarget(deps, rollout, due!)).toEqual(wanted);
  expect(await stores.control.rolloutDue.targets(rollout.id, 0, 10)).toEqual([]);
  expect((await target()).state).toBe('failed');
});

test('a tenant that does not answer in time is overdue', async () => {
  const { rollout, target, settle } = await world({ consent: { grace_ms: 0 } });
  await settle();
  expect(await stores.control.rolloutConsents.overdue(rollout.id)).toMatchObject([{ position: 0 }]);
  expect((await stores.control.rolloutConsents.nextOverdue(rollout.id))!.getTime()).toBe(
    (await target()).not_before!.getTime(),
  );
});

describe('of a project’s nodes are missing for its budgets', () => {
  test('those that a rollout works on, that soak, and that failed while it goes on', async () => {
    const { rollout, lessee, uuid } = await world();
    const budget = { project: lessee, query: {}, max_unavailable: 1, min_available: null, description: null };
    const row = await stores.api.disruptionBudgets.create(budget);
    const missing = async () => (await stores.api.disruptionBudgets.disruption(row, { is: 'true' })).unavailable;
    const state = (text: string) =>
      stores.owner`update rollout_targets set state = ${text} where rollout = ${rollout.id}`;
    const counted: number[] = [];
    for (const text of ['pending', 'admitted', 'soaking', 'parked', 'failed', 'done']) {
      await state(text);
      counted.push(await missing());
    }
    expect(counted).toEqual([0, 1, 1, 1, 1, 0]);
    await state('failed');
    await stores.owner`update rollouts set state = 'stopped' where id = ${rollout.id}`;
    expect(await missing()).toBe(0);
    await stores.owner`update nodes set provision_state = 'service failed' where uuid = ${uuid}`;
    expect(await missing()).toBe(1);
  });
});

test('a failed target that is to be tried again counts as failed until it is begun', async () => {
  const { rollout, uuid, target } = await world();
  expect(await begin(stores.control, rollout, { position: 0, node_uuid: uuid })).toEqual({ is: 'admitted' });
  const [run] = await stores.owner`select id, node_uuid, fence from runs where node_uuid = ${uuid}`;
  await endOf(stores.control, run as never, 'failed');
  expect((await target()).state).toBe('failed');
  expect(await stores.api.rolloutConsents.retry(rollout.id, 0)).toBe(true);
  const total = async () => (await stores.control.rollouts.counters(rollout.id)).find(({ scope }) => scope === 'total');
  expect(await total()).toMatchObject({ failed: 1, in_flight: 0 });
  expect(await stores.control.rolloutDue.targets(rollout.id, 0, 10)).toHaveLength(1);
  expect(await stores.control.rolloutDue.targets(rollout.id, 1, 10)).toHaveLength(1);
  await stores.owner`update nodes set provision_state = 'active' where uuid = ${uuid}`;
  expect(await begin(stores.control, rollout, { position: 0, node_uuid: uuid })).toEqual({ is: 'admitted' });
  expect(await total()).toMatchObject({ failed: 0, in_flight: 1 });
});

describe('votes', () => {
  const caller: Caller = { ...anonymous, user_id: 'approver', roles: ['admin'] };
  const ballot = { user_id: 'approver', vote: 'approve' as const, caller, requester, rule_set: 'x', reason: 'read it' };

  test('count for one plan, one for each user, the newest', async () => {
    const { rollout } = await world();
    const { rolloutVotes: votes } = stores.api;
    await votes.cast(rollout, ballot, 1);
    await votes.cast(rollout, { ...ballot, vote: 'reject' }, 1);
    expect((await votes.standing(rollout.id, rollout.plan_hash)).map(({ vote }) => vote)).toEqual(['reject']);
    expect(await votes.standing(rollout.id, 'f'.repeat(64))).toEqual([]);
  });

  test('expire', async () => {
    const { rollout } = await world();
    await stores.api.rolloutVotes.cast(rollout, ballot, 0);
    expect(await stores.api.rolloutVotes.standing(rollout.id, rollout.plan_hash)).toEqual([]);
  });
});
