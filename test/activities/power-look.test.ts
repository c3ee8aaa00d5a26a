/** One look of power sync, by what the store holds of the node meanwhile; without servers. */
import { inBatches } from '../../src/activities/look-batches';
import { lookAtPower } from '../../src/activities/power-probe';
import { runPowerSync, syncPowerOnce } from '../../src/activities/power-sync';
import { raise } from '../../src/model/errors';
import { recordingDriver } from '../support/recording-driver';
import { type Answers, logOf, storeOf } from '../support/run-doubles';

type Deps = Parameters<typeof lookAtPower>[1];
type Verify = NonNullable<NonNullable<Parameters<typeof recordingDriver>[0]>['verify']>;

const reason = 'Power sync failed 3 times in a row: silent';
const node = {
  uuid: 'u1',
  driver: 'redfish',
  driver_info: {},
  power_state: 'power on',
  fault: null,
  failures: 0,
  provision_state: 'active',
};
const seen = (power_state: string | null): Verify => (async () => ({ is: 'done', seen: { power_state } })) as Verify;
const silent: Verify = async () => raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'no route' });

const looked = async (verify: Verify, { node: over = {}, now = {}, answers = {}, ...more }: Looked = {}) => {
  const store = storeOf({
    'secrets.read': [],
    'powerSync.hold': { ...node, owner: 'p1', lessee: 'p2', reason: null, maintenance: false, ...over, ...now },
    'powerSync.failed': 3,
    ...answers,
  });
  const { driver } = recordingDriver({ verify });
  const impose = jest.fn(async () => {});
  const { log, warned } = logOf();
  const deps = {
    inventory: store.inventory,
    vault: {},
    driverOf: () => ({ ...driver, laneKey: () => null }),
    lanes: more.lanes ?? { run: (_lane: null, _signal: AbortSignal, work: () => unknown) => work() },
    log,
    holder: 'h',
    maxFailures: 3,
    ...(more.imposes && { impose }),
  } as unknown as Deps;
  const due = { ...node, ...over } as unknown as Parameters<typeof lookAtPower>[0];
  const how = await lookAtPower(due, deps, more.signal ?? new AbortController().signal);
  const of = (name: string) => store.of(`powerSync.${name}`);
  return {
    how,
    changes: of('change'),
    settled: of('settle'),
    events: store.of('events.append'),
    impose,
    warned,
    store,
  };
};
type Looked = {
  readonly node?: object;
  readonly now?: object;
  readonly answers?: Answers;
  readonly imposes?: boolean;
  readonly lanes?: object;
  readonly signal?: AbortSignal;
};
const failed = { fault: 'power failure' };

test.each([
  [
    'what power sync had written',
    { reason, last_error: reason, maintenance_reason: reason },
    { fault: null, last_error: null, maintenance: false, maintenance_reason: null },
  ],
  [
    'but another error',
    { reason, last_error: 'x', maintenance_reason: reason },
    { fault: null, maintenance: false, maintenance_reason: null },
  ],
  [
    'but an operator’s maintenance',
    { reason, last_error: reason, maintenance_reason: 'dust' },
    { fault: null, last_error: null },
  ],
  [
    'but the maintenance of a fault that it has not written',
    { reason: null, last_error: null, maintenance_reason: null },
    { fault: null },
  ],
])('a look that succeeds takes back %s', async (_, now, changes) => {
  const look = await looked(seen('power on'), { node: failed, now: { maintenance: true, ...now } });
  expect([look.how, look.changes, look.settled]).toEqual(['same', [['u1', changes]], [['u1', null]]]);
  const told =
    'maintenance' in changes
      ? [
          expect.objectContaining({
            kind: 'node.maintenance.cleared',
            data: { maintenance: false, by: 'power sync' },
          }),
        ]
      : [];
  expect(look.events.map(([event]) => event)).toEqual(told);
});

test('another power is written, with an event for the node’s projects', async () => {
  const look = await looked(seen('power off'));
  expect([look.how, look.changes]).toEqual(['changed', [['u1', { power_state: 'power off' }]]]);
  expect(look.events).toEqual([
    [
      {
        kind: 'node.power',
        node_uuid: 'u1',
        project: 'p1',
        lessee: 'p2',
        data: { from: 'power on', to: 'power off', by: 'power sync' },
      },
    ],
  ]);
});

test.each([
  ['whose record has moved meanwhile', { now: { power_state: 'power off' } }],
  ['that is gone', { answers: { 'powerSync.hold': undefined } }],
])('nothing is written of a node %s', async (_, given) => {
  const look = await looked(seen('power off'), given);
  expect([look.how, look.changes, look.settled, look.events]).toEqual(['skipped', [], [], []]);
});

test('a look asks for power alone, announces nothing and may send nothing', async () => {
  const given: Parameters<Verify>[2][] = [];
  const asked: unknown[] = [];
  const verify = (async (_node, args, context) => {
    given.push(context);
    asked.push(args);
    return { is: 'done' };
  }) as Verify;
  await looked(verify);
  expect(asked).toEqual([{ only: 'power' }]);
  const [{ intents, mayStillSend }] = given as [Parameters<Verify>[2]];
  expect(mayStillSend()).toBe(false);
  for (const write of [() => intents.record({}), () => intents.renew()])
    await expect(write()).rejects.toMatchObject({ code: 'Unexpected' });
});

test('a BMC that does not say is no news, and one that says the same only ends a row of failures', async () => {
  expect((await looked(seen(null))).how).toBe('unknown');
  expect(await looked(seen('power on'))).toMatchObject({ how: 'same', settled: [] });
  expect(await looked(seen('power on'), { node: { failures: 2 } })).toMatchObject({
    how: 'same',
    settled: [['u1', null]],
  });
});

test.each([
  ['a known state is imposed where the settings say so', {}, 'imposed', 1],
  ['one that is not known is recorded', { power_state: null }, 'changed', 0],
  ['one of a node with a fault is recorded', failed, 'changed', 0],
])('%s', async (_, over, how, times) => {
  const look = await looked(seen('power off'), { node: over, imposes: true });
  expect([look.how, look.impose.mock.calls.length]).toEqual([how, times]);
});

describe('a look that fails', () => {
  const fault = { power_state: 'error', maintenance: true, fault: 'power failure' };

  test('often enough takes the node out of use, with the reason', async () => {
    const look = await looked(silent);
    const says = expect.stringMatching(/^Power sync failed 3 times in a row: .*no route/);
    expect(look.changes).toEqual([['u1', { ...fault, maintenance_reason: says, last_error: says }]]);
    expect([look.how, look.settled, look.warned]).toEqual(['faulted', [['u1', says]], ['power sync: look failed']]);
    expect(look.events).toEqual([
      [expect.objectContaining({ kind: 'node.maintenance.set', project: 'p1', lessee: 'p2' })],
    ]);
  });

  test.each([
    ['not yet', { answers: { 'powerSync.failed': 2 } }, 'failed'],
    ['no more where it has a fault', { node: failed }, 'failed'],
    ['nor where it is in maintenance', { now: { maintenance: true } }, 'skipped'],
  ])('leaves the node as it is: %s', async (_, given, how) => {
    const look = await looked(silent, given);
    expect([look.how, look.changes, look.events]).toEqual([how, [], []]);
  });

  test('is none where the BMC is busy, or the worker ends', async () => {
    const busy: Verify = async () => raise('BmcBusy', { node: 'n', bmc: 'b', status: 503, reason: 'x' });
    expect(await looked(busy)).toMatchObject({ how: 'skipped', warned: [] });
    const ended = new AbortController();
    ended.abort();
    expect(await looked(silent, { signal: ended.signal })).toMatchObject({ how: 'skipped', warned: [] });
  });

  test.each(['odd', new DOMException('odd', 'TimeoutError')])('counts whatever was thrown: %p', async (thrown) => {
    const look = await looked((() => Promise.reject(thrown)) as Verify);
    expect(look.changes[0]![1]).toMatchObject({ last_error: 'Power sync failed 3 times in a row: odd' });
  });
});

test('what ends the wait for a lane is made once, not at each look', async () => {
  const reasons: unknown[] = [];
  const busy = (_lane: null, signal: AbortSignal) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason);
        reject(signal.reason);
      }),
    );
  for (const _ of [1, 2])
    expect(await looked(seen('power on'), { lanes: { run: busy } })).toMatchObject({ how: 'skipped' });
  expect(reasons[0]).toBe(reasons[1]);
});

test.each([
  ['a node in use', {}, 45_000],
  ['one that is out of use for its silence', failed, 20_000],
])('a look at %s is given up in time', async (_, over, ms) => {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  await looked(seen('power on'), { node: over });
  expect(timers.mock.calls.map(([, given]) => given)).toContain(ms);
  timers.mockRestore();
});

describe('a round of power sync', () => {
  const options = (stop: AbortController, more: object = {}) => ({
    conductor_group: 'g1',
    drivers: ['redfish'],
    everyMs: 1,
    workers: 2,
    maxFailures: 3,
    signal: stop.signal,
    ...more,
  });
  type Deps = Parameters<typeof runPowerSync>[0];

  test('claims what is due of a whole interval, as many as there are places', async () => {
    const store = storeOf({ 'powerSync.claim': [], 'powerSync.slotNow': 5_000 });
    const deps = { inventory: store.inventory } as unknown as Parameters<typeof syncPowerOnce>[0]['deps'];
    await syncPowerOnce({ ...options(new AbortController(), { everyMs: 60_000 }), deps });
    const claim = { everyMs: 60_000, from: 5_000 - 1_023, to: 5_000, limit: 2 };
    expect(store.of('powerSync.claim')).toEqual([[expect.objectContaining(claim)]]);
  });

  test('lets a silent BMC rest for half an interval at the most: the next look asks it again', async () => {
    const stop = new AbortController();
    const rests: unknown[] = [];
    const health = {
      failed: async (...given: unknown[]) => {
        rests.push(given[2]);
        stop.abort();
      },
    };
    const entered = async (lanes: readonly string[]) => lanes.map(() => ({ is: 'taken', failures: 2 }));
    const bmcLeases = { enterAll: entered, leaveAll: async () => {}, sweep: async () => {}, health };
    const store = storeOf({ 'powerSync.claim': [node], 'powerSync.slotNow': 5_000, 'secrets.read': [] });
    const { driver } = recordingDriver({ verify: silent });
    const deps = {
      inventory: Object.assign(Object.create(store.inventory), { bmcLeases }),
      driverOf: () => ({ ...driver, laneKey: () => 'lane' }),
      lanes: { run: (_lane: string, _signal: AbortSignal, work: () => unknown) => work() },
      log: logOf().log,
    } as unknown as Deps;
    await runPowerSync(deps, options(stop, { everyMs: 60_000 }));
    expect(rests).toEqual([30_000]);
  });

  test('that fails because the store is away is said once with its reason, and the next one follows', async () => {
    const stop = new AbortController();
    const away = new Error('the store is away');
    let rounds = 0;
    const store = storeOf({
      'powerSync.enlist': () => {
        rounds += 1;
        if (rounds === 2) stop.abort();
        throw away;
      },
    });
    const { log, warned, facts } = logOf();
    await runPowerSync({ inventory: store.inventory, log } as unknown as Deps, options(stop));
    expect([rounds, warned, facts]).toEqual([2, ['power sync: round failed'], [{ reason: String(away) }]]);
  });

  test('says how long the oldest look that is due has waited: by the slots without a place, and while the store is away', async () => {
    const stop = new AbortController();
    const everyMs = 60_000;
    const behind: number[] = [];
    let [answer, turn] = [() => {}, 0];
    const verify: Verify = () =>
      new Promise((resolve) => {
        answer = () => resolve({ is: 'done', seen: { power_state: 'power on' } } as never);
      });
    const slots = [5_000, 5_512, 5_512];
    const claims = [[{ ...node, slot: 5_000 }], [{ ...node, uuid: 'u2', slot: 5_256 }], []];
    const store = storeOf({
      'secrets.read': [],
      'powerSync.slotNow': () => slots[turn] ?? Promise.reject(new Error('the store is away')),
      'powerSync.claim': () => claims[turn],
    });
    const { driver } = recordingDriver({ verify });
    const walked = (behindMs: number) => {
      behind.push(behindMs);
      turn += 1;
      setImmediate(() => answer());
      if (turn === 4) stop.abort();
    };
    const deps = {
      inventory: store.inventory,
      driverOf: () => ({ ...driver, laneKey: () => null }),
      lanes: { run: (_lane: null, _signal: AbortSignal, work: () => unknown) => work() },
      log: logOf().log,
    } as unknown as Deps;
    await runPowerSync(deps, options(stop, { everyMs, workers: 1, walked }));
    const [one, slot] = [behind.map(Math.round), everyMs / 1_024];
    expect(one).toHaveLength(4);
    expect(one[0]).toBeGreaterThanOrEqual(Math.floor(slot));
    expect(one[1]).toBeGreaterThanOrEqual(Math.floor(257 * slot));
    expect(one[1]).toBeLessThan(512 * slot);
    expect(one[2]).toBeLessThan(257 * slot);
    // A pause lies between the last step that succeeded and the one that failed.
    expect(behind[3]! - behind[2]!).toBeGreaterThan(100);
  });

  test('goes without an observer', async () => {
    const store = storeOf({
      'powerSync.claim': [node],
      'powerSync.slotNow': 5_000,
      'powerSync.hold': undefined,
      'secrets.read': [],
    });
    const { driver } = recordingDriver({ verify: seen('power off') });
    const { log, warned } = logOf();
    const deps = {
      inventory: store.inventory,
      driverOf: () => ({ ...driver, laneKey: () => null }),
      lanes: { run: (_lane: null, _signal: AbortSignal, work: () => unknown) => work() },
      log,
    } as unknown as Parameters<typeof syncPowerOnce>[0]['deps'];
    await syncPowerOnce({ ...options(new AbortController()), deps });
    expect([store.of('powerSync.hold').length, warned]).toEqual([1, []]);
  });

  describe('walks the slots', () => {
    /** The ranges of the claims, where the clock is in these slots in turn; `full` answers a claim with as many as were asked for. */
    const ranges = async (clock: readonly number[], full: (turn: number) => boolean = () => false) => {
      const stop = new AbortController();
      let turn = 0;
      const store = storeOf({
        'powerSync.slotNow': () => {
          const now = clock[turn]!;
          turn += 1;
          if (turn === clock.length) stop.abort();
          return now;
        },
        'powerSync.claim': (claim: unknown) => {
          const { from, limit } = claim as { from: number; limit: number };
          return full(turn)
            ? Array.from({ length: limit }, (_, at) => ({ ...node, uuid: `${turn}.${at}`, slot: from }))
            : [];
        },
        'secrets.read': [],
      });
      const { driver } = recordingDriver({ verify: seen('power on') });
      const deps = {
        inventory: store.inventory,
        driverOf: () => ({ ...driver, laneKey: () => null, looksAtOnce: 1 }),
        lanes: { run: (_lane: null, _signal: AbortSignal, work: () => unknown) => work() },
        log: logOf().log,
      } as unknown as Deps;
      await runPowerSync(deps, options(stop));
      return store.of('powerSync.claim').map(([claim]) => {
        const { from, to } = claim as { from: number; to: number };
        return [from, to];
      });
    };

    test('from the clock’s on, and again over the last few', async () => {
      expect(await ranges([5_000, 5_003, 5_003, 5_010])).toEqual([
        [4_984, 5_000],
        [4_985, 5_003],
        [4_988, 5_003],
        [4_988, 5_010],
      ]);
    });

    test('at twice its pace where it is behind, and from an interval before at the most', async () => {
      const behind = (turn: number) => turn < 3;
      // Claims that use up the places leave it at the slot that they came to.
      const walked = await ranges([5_000, 5_100, 5_200, 5_210, 5_220, 9_000], behind);
      expect(walked).toEqual([
        [4_984, 5_000],
        [4_968, 5_100],
        [4_952, 5_168],
        [5_153, 5_189],
        [5_174, 5_210],
        [7_977, 9_000],
      ]);
    });
  });
});

test('looks that begin together ask the store together, for leases and for secrets', async () => {
  const rows = ['s1', 's2'].map((id) => ({ id }));
  const store = storeOf({
    'secrets.read': rows,
    'bmcLeases.enterAll': (lanes: unknown) => (lanes as string[]).map((lane) => ({ is: 'taken', lane })),
  });
  const inventory = inBatches(store.inventory as Deps['inventory']);
  expect(await Promise.all([inventory.secrets.read(['s2', 's9']), inventory.secrets.read(['s1', 's2'])])).toEqual([
    [rows[1]],
    [rows[0], rows[1]],
  ]);
  expect(store.of('secrets.read')).toEqual([[['s2', 's9', 's1']]]);
  const { bmcLeases } = inventory;
  const entries = await Promise.all(['a', 'b'].map((lane) => bmcLeases.enter(lane, 'h', 5)));
  expect(entries).toEqual([
    { is: 'taken', lane: 'a' },
    { is: 'taken', lane: 'b' },
  ]);
  await Promise.all(['a', 'b'].map((lane) => bmcLeases.release(lane, 'h')));
  expect(store.of('bmcLeases.enterAll')).toEqual([[['a', 'b'], 'h', 5]]);
  expect(store.of('bmcLeases.leaveAll')).toEqual([[['a', 'b'], 'h']]);
});
