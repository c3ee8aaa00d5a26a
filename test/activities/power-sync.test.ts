/** Power sync against a real store: what a look changes, what it leaves alone, and how the workers of a group share it. */
import { randomUUID } from 'node:crypto';
import { createImpose } from '../../src/activities/power-impose';
import type { Looked, lookAtPower } from '../../src/activities/power-probe';
import { runPowerSync, syncPowerOnce } from '../../src/activities/power-sync';
import type { Act, Driver } from '../../src/bmc/contract';
import { createFakeDriver } from '../../src/bmc/fake';
import { createLanes } from '../../src/bmc/lane';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { DueNode } from '../../src/inventory/nodes/power-sync';
import { raise } from '../../src/model/errors';
import type { NodeUuid } from '../../src/model/ids';
import { type PowerState, powerSyncSkips } from '../../src/model/lifecycle/states';
import { quickTiming } from '../support/engine';
import { recordingDriver } from '../support/recording-driver';
import { openStores } from '../support/stores';
import { ofDriverInfo, testVault } from '../support/vault';

const quiet = { info() {}, warn() {} };
const vault = testVault;

let owner: Sql;
let api: Inventory;
let bmc: Inventory;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ owner, api, bmc, close } = await openStores(8));
});
afterAll(() => close());

/** A node in a group of its own, so that tests do not find each other's. */
const newNode = async (values: Record<string, unknown> = {}) => {
  const conductor_group = (values.conductor_group as string | undefined) ?? randomUUID();
  const { driver_info = {}, ...rest } = values;
  const uuid = randomUUID();
  const sealed = vault.seal(
    driver_info,
    ofDriverInfo(uuid, 'fake-hardware', driver_info as Record<string, unknown>, conductor_group),
  );
  const row = {
    uuid,
    driver: 'fake-hardware',
    provision_state: 'active',
    power_state: 'power off',
    ...rest,
    conductor_group,
  };
  const [node] = await owner<{ uuid: NodeUuid }[]>`
    insert into nodes ${owner({ ...row, driver_info: owner.json(sealed.document as never) } as never)} returning uuid`;
  await api.secrets.insert(sealed.secrets);
  return { uuid: node!.uuid, conductor_group };
};

const look =
  (power_state: PowerState | null): Act =>
  async () => ({ is: 'done', seen: { power_state } });
const silent: Act = async () => raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'no route' });

const driverThat = (verify: Act, lane: string | null = null): { driver: Driver; calls: string[] } => {
  const { driver, calls } = recordingDriver({ verify });
  return { driver: { ...driver, laneKey: () => lane }, calls };
};

const handsWith = (driver: Driver, over: Partial<Parameters<typeof lookAtPower>[1]> = {}) => ({
  inventory: bmc,
  vault,
  driverOf: () => driver,
  lanes: createLanes(),
  log: quiet,
  holder: randomUUID(),
  maxFailures: 3,
  ...over,
});

/** One round for a group, everything being due; answers how the looks ended. */
const round = async (conductor_group: string, deps: ReturnType<typeof handsWith>): Promise<Looked[]> => {
  const ended: Looked[] = [];
  await bmc.powerSync.enlist(conductor_group);
  await owner`update power_looks set looked_at = null from nodes where nodes.uuid = node_uuid and conductor_group = ${conductor_group}`;
  const options = { conductor_group, drivers: ['fake-hardware'], everyMs: 60_000, workers: 8, maxFailures: 3 };
  const signal = new AbortController().signal;
  await syncPowerOnce({ ...options, deps, signal, looked: (_node, how) => void ended.push(how) });
  return ended;
};

const stateOf = async (uuid: NodeUuid) => {
  const [row] = await owner`
    select power_state, maintenance, maintenance_reason, fault, last_error from nodes where uuid = ${uuid}`;
  return row!;
};
const eventsOf = (uuid: NodeUuid) => owner`select kind, data from events where node_uuid = ${uuid} order by seq`;
const revision = async (uuid: NodeUuid) =>
  (await owner`select xmin::text as at from nodes where uuid = ${uuid}`)[0]!.at;

describe('a look', () => {
  test('that finds another state records it, with an event', async () => {
    const { uuid, conductor_group } = await newNode();
    expect(await round(conductor_group, handsWith(driverThat(look('power on')).driver))).toEqual(['changed']);
    expect(await stateOf(uuid)).toMatchObject({ power_state: 'power on', maintenance: false });
    expect(await eventsOf(uuid)).toMatchObject([
      { kind: 'node.power', data: { from: 'power off', to: 'power on', by: 'power sync' } },
    ]);
  });

  test('that finds what is recorded does not write the node’s row', async () => {
    const { uuid, conductor_group } = await newNode();
    const before = await revision(uuid);
    expect(await round(conductor_group, handsWith(driverThat(look('power off')).driver))).toEqual(['same']);
    expect(await revision(uuid)).toBe(before);
    expect(await eventsOf(uuid)).toEqual([]);
  });

  test('records nothing when the BMC does not know', async () => {
    const { uuid, conductor_group } = await newNode();
    expect(await round(conductor_group, handsWith(driverThat(look(null)).driver))).toEqual(['unknown']);
    expect(await stateOf(uuid)).toMatchObject({ power_state: 'power off', fault: null });
  });

  test('is made with the node’s secrets, by the fake driver too', async () => {
    const { uuid, conductor_group } = await newNode({ power_state: null, driver_info: { redfish_password: 'p1' } });
    let seen: unknown;
    const fake = createFakeDriver();
    const verify: Act = async (node, args, context) => {
      seen = node.driver_info;
      return fake.acts.verify!(node, args, context);
    };
    await round(conductor_group, handsWith(driverThat(verify).driver));
    expect(seen).toEqual({ redfish_password: 'p1' });
    expect(await stateOf(uuid)).toMatchObject({ power_state: 'power off' });
  });

  test('gives way to a state that was written while it lasted', async () => {
    const { uuid, conductor_group } = await newNode();
    const verify: Act = async () => {
      await owner`update nodes set power_state = 'power on' where uuid = ${uuid}`;
      return { is: 'done', seen: { power_state: 'power off' } };
    };
    await round(conductor_group, handsWith(driverThat(verify).driver));
    expect(await stateOf(uuid)).toMatchObject({ power_state: 'power on' });
  });

  test('gives way to a run that took the node while it lasted', async () => {
    const { uuid, conductor_group } = await newNode();
    const verify: Act = async () => {
      await owner`update nodes set reservation = ${randomUUID()} where uuid = ${uuid}`;
      return { is: 'done', seen: { power_state: 'power on' } };
    };
    expect(await round(conductor_group, handsWith(driverThat(verify).driver))).toEqual(['skipped']);
    expect(await stateOf(uuid)).toMatchObject({ power_state: 'power off' });
  });
});

describe('no worker looks', () => {
  test.each([
    ['while a run holds the node', { reservation: randomUUID() }],
    ['while the node has a target power state', { target_power_state: 'power on' }],
    ['in maintenance', { maintenance: true, maintenance_reason: 'fan swap' }],
    ['in maintenance for another fault', { maintenance: true, fault: 'clean failure' }],
    ['where this worker lacks the driver', { driver: 'redfish' }],
    ...powerSyncSkips.map((provision_state): [string, Record<string, unknown>] => [
      `in state ${provision_state}`,
      { provision_state },
    ]),
  ])('%s', async (_, values) => {
    const { conductor_group } = await newNode(values);
    const { driver, calls } = driverThat(look('power on'));
    await round(conductor_group, handsWith(driver));
    expect(calls).toEqual([]);
  });

  test('at nodes of another group', async () => {
    await newNode();
    const { driver, calls } = driverThat(look('power on'));
    await round(randomUUID(), handsWith(driver));
    expect(calls).toEqual([]);
  });

  test('at a BMC that another worker is with, and its node has not failed', async () => {
    const { uuid, conductor_group } = await newNode();
    const lane = `bmc-${randomUUID()}`;
    await bmc.bmcLeases.take(lane, randomUUID(), 60_000);
    const { driver, calls } = driverThat(look('power on'), lane);
    expect(await round(conductor_group, handsWith(driver))).toEqual(['skipped']);
    expect(calls).toEqual([]);
    expect(await owner`select failures from power_sync where node_uuid = ${uuid}`).toEqual([]);
  });

  test('at a BMC that a run of this worker is with, and no look waits in its lane', async () => {
    const { conductor_group } = await newNode();
    const lane = `bmc-${randomUUID()}`;
    const lanes = createLanes();
    let leave = () => {};
    const inside = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const run = lanes.run(lane, new AbortController().signal, () => inside);
    const { driver, calls } = driverThat(look('power on'), lane);
    expect(await round(conductor_group, handsWith(driver, { lanes }))).toEqual(['skipped']);
    expect(calls).toEqual([]);
    leave();
    await run;
  });
});

describe('a BMC that does not answer', () => {
  test('takes its node out of use at the third failure in a row, and the reason says why', async () => {
    const { uuid, conductor_group } = await newNode();
    const deps = handsWith(driverThat(silent).driver);
    expect(await round(conductor_group, deps)).toEqual(['failed']);
    expect(await round(conductor_group, deps)).toEqual(['failed']);
    expect(await stateOf(uuid)).toMatchObject({ maintenance: false, fault: null });
    expect(await round(conductor_group, deps)).toEqual(['faulted']);
    const reason = expect.stringMatching(/^Power sync failed 3 times in a row: .*no route/);
    expect(await stateOf(uuid)).toEqual({
      power_state: 'error',
      maintenance: true,
      maintenance_reason: reason,
      fault: 'power failure',
      last_error: reason,
    });
    expect(await eventsOf(uuid)).toMatchObject([
      { kind: 'node.maintenance.set', data: { fault: 'power failure', error: reason } },
    ]);
  });

  test('is counted anew after it answered once', async () => {
    const { uuid, conductor_group } = await newNode();
    const down = handsWith(driverThat(silent).driver);
    await round(conductor_group, down);
    await round(conductor_group, down);
    await round(conductor_group, handsWith(driverThat(look('power off')).driver));
    await round(conductor_group, down);
    await round(conductor_group, down);
    expect(await stateOf(uuid)).toMatchObject({ maintenance: false });
  });

  test('but says that it is busy is there', async () => {
    const { uuid, conductor_group } = await newNode();
    const busy: Act = async () => raise('BmcBusy', { node: 'n', bmc: 'b', status: 503, reason: 'booting' });
    const deps = handsWith(driverThat(busy).driver);
    for (let turn = 0; turn < 4; turn++) expect(await round(conductor_group, deps)).toEqual(['skipped']);
    expect(await stateOf(uuid)).toMatchObject({ maintenance: false });
  });

  test('never shows a secret in the reason', async () => {
    const { uuid, conductor_group } = await newNode({ driver_info: { redfish_password: 'Geheim99' } });
    const verify: Act = async () => Promise.reject(new Error('login root Geheim99 refused'));
    const deps = handsWith(driverThat(verify).driver);
    for (let turn = 0; turn < 3; turn++) await round(conductor_group, deps);
    const { maintenance_reason } = await stateOf(uuid);
    expect(maintenance_reason).toContain('refused');
    expect(maintenance_reason).not.toContain('Geheim99');
  });

  const broken = async () => {
    const node = await newNode();
    const deps = handsWith(driverThat(silent).driver);
    for (let turn = 0; turn < 3; turn++) await round(node.conductor_group, deps);
    return node;
  };

  test('and is back takes its node into use again', async () => {
    const { uuid, conductor_group } = await broken();
    expect(await round(conductor_group, handsWith(driverThat(silent).driver))).toEqual(['failed']);
    expect(await round(conductor_group, handsWith(driverThat(look('power on')).driver))).toEqual(['changed']);
    expect(await stateOf(uuid)).toEqual({
      power_state: 'power on',
      maintenance: false,
      maintenance_reason: null,
      fault: null,
      last_error: null,
    });
    expect((await eventsOf(uuid)).map(({ kind }) => kind)).toEqual([
      'node.maintenance.set',
      'node.power',
      'node.maintenance.cleared',
    ]);
  });

  test('and is back leaves maintenance alone that a person wants by now', async () => {
    const { uuid, conductor_group } = await broken();
    await owner`update nodes set maintenance_reason = 'technician on site' where uuid = ${uuid}`;
    await round(conductor_group, handsWith(driverThat(look('power on')).driver));
    expect(await stateOf(uuid)).toMatchObject({
      power_state: 'power on',
      maintenance: true,
      maintenance_reason: 'technician on site',
      fault: null,
    });
  });
});

describe('where the recorded state is re-imposed', () => {
  const imposing = (driver: Driver) =>
    handsWith(driver, { impose: createImpose({ inventory: bmc, vault, timing: quickTiming }) });
  const runsOf = (uuid: NodeUuid) => owner`select verb, state, requester from runs where node_uuid = ${uuid}`;

  test('a run is accepted that brings it back', async () => {
    const { uuid, conductor_group } = await newNode({ power_state: 'power on' });
    expect(await round(conductor_group, imposing(driverThat(look('power off')).driver))).toEqual(['imposed']);
    expect(await runsOf(uuid)).toMatchObject([
      { verb: 'power', state: 'accepted', requester: { user_name: 'power sync' } },
    ]);
    expect(await stateOf(uuid)).toMatchObject({ power_state: 'power on' });
  });

  test('a state that was never known is recorded, not imposed', async () => {
    const { uuid, conductor_group } = await newNode({ power_state: null });
    expect(await round(conductor_group, imposing(driverThat(look('power on')).driver))).toEqual(['changed']);
    expect(await runsOf(uuid)).toEqual([]);
  });

  test('after a restore of the store nothing is: a backup says of power what was so when it was made', async () => {
    const { uuid, conductor_group } = await newNode({ power_state: 'power on' });
    const held = await newNode({ power_state: 'power on' });
    await owner`update nodes set reservation = gen_random_uuid() where uuid = ${held.uuid}`;
    const sync = () => round(conductor_group, imposing(driverThat(look('power off')).driver));
    await owner`insert into recovery (side, reason) values ('store', 'older')`;
    await sync();
    expect(await stateOf(uuid)).toMatchObject({ power_state: 'power on' });
    await api.recovery.leave();
    expect(await stateOf(uuid)).toMatchObject({ power_state: null });
    expect(await stateOf(held.uuid)).toMatchObject({ power_state: 'power on' });
    expect(await sync()).toEqual(['changed']);
    expect([await stateOf(uuid), await runsOf(uuid)]).toMatchObject([{ power_state: 'power off' }, []]);
    await owner`insert into recovery (side, reason) values ('engine', 'older')`;
    await api.recovery.leave();
    expect(await stateOf(uuid)).toMatchObject({ power_state: 'power off' });
  });

  test('what was written while the BMC was looked at is not', async () => {
    const { uuid, conductor_group } = await newNode({ power_state: 'power on' });
    const verify: Act = async () => {
      await owner`update nodes set power_state = null where uuid = ${uuid}`;
      return { is: 'done', seen: { power_state: 'power off' } };
    };
    await round(conductor_group, imposing(driverThat(verify).driver));
    expect(await runsOf(uuid)).toEqual([]);
  });

  test('a frozen node is left alone, and one that must not be powered off', async () => {
    const frozen = await newNode({ power_state: 'power on' });
    const requester = {
      user_id: null,
      user_name: 'u',
      project_id: null,
      system_scope: 'all',
      strategy: 'x',
      request_id: 'r',
    };
    await api.freezes.create({ node_uuid: frozen.uuid, reason: 'x', until: null, requester });
    const barred = await newNode({ disable_power_off: true });
    for (const [node, seen] of [
      [frozen, 'power off'],
      [barred, 'power on'],
    ] as const) {
      await round(node.conductor_group, imposing(driverThat(look(seen)).driver));
      expect(await runsOf(node.uuid)).toEqual([]);
    }
  });
});

describe('what is re-imposed', () => {
  const imposed = async (node: Parameters<typeof newNode>[0], seen: PowerState) => {
    const { uuid, conductor_group } = await newNode(node);
    const deps = handsWith(driverThat(look(seen)).driver, {
      impose: createImpose({ inventory: bmc, vault, timing: quickTiming }),
    });
    await round(conductor_group, deps);
    const rows =
      await owner`select n.target_power_state as target from runs r join nodes n on n.uuid = r.node_uuid where n.uuid = ${uuid}`;
    return rows.map(({ target }) => target);
  };

  test.each([
    ['a node is powered off again', { power_state: 'power off' }, 'power on', ['power off']],
    [
      'one that must not be powered off is powered on',
      { power_state: 'power on', disable_power_off: true },
      'power off',
      ['power on'],
    ],
    ['an error on record is not', { power_state: 'error' }, 'power on', []],
  ] as const)('%s', async (_, node, seen, targets) => {
    expect(await imposed(node, seen)).toEqual(targets);
  });
});

describe('the workers of a group', () => {
  test('look at each node once in an interval, whichever is first', async () => {
    const conductor_group = randomUUID();
    const nodes = await Promise.all(Array.from({ length: 40 }, () => newNode({ conductor_group })));
    await bmc.powerSync.enlist(conductor_group);
    const seen: DueNode[] = [];
    const sync = async () => {
      const deps = handsWith(driverThat(look('power off')).driver);
      const looked = (node: DueNode) => void seen.push(node);
      const options = {
        conductor_group,
        drivers: ['fake-hardware'],
        everyMs: 60_000,
        workers: 2,
        maxFailures: 3,
        looked,
      };
      await syncPowerOnce({ ...options, deps, signal: new AbortController().signal });
    };
    await Promise.all([sync(), sync(), sync()]);
    const inSlots = seen.map(({ uuid, slot }) => `${uuid} ${slot}`);
    // The clock may enter a node's next slot between two workers: that look belongs to the next interval.
    expect(inSlots.sort()).toEqual([...new Set(inSlots)].sort());
    expect([...new Set(seen.map(({ uuid }) => uuid))].sort()).toEqual(nodes.map(({ uuid }) => uuid).sort());
  });

  test('make no more looks at once than they are allowed', async () => {
    const conductor_group = randomUUID();
    await Promise.all(Array.from({ length: 12 }, () => newNode({ conductor_group })));
    let [inside, most] = [0, 0];
    const verify: Act = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
      return { is: 'done', seen: { power_state: 'power off' } };
    };
    await bmc.powerSync.enlist(conductor_group);
    const options = { conductor_group, drivers: ['fake-hardware'], everyMs: 60_000, workers: 3, maxFailures: 3 };
    const deps = handsWith(driverThat(verify).driver);
    await syncPowerOnce({ ...options, deps, signal: new AbortController().signal });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
  });

  test('go on until they are asked to end, and not at all where the interval is 0', async () => {
    const { conductor_group } = await newNode();
    const deps = handsWith(driverThat(look('power on')).driver);
    const options = { conductor_group, drivers: ['fake-hardware'], workers: 1, maxFailures: 3 };
    await runPowerSync(deps, { ...options, everyMs: 0, signal: new AbortController().signal });
    const ending = new AbortController();
    const looked = (_node: DueNode, how: Looked) => {
      expect(how).toBe('changed');
      ending.abort();
    };
    await runPowerSync(deps, { ...options, everyMs: 20, signal: ending.signal, looked });
    expect(ending.signal.aborted).toBe(true);
  });
});
