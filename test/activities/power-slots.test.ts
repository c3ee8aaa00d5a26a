/** How workers walk the slots in which nodes' power is due, and what the walk costs the store. */
import { randomUUID } from 'node:crypto';
import { planForAny, planWith } from '../../bench/plans/explain';
import type { Statement } from '../../bench/plans/statements';
import { runPowerSync, syncPowerOnce } from '../../src/activities/power-sync';
import type { Act, Driver } from '../../src/bmc/contract';
import { createLanes } from '../../src/bmc/lane';
import type { Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { type Claim, type DueNode, powerSlots, powerSync } from '../../src/inventory/nodes/power-sync';
import { recordingDriver } from '../support/recording-driver';
import { type TestDatabase, testDatabase } from '../support/servers';
import { openStores } from '../support/stores';
import { testVault } from '../support/vault';

let owner: Sql;
let bmc: Inventory;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ owner, bmc, close } = await openStores(8));
});
afterAll(() => close());

const everyMs = 120_000;
const never = new AbortController().signal;

/** Nodes of a group of their own; `values` are SQL over `n`. */
const fleet = async (count: number, sql = owner, set = ''): Promise<string> => {
  const conductor_group = randomUUID();
  await sql`
    insert into nodes (uuid, driver, provision_state, power_state, conductor_group, name)
    select gen_random_uuid(), 'fake-hardware', 'active', 'power off', ${conductor_group}, ${conductor_group} || n
    from generate_series(1, ${count}::int) n`;
  if (set) await sql.unsafe(`update nodes set ${set} where conductor_group = $1`, [conductor_group]);
  return conductor_group;
};
const nodesOf = async (conductor_group: string): Promise<string[]> =>
  (await owner`select uuid from nodes where conductor_group = ${conductor_group} order by uuid`).map(
    ({ uuid }) => uuid,
  );

const claimOf = (conductor_group: string, from: number, to: number, limit = 10_000): Claim => ({
  conductor_group,
  drivers: ['fake-hardware'],
  from,
  to,
  limit,
  everyMs,
});

const off: Act = async () => ({ is: 'done', seen: { power_state: 'power off' } });
const handsWith = (verify: Act) => {
  const { driver } = recordingDriver({ verify });
  const named: Driver = { ...driver, laneKey: () => null };
  const log = { info() {}, warn() {} };
  return { inventory: bmc, vault: testVault, driverOf: () => named, lanes: createLanes(), log };
};
const optionsOf = (conductor_group: string) => ({
  conductor_group,
  drivers: ['fake-hardware'],
  everyMs,
  workers: 8,
  maxFailures: 3,
  signal: never,
});
const lookOnce = (conductor_group: string, verify: Act = off) =>
  syncPowerOnce({
    ...optionsOf(conductor_group),
    deps: { ...handsWith(verify), holder: randomUUID(), maxFailures: 3 },
  });

/** A promise that is resolved from outside. */
const settled = () => {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
};

test('a slow BMC holds up no other node, one that becomes due later neither', async () => {
  const conductor_group = await fleet(6);
  const [slow, ...others] = await nodesOf(conductor_group);
  const ending = new AbortController();
  const answered = settled();
  const twice = settled();
  const times = new Map<string, number>();
  let atSlow = 0;
  const verify: Act = async (node) => {
    if (node.uuid !== slow) return { is: 'done', seen: { power_state: 'power off' } };
    atSlow++;
    await answered.promise;
    return { is: 'done', seen: { power_state: 'power off' } };
  };
  const looked = ({ uuid }: DueNode) => {
    times.set(uuid, (times.get(uuid) ?? 0) + 1);
    if (others.every((one) => (times.get(one) ?? 0) >= 2)) twice.resolve();
  };
  const options = { ...optionsOf(conductor_group), everyMs: 50, workers: 2, signal: ending.signal, looked };
  const syncing = runPowerSync(handsWith(verify), options);
  await twice.promise;
  expect([atSlow, times.get(slow!)]).toEqual([1, undefined]);
  ending.abort();
  answered.resolve();
  await syncing;
});

test('a look that finds what is recorded writes no row of a logged table', async () => {
  const conductor_group = await fleet(5);
  await owner`
    insert into power_sync (node_uuid) select uuid from nodes where conductor_group = ${conductor_group}`;
  const rows = () => owner`
    select n.xmin::text as node, p.xmin::text as sync from nodes n join power_sync p on p.node_uuid = n.uuid
    where conductor_group = ${conductor_group} order by uuid`;
  const before = await rows();
  let looks = 0;
  await lookOnce(conductor_group, async (...given) => {
    looks++;
    return off(...given);
  });
  expect(looks).toBe(5);
  expect(await rows()).toEqual(before);
});

test('a claim writes no indexed column: all that it updates stays in its page', async () => {
  const conductor_group = await fleet(300);
  await bmc.powerSync.enlist(conductor_group);
  const now = await bmc.powerSync.slotNow(everyMs);
  const claim = claimOf(conductor_group, now - powerSlots + 1, now);
  // The first claims after the table was filled find pages that inserts have filled up to its fillfactor.
  const written = await owner.begin(async (tx) => {
    const claimed = await powerSync(tx).claim(claim);
    const [row] = await tx<{ all: number; hot: number }[]>`
      select sum(pg_stat_get_xact_tuples_updated(oid))::int as all, sum(pg_stat_get_xact_tuples_hot_updated(oid))::int as hot
      from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;
    return { claimed: claimed.length, ...row! };
  });
  expect(written).toEqual({ claimed: 300, all: 300, hot: 300 });
});

describe('slots', () => {
  test('share out the fleet: each node has one of an interval, and is claimed once in it', async () => {
    const conductor_group = await fleet(400);
    await bmc.powerSync.enlist(conductor_group);
    const now = await bmc.powerSync.slotNow(everyMs);
    const first = now - powerSlots + 1;
    const quarter = powerSlots / 4;
    const quarters: string[][] = [];
    for (let at = 0; at < 4; at++) {
      const [from, to] = [first + at * quarter, first + (at + 1) * quarter - 1];
      const claimed = await bmc.powerSync.claim(claimOf(conductor_group, from, to));
      for (const { slot } of claimed) expect(slot >= from && slot <= to).toBe(true);
      quarters.push(claimed.map(({ uuid }) => uuid));
    }
    expect(quarters.flat().sort()).toEqual(await nodesOf(conductor_group));
    // 100 in each but for chance: fewer than 40 of 400 are as rare as seven standard deviations.
    expect(Math.min(...quarters.map(({ length }) => length))).toBeGreaterThan(40);
    expect(await bmc.powerSync.claim(claimOf(conductor_group, first, now))).toEqual([]);
  });

  test('an interval later the same nodes are due in them', async () => {
    const conductor_group = await fleet(40);
    await bmc.powerSync.enlist(conductor_group);
    const now = await bmc.powerSync.slotNow(everyMs);
    const range = [now - 511, now] as const;
    const uuidsOf = (due: DueNode[]) => due.map(({ uuid }) => uuid).sort();
    const first = uuidsOf(await bmc.powerSync.claim(claimOf(conductor_group, ...range)));
    const [from, to] = [range[0] + powerSlots, range[1] + powerSlots];
    expect(first.length).toBeGreaterThan(0);
    expect(uuidsOf(await bmc.powerSync.claim(claimOf(conductor_group, from, to)))).toEqual(first);
  });

  test('the earliest are claimed first, and in one those that wait longest', async () => {
    const conductor_group = await fleet(60);
    await bmc.powerSync.enlist(conductor_group);
    const now = await bmc.powerSync.slotNow(everyMs);
    const slots: number[] = [];
    for (;;) {
      const due = await bmc.powerSync.claim(claimOf(conductor_group, now - powerSlots + 1, now, 7));
      if (due.length === 0) break;
      slots.push(...due.map(({ slot }) => slot).sort((a, b) => a - b));
    }
    expect(slots).toHaveLength(60);
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
  });

  test('a node whose power failed is due in each interval, as any other is', async () => {
    const conductor_group = await fleet(1, owner, `maintenance = true, fault = 'power failure'`);
    await bmc.powerSync.enlist(conductor_group);
    const now = await bmc.powerSync.slotNow(everyMs);
    const claimed = async (from: number, to: number) =>
      (await bmc.powerSync.claim(claimOf(conductor_group, from, to))).length;
    expect(await claimed(now - powerSlots + 1, now)).toBe(1);
    expect(await claimed(now - powerSlots + 1, now)).toBe(0);
    expect(await claimed(now + 1, now + powerSlots)).toBe(1);
  });

  test('a table that a crash has emptied puts each node into its slot again', async () => {
    const conductor_group = await fleet(50);
    await lookOnce(conductor_group);
    await owner`delete from power_looks l using nodes n where n.uuid = l.node_uuid and n.conductor_group = ${conductor_group}`;
    await bmc.powerSync.enlist(conductor_group);
    const now = await bmc.powerSync.slotNow(everyMs);
    const range = [now - 99, now] as const;
    const claimed = await bmc.powerSync.claim(claimOf(conductor_group, ...range));
    const inRange = await owner`
      select node_uuid from power_looks l join nodes n on n.uuid = l.node_uuid
      where n.conductor_group = ${conductor_group} and mod(${now}::bigint - slot, ${powerSlots}) < 100`;
    expect(claimed.map(({ uuid }) => uuid).sort()).toEqual(inRange.map(({ node_uuid }) => node_uuid).sort());
    expect(await owner`select relpersistence from pg_class where relname = 'power_looks'`).toEqual([
      { relpersistence: 'u' },
    ]);
  });
});

test('nodes that were looked at before the clock of the store was set back are looked at again, once each', async () => {
  const conductor_group = await fleet(5);
  const looks: string[] = [];
  const noting: Act = async (node, ...given) => {
    looks.push(node.uuid);
    return off(node, ...given);
  };
  await lookOnce(conductor_group, noting);
  await owner`
    update power_looks l set looked_at = looked_at + interval '1 hour' from nodes n
    where n.uuid = l.node_uuid and n.conductor_group = ${conductor_group}`;
  await lookOnce(conductor_group, noting);
  await lookOnce(conductor_group, noting);
  expect(looks).toHaveLength(10);
  expect(new Set(looks).size).toBe(5);
});

describe('in a fleet of 20,000', () => {
  let database: TestDatabase;
  let sql: Sql;
  const sent: Statement[] = [];
  beforeAll(async () => {
    database = await testDatabase();
    const seeding = connect(database.ownerUrl, { max: 1 });
    const conductor_group = await fleet(20_000, seeding);
    await powerSync(seeding).enlist(conductor_group);
    // A few failed last; a table of no rows is read as a whole.
    await seeding`insert into power_sync (node_uuid, failures) select uuid, 1 from nodes limit 5000`;
    await seeding`vacuum analyze nodes, power_looks, power_sync`;
    await seeding.end();
    sql = connect(database.bmcUrl, { max: 1 });
    sql.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
    const now = await powerSync(sql).slotNow(everyMs);
    await powerSync(sql).claim(claimOf(conductor_group, now - 20, now, 500));
  });
  afterAll(async () => {
    await sql?.end();
    await database?.drop();
  });

  test('a claim finds what is due by the slot, whatever the values', async () => {
    const claim = sent.find(({ text }) => text.includes('with due as'))!;
    for (const plan of [await planWith(sql, claim), await planForAny(sql, claim)]) {
      expect(plan.shape).toContain('power_looks_by_slot');
      expect(plan.wholeTables).toEqual([]);
    }
  });
});
