/** The lane and the breaker of a BMC, as all workers see them: with the rights of the BMC workers' role. */
import { randomUUID } from 'node:crypto';
import { toFailure } from '../../src/activities/failures';
import { withLease } from '../../src/activities/lease';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { bmcLeases } from '../../src/inventory/leases';
import { type ErrorCode, raise } from '../../src/model/errors';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let owner: Sql;
let one: Inventory;
let other: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 2 });
  one = createInventory(connect(database.bmcUrl, { max: 2 }));
  other = createInventory(connect(database.bmcUrl, { max: 2 }));
});
afterAll(async () => {
  await Promise.all([owner.end(), one.close(), other.close()]);
  await database.drop();
});

const facts = { node: 'n1', bmc: 'bmc.example.org', reason: 'the connection was refused', what: 'x', status: 500 };
const fails = (code: ErrorCode) => () => raise(code, facts);
const newLane = () => `bmc-${randomUUID()}`;

/** How an act on this BMC ends, from either of two workers. */
const act = (lane: string, work: () => Promise<unknown> | unknown = () => 'done', by: Inventory = one) =>
  withLease(by.bmcLeases, lane, randomUUID(), 60_000, async () => work()).catch((thrown: unknown) => thrown);

const silence = async (lane: string, times: number) => {
  for (let time = 0; time < times; time += 1) await act(lane, fails('BmcUnreachable'));
};

const health = async (lane: string) =>
  (
    await owner<{ failures: number; open: boolean; rest_ms: number; last_error: string }[]>`
    select failures, last_error, coalesce(open_until > now(), false) as open,
      coalesce(extract(epoch from open_until - updated_at) * 1000, 0)::int as rest_ms
    from bmc_health where lane = ${lane}`
  )[0];

/** As if so much time had passed that the node is due again. */
const restIsOver = (lane: string) =>
  owner`update bmc_health set open_until = now() - interval '1 second' where lane = ${lane}`;

test('a BMC that three acts in a row got no answer from is left alone by every worker, without being called', async () => {
  const lane = newLane();
  await silence(lane, 2);
  expect(await act(lane, fails('BmcUnreachable'), other)).toMatchObject({ code: 'BmcUnreachable' });
  const work = jest.fn();
  for (const worker of [one, other])
    expect(await act(lane, work, worker)).toMatchObject({
      code: 'BmcResting',
      retry: true,
      message: expect.stringMatching(
        /did not answer 3 times in a row.*no requests for [1-5] s.*connection was refused/,
      ),
    });
  expect(work).not.toHaveBeenCalled();
});

test('a resting BMC is asked for again by the engine when its rest is over, which is no fault of the worker', async () => {
  const lane = newLane();
  await silence(lane, 3);
  const failure = toFailure(await act(lane)) as Error & { nextRetryDelay: number };
  expect(failure).toMatchObject({ type: 'BmcResting', nonRetryable: false, category: 'BENIGN' });
  expect(failure.nextRetryDelay).toBeGreaterThan(0);
  expect(failure.nextRetryDelay).toBeLessThanOrEqual(5_000);
});

test('what answers as always is not written down, only what had been silent before', async () => {
  const answered = jest.fn(one.bmcLeases.health.answered);
  const leases = { ...one.bmcLeases, health: { ...one.bmcLeases.health, answered } };
  const lane = newLane();
  const work = () => withLease(leases, lane, randomUUID(), 60_000, async () => 'done');
  await work();
  expect(answered).not.toHaveBeenCalled();
  await silence(lane, 1);
  await work();
  expect(answered).toHaveBeenCalledTimes(1);
});

test('two failures are not yet a reason to leave a BMC alone', async () => {
  const lane = newLane();
  await silence(lane, 2);
  expect(await act(lane)).toBe('done');
});

test.each([
  [3, 5_000],
  [4, 10_000],
  [5, 20_000],
  [7, 80_000],
  [8, 120_000],
  [40, 120_000],
])('after %i failures in a row the rest is %i ms', async (failures, rest_ms) => {
  const lane = newLane();
  for (let time = 0; time < failures; time += 1) await one.bmcLeases.health.failed(lane, 'silent');
  expect(await health(lane)).toMatchObject({ failures, open: true, rest_ms });
});

test('an act that comes again by itself lets the BMC rest no longer than it wants', async () => {
  const lane = newLane();
  for (let time = 0; time < 5; time += 1) await one.bmcLeases.health.failed(lane, 'silent');
  await restIsOver(lane);
  const leases = one.bmcLeases;
  await withLease(leases, lane, randomUUID(), 60_000, async () => fails('BmcUnreachable')(), 30_000).catch(() => {});
  expect(await health(lane)).toMatchObject({ failures: 6, open: true, rest_ms: 30_000 });
  await one.bmcLeases.health.failed(lane, 'silent', 600_000);
  expect(await health(lane)).toMatchObject({ failures: 7, rest_ms: 80_000 });
});

test('after the rest one act looks again: an answer closes the breaker, silence opens it for longer', async () => {
  const lane = newLane();
  await silence(lane, 3);
  await restIsOver(lane);
  expect(await act(lane, fails('BmcUnreachable'))).toMatchObject({ code: 'BmcUnreachable' });
  expect(await health(lane)).toMatchObject({ failures: 4, open: true, rest_ms: 10_000 });
  await restIsOver(lane);
  expect(await act(lane, undefined, other)).toBe('done');
  expect(await health(lane)).toBeUndefined();
});

test('while one act looks whether the BMC is back, others wait for it', async () => {
  const lane = newLane();
  await silence(lane, 3);
  await restIsOver(lane);
  await act(lane, async () => {
    expect(await act(lane, undefined, other)).toMatchObject({ code: 'BmcLeaseHeld' });
  });
});

test.each(['BmcServerError', 'BmcBusy', 'BmcRejected', 'BmcAuthFailed', 'BmcTlsFailed'] as const)(
  'a BMC that answers %s is there: the count begins anew',
  async (code) => {
    const lane = newLane();
    await silence(lane, 2);
    expect(await act(lane, fails(code))).toMatchObject({ code });
    expect(await health(lane)).toBeUndefined();
  },
);

test.each(['StaleOperation', 'DriverInfoInvalid', 'BmcAddressRefused', 'StoreUnavailable'] as const)(
  '%s says nothing of the BMC: neither a failure nor an answer',
  async (code) => {
    const lane = newLane();
    await silence(lane, 2);
    await act(lane, fails(code));
    expect(await health(lane)).toMatchObject({ failures: 2 });
    const untouched = newLane();
    await act(untouched, fails(code));
    expect(await health(untouched)).toBeUndefined();
  },
);

test('a BMC that rests keeps no lane occupied', async () => {
  const lane = newLane();
  await silence(lane, 3);
  await act(lane);
  expect(await owner`select 1 from bmc_leases where lane = ${lane}`).toHaveLength(0);
});

test('the silence of one BMC is nothing to another', async () => {
  const silent = newLane();
  await silence(silent, 3);
  expect(await act(newLane())).toBe('done');
});

test('what is kept of a failure holds no secret', async () => {
  const lane = newLane();
  await act(lane, () => raise('BmcUnreachable', { ...facts, reason: 'https://root:hunter2@bmc.example.org is away' }));
  expect((await health(lane))?.last_error).not.toContain('hunter2');
});

test('the API may read which BMCs are left alone, and may not change it', async () => {
  const api = createInventory(connect(database.apiUrl, { max: 1 }));
  const lane = newLane();
  await silence(lane, 3);
  expect((await api.bmcLeases.health.list()).map((row) => row.lane)).toContain(lane);
  await expect(api.bmcLeases.health.answered(lane)).rejects.toThrow('permission denied');
  await api.close();
});

test.each([
  ['an error of this worker', () => Promise.reject(new Error('EMFILE'))],
  ['a cancellation', () => Promise.reject(Object.assign(new Error('cancelled'), { name: 'CancelledFailure' }))],
  ['a text', () => Promise.reject('no error at all')],
  ['a command that did not leave', fails('CommandLate')],
])('%s is no answer of the BMC: the count stands', async (_, work) => {
  const lane = newLane();
  await silence(lane, 2);
  await act(lane, work);
  expect(await health(lane)).toMatchObject({ failures: 2 });
});

const leaseOf = async (lane: string) =>
  (
    await owner<{ holder: string; expires_at: Date }[]>`select holder, expires_at from bmc_leases where lane = ${lane}`
  )[0];

test('a lane is freed by its holder alone', async () => {
  const lane = newLane();
  const holder = randomUUID();
  await one.bmcLeases.take(lane, holder, 60_000);
  await other.bmcLeases.release(lane, randomUUID());
  expect(await leaseOf(lane)).toMatchObject({ holder });
  await other.bmcLeases.release(lane, holder);
  expect(await leaseOf(lane)).toBeUndefined();
});

test('an act whose lane another worker has taken meanwhile leaves it to that one', async () => {
  const lane = newLane();
  const next = randomUUID();
  await withLease(one.bmcLeases, lane, randomUUID(), 60_000, async () => {
    await owner`update bmc_leases set holder = ${next} where lane = ${lane}`;
  });
  expect(await leaseOf(lane)).toMatchObject({ holder: next });
});

test('a lane is held for as long as the work lasts, however short its lease', async () => {
  const lane = newLane();
  const holder = randomUUID();
  await withLease(one.bmcLeases, lane, holder, 3_000, async () => {
    const first = (await leaseOf(lane))!;
    for (let now = first; now.expires_at.getTime() <= first.expires_at.getTime(); now = (await leaseOf(lane))!)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await leaseOf(lane)).toMatchObject({ holder });
  });
  expect(await leaseOf(lane)).toBeUndefined();
});

describe('many lanes at once', () => {
  test('are entered in one statement, each for itself', async () => {
    const [free, held, silent] = [newLane(), newLane(), newLane()];
    const holder = randomUUID();
    await other.bmcLeases.take(held, randomUUID(), 60_000);
    await silence(silent, 3);
    expect(await one.bmcLeases.enterAll([silent, free, held, free], holder, 60_000)).toEqual([
      expect.objectContaining({ is: 'resting', failures: 3 }),
      { is: 'taken', failures: 0 },
      { is: 'held' },
      { is: 'taken', failures: 0 },
    ]);
    expect(await leaseOf(free)).toMatchObject({ holder });
    expect(await leaseOf(silent)).toBeUndefined();
  });

  test('are given back by their holder alone, and another worker may enter them at once', async () => {
    const lanes = [newLane(), newLane()];
    const [mine, theirs] = [randomUUID(), randomUUID()];
    await one.bmcLeases.enterAll([lanes[0]!], mine, 60_000);
    await other.bmcLeases.enterAll([lanes[1]!], theirs, 60_000);
    await one.bmcLeases.leaveAll(lanes, mine);
    expect(await other.bmcLeases.enterAll(lanes, theirs, 60_000)).toEqual([
      { is: 'taken', failures: 0 },
      { is: 'taken', failures: 0 },
    ]);
    expect((await one.bmcLeases.enter(lanes[1]!, mine, 60_000)).is).toBe('held');
  });

  test('that were entered before write no index', async () => {
    const lanes = Array.from({ length: 20 }, newLane);
    const holder = randomUUID();
    await one.bmcLeases.enterAll(lanes, holder, 60_000);
    await one.bmcLeases.leaveAll(lanes, holder);
    const written = await owner.begin(async (tx) => {
      await bmcLeases(tx).enterAll(lanes, randomUUID(), 60_000);
      const [row] = await tx`
        select pg_stat_get_xact_tuples_inserted('bmc_leases'::regclass)::int as inserted,
          pg_stat_get_xact_tuples_updated('bmc_leases'::regclass)::int as updated,
          pg_stat_get_xact_tuples_hot_updated('bmc_leases'::regclass)::int as hot`;
      return row;
    });
    expect(written).toEqual({ inserted: 0, updated: 20, hot: 20 });
  });

  test('are forgotten when no worker has entered them for long', async () => {
    const [old, kept] = [newLane(), newLane()];
    const holder = randomUUID();
    await one.bmcLeases.enterAll([old, kept], holder, 60_000);
    await one.bmcLeases.leaveAll([old], holder);
    await one.bmcLeases.sweep();
    expect(await leaseOf(old)).toBeUndefined();
    expect(await leaseOf(kept)).toMatchObject({ holder });
  });
});
