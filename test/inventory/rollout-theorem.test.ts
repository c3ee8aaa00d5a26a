/**
 * The promise of rollouts under real coordinators that die between any two calls of the store, while runs end in any order and a person
 * retries, resumes and aborts: 10 random worlds, or as many as TEMPER_THEOREM_WORLDS says.
 */
import fc from 'fast-check';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { RolloutRow } from '../../src/inventory/rollouts/rollouts';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import type { Limits } from '../../src/model/rollouts/layout';
import { advanceRollout } from '../../src/rollouts/advance';
import { brokenCounters, endOf, nodesIn, runningRollout, tendingDeps } from '../support/rollouts';
import { openStores } from '../support/stores';

let owner: Sql;
let api: Inventory;
let control: Inventory;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ owner, api, control, close } = await openStores(8));
});
afterEach(() => close());

class Killed extends Error {}

/** A store whose process dies before the call for which `dies` answers true; a transaction under way is rolled back by that. */
const mortal = (inventory: Inventory, dies: () => boolean): Inventory => {
  const calling = (methods: object) =>
    Object.fromEntries(
      Object.entries(methods).map(([name, call]) => [
        name,
        // An id is made without the store.
        typeof call !== 'function' || name === 'newId'
          ? call
          : (...args: unknown[]) => (dies() ? Promise.reject(new Killed(name)) : call.apply(methods, args)),
      ]),
    );
  const rooms = (queries: object) =>
    Object.fromEntries(
      Object.entries(queries).map(([room, methods]) => [
        room,
        typeof methods === 'object' && methods !== null ? calling(methods) : methods,
      ]),
    );
  return {
    ...rooms(inventory),
    transaction: (work: (store: object) => Promise<unknown>) => inventory.transaction((store) => work(rooms(store))),
  } as unknown as Inventory;
};

const bound = fc.record({ by: fc.constant('properties.rack'), max: fc.integer({ min: 1, max: 3 }) });
const wave = (size: number | 'rest', soak_ms: number) => ({ size, advance: 'auto' as const, soak_ms });
const world = fc.record({
  racks: fc.array(fc.constantFrom('r1', 'r2', 'r3', null), { minLength: 3, maxLength: 12 }),
  limits: fc.record({
    waves: fc.constantFrom([wave('rest', 0)], [wave(1, 0), wave('rest', 1)], [wave(2, 1), wave('rest', 0)]),
    ramp: fc.boolean(),
    spread: fc.array(bound, { maxLength: 1 }),
    budget: fc.record({
      total: fc.integer({ min: 1, max: 8 }),
      wave: fc.integer({ min: 1, max: 5 }),
      each: fc.array(bound, { maxLength: 1 }),
    }),
  }),
  dice: fc.array(fc.nat(99), { minLength: 80, maxLength: 80 }),
});

type Dice = () => number;
const openRuns = (rollout: RolloutRow) => owner<{ id: RunUuid; node_uuid: NodeUuid; fence: number; state: string }[]>`
  select id, node_uuid, fence, state from runs where batch = ${rollout.id} and finished_at is null order by id`;
const current = async (rollout: RolloutRow): Promise<RolloutRow> => (await control.rollouts.find(rollout.id))!;
const mended = () => owner`
  update nodes set provision_state = 'active', maintenance = false, fault = null
  where reservation is null and provision_state = 'service failed'`;
const resume = async (rollout: RolloutRow): Promise<void> => {
  await api.rollouts.move(rollout, ['paused'], 'running', { code: null, reason: null });
};

/** Looks again and again, by a process that dies after some calls, or lives through its look. */
const coordinator = async (rollout: RolloutRow, next: Dice): Promise<void> => {
  for (let life = 0; life < 10; life++) {
    let left = next() < 30 ? Number.POSITIVE_INFINITY : next();
    const inventory = mortal(control, () => left-- <= 0);
    await advanceRollout(tendingDeps(inventory), rollout.id).catch((thrown) => {
      if (!(thrown instanceof Killed)) throw thrown;
    });
  }
};

const ender = async (rollout: RolloutRow, next: Dice): Promise<void> => {
  for (let pass = 0; pass < 12; pass++) {
    const runs = await openRuns(rollout);
    for (const run of next() < 50 ? runs : runs.reverse()) {
      const die = next();
      if (die < 20) await owner`update runs set state = ${die < 10 ? 'parked' : 'running'} where id = ${run.id}`;
      else if (die < 80) await endOf(control, run, die < 50 ? 'succeeded' : die < 70 ? 'failed' : 'aborted');
    }
  }
};

/** Tries failed nodes again, resumes, and aborts at times. */
const person = async (rollout: RolloutRow, next: Dice): Promise<void> => {
  for (let pass = 0; pass < 10; pass++) {
    await mended();
    const failed = await owner<{ position: number }[]>`
      select position from rollout_targets where rollout = ${rollout.id} and state = 'failed' order by position`;
    for (const { position } of failed) if (next() < 40) await api.rolloutConsents.retry(rollout.id, position);
    if (next() < 60) await resume(rollout);
    if (next() < 3) await api.rollouts.move(rollout, ['running', 'paused'], 'aborted', { ending: 'abort' });
  }
};

/** A coordinator that lives, and runs that succeed: what is left of the rollout comes to its end. */
const comesToItsEnd = async (rollout: RolloutRow): Promise<void> => {
  for (let look = 0; look < 60; look++) {
    await mended();
    await owner`update runs set state = 'running' where batch = ${rollout.id} and state = 'parked' and finished_at is null`;
    const { over } = await advanceRollout(tendingDeps(control), rollout.id);
    const runs = await openRuns(rollout);
    if (runs.length === 0 && over) return;
    for (const run of runs) await endOf(control, run, 'succeeded');
    const { state, code } = await current(rollout);
    if (runs.length > 0 || state !== 'paused') continue;
    if (code === 'budget_spent') return;
    await resume(rollout);
  }
  throw new Error(`it does not end: ${JSON.stringify(await control.rollouts.counts(rollout.id))}`);
};

test('whatever dies between any two calls of the store, no bound is passed, no target is lost or begun twice, and the rollout ends', async () => {
  // It is the admission that is put to the test here; the schema's own refusal has a test of its own.
  await owner`alter table rollout_counters drop constraint harm_within_budget`;
  await fc.assert(
    fc.asyncProperty(world, async ({ racks, limits, dice }) => {
      const rollout = await runningRollout(api, await nodesIn(owner, racks), limits as Partial<Limits>);
      await owner`update rollouts set granted = '{}', granted_at = now() where id = ${rollout.id}`;
      let at = 0;
      const next: Dice = () => dice[at++ % dice.length]!;
      const broken = new Set<string>();
      let over = false;
      const watch = (async () => {
        while (!over) for (const scope of await brokenCounters(owner, rollout)) broken.add(scope);
      })();
      await Promise.all([
        coordinator(rollout, next),
        coordinator(rollout, next),
        ender(rollout, next),
        person(rollout, next),
      ]).finally(() => {
        over = true;
      });
      await watch;
      await comesToItsEnd(rollout);
      for (const scope of await brokenCounters(owner, rollout)) broken.add(scope);
      expect([...broken]).toEqual([]);
      const [wrong] = await owner<{ lost: number; twice: number; unended: number }[]>`
        select (select count(*)::int from rollout_targets t where t.rollout = ${rollout.id} and t.state not in ('pending', 'skipped')
            and not exists (select from runs r where r.id = t.run_id and r.batch = t.rollout and r.node_uuid = t.node_uuid)) as lost,
          (select count(*)::int from (select node_uuid from runs where batch = ${rollout.id} and finished_at is null group by 1 having count(*) > 1) d) as twice,
          (select count(*)::int from rollout_targets t where t.rollout = ${rollout.id} and t.state in ('admitted', 'parked')) as unended`;
      expect(wrong).toEqual({ lost: 0, twice: 0, unended: 0 });
    }),
    { numRuns: Number(process.env.TEMPER_THEOREM_WORLDS ?? 10), endOnFailure: true },
  );
}, 900_000);
