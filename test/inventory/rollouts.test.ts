/** The promise of rollouts in a real store: never more harmed, or in danger of it, than the budget; no target lost or begun twice. */
import fc from 'fast-check';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { RolloutRow } from '../../src/inventory/rollouts/rollouts';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { always } from '../../src/model/predicates';
import type { Limits } from '../../src/model/rollouts/layout';
import { begin, brokenCounters, endOf, nodesIn, runningRollout } from '../support/rollouts';
import { openStores } from '../support/stores';

let owner: Sql;
let api: Inventory;
let control: Inventory;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ owner, api, control, close } = await openStores(6));
});
afterEach(() => close());

const targetsOf = (rollout: RolloutRow) => control.rolloutTargets.list(rollout.id, { visible: always, limit: 1_000 });
const states = async (rollout: RolloutRow) => (await targetsOf(rollout)).map(({ state }) => state);
const openRuns = (rollout: RolloutRow) => owner<{ id: RunUuid; node_uuid: NodeUuid; fence: number; state: string }[]>`
  select id, node_uuid, fence, state from runs where batch = ${rollout.id} and finished_at is null order by id`;
const total = async (rollout: RolloutRow) => {
  const [{ in_flight, failed, parked, done } = { in_flight: -1, failed: -1, parked: -1, done: -1 }] =
    await control.rollouts.counters(rollout.id);
  return { in_flight, failed, parked, done };
};
const setRun = (run: RunUuid, state: string) => owner`update runs set state = ${state} where id = ${run}`;

test('a target is in flight from its admission until its run has ended, and its end is counted with it', async () => {
  const nodes = await nodesIn(owner, ['r1', 'r1', 'r2']);
  const rollout = await runningRollout(api, nodes);
  const [first, second, third] = await targetsOf(rollout);
  for (const target of [first!, second!, third!])
    expect(await begin(control, rollout, target)).toEqual({ is: 'admitted' });
  expect(await total(rollout)).toEqual({ in_flight: 3, failed: 0, parked: 0, done: 0 });
  const runs = await openRuns(rollout);
  const runOf = (uuid: string) => runs.find(({ node_uuid }) => node_uuid === uuid)!;
  await endOf(control, runOf(first!.node_uuid), 'succeeded');
  await endOf(control, runOf(second!.node_uuid), 'failed');
  await endOf(control, runOf(third!.node_uuid), 'aborted'); // by a caller, not by the rollout
  expect(await states(rollout)).toEqual(['done', 'failed', 'failed']);
  expect(await total(rollout)).toEqual({ in_flight: 0, failed: 2, parked: 0, done: 1 });
});

test('a soaking target is in flight until its soak is over', async () => {
  const nodes = await nodesIn(owner, [null]);
  const rollout = await runningRollout(api, nodes, { waves: [{ size: 'rest', advance: 'auto', soak_ms: 3_600_000 }] });
  const [target] = await targetsOf(rollout);
  await begin(control, rollout, target!);
  await endOf(control, (await openRuns(rollout))[0]!, 'succeeded');
  expect(await states(rollout)).toEqual(['soaking']);
  expect(await total(rollout)).toMatchObject({ in_flight: 1, done: 0 });
  expect(await control.rolloutTargets.soaked(rollout.id)).toEqual([]);
  await owner`update rollout_targets set soak_until = now() where rollout = ${rollout.id}`;
  expect(await control.rolloutTargets.soaked(rollout.id)).toEqual([{ position: 0 }]);
  await owner`update nodes set power_state = 'error'`;
  expect(await control.rolloutTargets.closeSoak(rollout.id, 0)).toBe(true);
  expect((await targetsOf(rollout))[0]).toMatchObject({
    code: 'soak_failed',
    reason: expect.stringContaining('power state'),
  });
  expect(await total(rollout)).toEqual({ in_flight: 0, failed: 1, parked: 0, done: 0 });
});

test('a coordinator that stood still ends no soak that another has ended, nor a target that is under way again', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null]), {
    waves: [{ size: 'rest', advance: 'auto', soak_ms: 1 }],
  });
  const [target] = await targetsOf(rollout);
  await begin(control, rollout, target!);
  await endOf(control, (await openRuns(rollout))[0]!, 'succeeded');
  await owner`update rollout_targets set soak_until = now()`;
  await owner`update nodes set maintenance = true`;
  expect([await control.rolloutTargets.closeSoak(rollout.id, 0), await states(rollout)]).toEqual([true, ['failed']]);
  await owner`update nodes set maintenance = false`;
  expect(await control.rolloutTargets.closeSoak(rollout.id, 0)).toBe(false);
  await control.rolloutConsents.retry(rollout.id, 0);
  expect(await begin(control, rollout, target!)).toEqual({ is: 'admitted' });
  expect(await control.rolloutTargets.closeSoak(rollout.id, 0)).toBe(false);
  expect(await total(rollout)).toEqual({ in_flight: 1, failed: 0, parked: 0, done: 0 });
});

test('what was due a moment ago is not begun: a target that has failed meanwhile, or that its tenant has put off', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null]));
  const [target] = await control.rolloutDue.targets(rollout.id, 0, 10);
  await owner`update rollout_targets set not_before = now() + interval '1 hour'`;
  expect(await begin(control, rollout, target!)).toEqual({ is: 'begun' });
  await owner`update rollout_targets set not_before = null`;
  expect(await begin(api, rollout, target!)).toEqual({ is: 'admitted' });
  await endOf(api, (await openRuns(rollout))[0]!, 'failed');
  await owner`update nodes set provision_state = 'active', maintenance = false`;
  expect(await begin(control, rollout, target!)).toEqual({ is: 'begun' });
  expect(await total(rollout)).toEqual({ in_flight: 0, failed: 1, parked: 0, done: 0 });
});

test('a failed target of an earlier wave is due again when it is to be tried again', async () => {
  const waves = [1, 'rest' as const].map((size) => ({ size, advance: 'auto' as const, soak_ms: 0 }));
  const rollout = await runningRollout(api, await nodesIn(owner, [null, null]), { waves });
  const due = async () => (await control.rolloutDue.targets(rollout.id, 1, 10)).map(({ position }) => position);
  await begin(control, rollout, (await targetsOf(rollout))[0]!);
  await endOf(control, (await openRuns(rollout))[0]!, 'failed');
  expect(await due()).toEqual([1]);
  await control.rolloutConsents.retry(rollout.id, 0);
  expect(await due()).toEqual([0, 1]);
});

test('a parked target is harm until a person decides, and a retry that succeeds gives it back', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null, null]), { budget: { total: 1, each: [] } });
  const [first, second] = await targetsOf(rollout);
  await begin(control, rollout, first!);
  const [run] = await openRuns(rollout);
  await setRun(run!.id, 'parked');
  expect(await total(rollout)).toMatchObject({ in_flight: 0, parked: 1 });
  expect(await begin(control, rollout, second!)).toEqual({ is: 'full', scope: 'total', value: '' });
  await setRun(run!.id, 'running');
  expect(await states(rollout)).toEqual(['admitted', 'pending']);
  await endOf(control, run!, 'succeeded');
  expect(await total(rollout)).toEqual({ in_flight: 0, failed: 0, parked: 0, done: 1 });
  expect(await begin(control, rollout, second!)).toEqual({ is: 'admitted' });
});

test('a parked target keeps its place in its failure domain, for its run may go on at any time; not among those at once', async () => {
  const nodes = await nodesIn(owner, ['r1', 'r1', 'r2']);
  const rollout = await runningRollout(api, nodes, { spread: [{ by: 'properties.rack', max: 1 }], max_in_flight: 1 });
  const [first, second, third] = await targetsOf(rollout);
  expect(await begin(control, rollout, first!)).toEqual({ is: 'admitted' });
  const [run] = await openRuns(rollout);
  await setRun(run!.id, 'parked');
  expect(await begin(control, rollout, second!)).toEqual({ is: 'full', scope: 'properties.rack', value: 'r1' });
  expect((await control.rolloutDue.targets(rollout.id, 0, 10)).map(({ position }) => position)).toEqual([
    third!.position,
  ]);
  expect(await begin(control, rollout, third!)).toEqual({ is: 'admitted' });
  await setRun(run!.id, 'running');
  expect(await total(rollout)).toEqual({ in_flight: 2, failed: 0, parked: 0, done: 0 });
  await endOf(control, run!, 'succeeded');
  for (const left of await openRuns(rollout)) await endOf(control, left, 'succeeded');
  expect(await begin(control, rollout, second!)).toEqual({ is: 'admitted' });
});

test('a failed target that is tried again takes no room of others, and its success gives the harm back', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null, null]), { budget: { total: 1, each: [] } });
  const [first] = await targetsOf(rollout);
  await begin(control, rollout, first!);
  await endOf(control, (await openRuns(rollout))[0]!, 'failed');
  await owner`update nodes set provision_state = 'active', maintenance = false`;
  await api.rolloutConsents.retry(rollout.id, 0);
  expect(await begin(control, rollout, first!)).toEqual({ is: 'admitted' });
  expect(await total(rollout)).toEqual({ in_flight: 1, failed: 0, parked: 0, done: 0 });
  await endOf(control, (await openRuns(rollout))[0]!, 'succeeded');
  expect(await total(rollout)).toEqual({ in_flight: 0, failed: 0, parked: 0, done: 1 });
});

test('what the rollout itself aborts is no harm, unless its node is left in a failed state', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null, null]));
  for (const target of await targetsOf(rollout)) await begin(control, rollout, target);
  const runs = await openRuns(rollout);
  expect(await control.rolloutTargets.abortAsked(rollout.id)).toHaveLength(2);
  await owner`update runs set abort_at = now()`;
  expect(await control.rolloutTargets.abortAsked(rollout.id)).toEqual([]);
  await endOf(control, runs[0]!, 'aborted');
  await control.transaction((store) =>
    store.runs.finish(
      { run: runs[1]!.id, node_uuid: runs[1]!.node_uuid, fence: runs[1]!.fence },
      {
        state: 'aborted',
        to: 'service failed',
        target: null,
        error: 'left',
        fault: null,
        cursor: 0,
        forgetPower: false,
        forgetInstance: false,
      },
    ),
  );
  expect((await states(rollout)).sort()).toEqual(['aborted', 'failed']);
  expect(await total(rollout)).toEqual({ in_flight: 0, failed: 1, parked: 0, done: 0 });
});

test('a node that changed hands after the plan is not begun: not by a new owner, lessee or lease of the same lessee', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null]));
  const [target] = await targetsOf(rollout);
  for (const change of [{ owner: 'p2' }, { owner: null, lessee: 'p3' }]) {
    await owner`update nodes set ${owner(change)}`;
    expect(await begin(control, rollout, target!)).toEqual({ is: 'changed' });
  }
  await owner`update rollout_targets t set lessee = n.lessee, lease_id = n.lease_id from nodes n`;
  await owner`update nodes set lessee = null`;
  await owner`update nodes set lessee = 'p3'`;
  expect(await begin(control, rollout, target!)).toEqual({ is: 'changed' });
  expect(await total(rollout)).toMatchObject({ in_flight: 0 });
});

test('nothing is begun of a paused rollout, by an older plan, or twice', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null, null]));
  const [first, second] = await targetsOf(rollout);
  expect(await begin(control, { ...rollout, plan_hash: 'older' }, first!)).toEqual({ is: 'closed' });
  await begin(control, rollout, first!);
  expect(await begin(control, rollout, first!)).toEqual({ is: 'begun' });
  expect(await api.rollouts.move(rollout, ['running'], 'paused', { code: 'operator' })).toBe(true);
  expect(await begin(control, rollout, second!)).toEqual({ is: 'closed' });
  expect(await api.rollouts.move(rollout, ['running'], 'paused')).toBe(false);
});

test('a coordinator that stood still opens no wave again that is over', async () => {
  const wave = { size: 1, advance: 'auto', soak_ms: 0 } as const;
  const waves = [wave, wave, { ...wave, size: 'rest' }] as const;
  const rollout = await runningRollout(api, await nodesIn(owner, ['r1', 'r1', 'r1']), { waves });
  const to = (next: number) => control.rollouts.move(rollout, ['running'], 'running', { wave: next });
  expect([await to(1), await to(1), await to(2), await to(1)]).toEqual([true, false, true, false]);
  expect((await control.rollouts.find(rollout.id))!.wave).toBe(2);
});

test('a node that a run holds refuses, and the counters are as before', async () => {
  const nodes = await nodesIn(owner, [null]);
  const [one, other] = [await runningRollout(api, nodes), await runningRollout(api, nodes)];
  const [target] = await targetsOf(one);
  await begin(control, one, target!);
  expect(await begin(control, other, (await targetsOf(other))[0]!)).toEqual({ is: 'refused', code: 'NodeLocked' });
  expect(await total(other)).toEqual({ in_flight: 0, failed: 0, parked: 0, done: 0 });
  expect(await states(other)).toEqual(['pending']);
});

test.each([
  ['store', 'paused', 'restored'],
  ['unknown', 'paused', 'restored'],
  ['engine', 'running', null],
] as const)('after a restore of %s a rollout that ran is %s', async (side, state, code) => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null]));
  await control.recovery.enter({ side, reason: 'older' });
  expect(await api.recovery.leave()).toBe(true);
  expect(await api.rollouts.find(rollout.id)).toMatchObject({ state, code });
});

test.each([
  ['store', true],
  ['engine', false],
] as const)(
  'after a restore of %s a rollout that was to begin at a time waits for a person: %s',
  async (side, waits) => {
    const rollout = await runningRollout(api, await nodesIn(owner, [null]));
    await owner`
    update rollouts set state = 'scheduled', started_at = null, start_at = now() - interval '1 hour' where id = ${rollout.id}`;
    await control.recovery.enter({ side, reason: 'older' });
    expect(await api.recovery.leave()).toBe(true);
    expect((await api.rolloutWakes.due()).includes(rollout.id)).toBe(!waits);
    await owner`update rollouts set state = 'aborted', start_at = null where id = ${rollout.id}`;
  },
);

test('the schema itself refuses more harm than the budget', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null, null]), { budget: { total: 1, each: [] } });
  await expect(
    owner`update rollout_counters set in_flight = 2 where rollout = ${rollout.id} and scope = 'total'`,
  ).rejects.toMatchObject({
    constraint_name: 'harm_within_budget',
  });
});

test('a rollout that has begun is woken, once for all that happened since, and not sooner than it may be', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null]));
  await begin(control, rollout, (await targetsOf(rollout))[0]!);
  await endOf(control, (await openRuns(rollout))[0]!, 'succeeded');
  const [wake, ...others] = await control.rolloutWakes.unsent(1_000);
  expect(others).toEqual([]);
  expect(wake?.rollout).toBe(rollout.id);
  await control.rolloutWakes.want(rollout.id);
  await control.rolloutWakes.sent(wake!);
  expect(await control.rolloutWakes.unsent(60_000)).toEqual([]); // sent a moment ago
  const [again] = await control.rolloutWakes.unsent(0);
  expect(again).toEqual({ rollout: rollout.id, wanted: wake!.wanted + 1 });
  await control.rolloutWakes.sent(again!);
  expect(await control.rolloutWakes.unsent(0)).toEqual([]);
  expect(await control.rolloutWakes.silent(60_000)).toEqual([rollout.id]);
  await control.rolloutWakes.advanced(rollout.id);
  expect(await control.rolloutWakes.silent(60_000)).toEqual([]);
});

test('a rollout that was woken or looked at before the clock of the store was set back is woken again', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, [null]));
  await control.rolloutWakes.want(rollout.id);
  await control.rolloutWakes.sent({ rollout: rollout.id, wanted: 0 });
  await control.rolloutWakes.advanced(rollout.id);
  const woken = async () => [
    (await control.rolloutWakes.unsent(60_000)).some((wake) => wake.rollout === rollout.id),
    (await control.rolloutWakes.silent(60_000)).includes(rollout.id),
  ];
  expect(await woken()).toEqual([false, false]);
  await owner`update rollout_wakes set sent_at = now() + interval '1 hour' where rollout = ${rollout.id}`;
  await owner`update rollouts set advanced_at = now() + interval '1 hour' where id = ${rollout.id}`;
  expect(await woken()).toEqual([true, true]);
});

// The theorem: random fleets, bounds and outcomes, two coordinators with connections of their own, faults in the middle.
const bound = fc.record({ by: fc.constant('properties.rack'), max: fc.integer({ min: 1, max: 3 }) });
const world = fc.record({
  racks: fc.array(fc.constantFrom('r1', 'r2', 'r3', null), { minLength: 2, maxLength: 14 }),
  limits: fc.record({
    spread: fc.array(bound, { maxLength: 1 }),
    budget: fc.record({
      total: fc.integer({ min: 1, max: 6 }),
      wave: fc.integer({ min: 1, max: 4 }),
      each: fc.array(bound, { maxLength: 1 }),
    }),
  }),
  // What each coordinator and each run does next, in turn.
  dice: fc.array(fc.nat(99), { minLength: 60, maxLength: 60 }),
});

const theWholeTruth = (rollout: RolloutRow) => brokenCounters(owner, rollout);

/** One coordinator: begins what it can, with faults; another one does the same at the same time. */
const coordinator = async (
  inventory: Inventory,
  rollout: RolloutRow,
  next: () => number,
  oddities: string[],
): Promise<void> => {
  for (let pass = 0; pass < 6; pass++) {
    const targets = await inventory.rolloutTargets.list(rollout.id, { visible: always, limit: 100 });
    const beginnable = targets.filter(({ state }) => state === 'pending' || (state === 'failed' && next() < 20));
    for (const target of next() < 50 ? beginnable : beginnable.reverse()) {
      const dies = next() < 15;
      if (target.state === 'failed') await inventory.rolloutConsents.retry(rollout.id, target.position);
      const begun = await begin(inventory, rollout, target, async () => {
        if (dies) throw Object.assign(new Error('killed'), { code: 'killed' });
      });
      if (begun.is === 'refused' && !['killed', 'NodeLocked', 'InvalidState'].includes(begun.code))
        oddities.push(begun.code);
    }
  }
};

/** Ends runs, parks them and takes them up again, in any order. */
const ender = async (inventory: Inventory, rollout: RolloutRow, next: () => number): Promise<void> => {
  for (let pass = 0; pass < 12; pass++) {
    const runs = await openRuns(rollout);
    for (const run of next() < 50 ? runs : runs.reverse()) {
      const die = next();
      if (die < 25) await setRun(run.id, die < 12 ? 'parked' : 'running');
      else if (die < 75) await endOf(inventory, run, die < 45 ? 'succeeded' : die < 65 ? 'failed' : 'aborted');
    }
    // What a person does: the node is put right, and may be tried again.
    await owner`update nodes set provision_state = 'active', maintenance = false, fault = null
      where reservation is null and provision_state = 'service failed'`;
  }
};

test('whatever two coordinators, faults and the order of ends do, no bound is passed and no target is lost or begun twice', async () => {
  // It is the admission that is put to the test here; the schema's own refusal has a test above.
  await owner`alter table rollout_counters drop constraint harm_within_budget`;
  await fc.assert(
    fc.asyncProperty(world, async ({ racks, limits, dice }) => {
      const nodes = await nodesIn(owner, racks);
      const rollout = await runningRollout(api, nodes, limits as Partial<Limits>);
      let at = 0;
      const next = (): number => dice[at++ % dice.length]!;
      const oddities: string[] = [];
      const broken = new Set<string>();
      let over = false;
      const watch = (async () => {
        while (!over) for (const scope of await theWholeTruth(rollout)) broken.add(scope);
      })();
      await Promise.all([
        coordinator(control, rollout, next, oddities),
        coordinator(api, rollout, next, oddities),
        ender(control, rollout, next),
      ]);
      over = true;
      await watch;
      for (const scope of await theWholeTruth(rollout)) broken.add(scope);
      expect([...broken]).toEqual([]);
      expect(oddities).toEqual([]);
      // Each run is of one target, and each begun target has its run: the last one, where it was tried again.
      const [lost] = await owner<{ lost: number; twice: number }[]>`
        select (select count(*)::int from rollout_targets t where t.rollout = ${rollout.id} and t.state not in ('pending')
            and not exists (select from runs r where r.id = t.run_id and r.batch = t.rollout and r.node_uuid = t.node_uuid)) as lost,
          (select count(*)::int from (select node_uuid from runs where batch = ${rollout.id} and finished_at is null group by 1 having count(*) > 1) d) as twice`;
      expect(lost).toEqual({ lost: 0, twice: 0 });
      expect((await states(rollout)).length).toBe(racks.length);
    }),
    { numRuns: 15, endOnFailure: true },
  );
});

test('the targets whose runs an abort ends are locked in the order of the plan, so that two coordinators cannot wait for each other', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, ['r1', 'r1', 'r2']));
  for (const target of await targetsOf(rollout)) await begin(control, rollout, target);
  // The first one is the last by its state, and by its place in the table.
  const { run_id } = (await targetsOf(rollout))[0]!;
  await setRun(run_id!, 'parked');
  await owner
    .begin(async (sql) => {
      const locked = (position: number) => sql`
      select 1 from rollout_targets where rollout = ${rollout.id} and position = ${position} for no key update nowait`;
      await locked(0);
      const asked = control.rolloutTargets.abortAsked(rollout.id);
      const waiting = async () =>
        (
          await owner`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%abort_asked = true%'`
        ).length > 0;
      while (!(await waiting())) await new Promise((resolve) => setTimeout(resolve, 20));
      await locked(1);
      await locked(2);
      return [asked] as const;
    })
    .then(async ([asked]) => expect(await asked).toHaveLength(3));
});
