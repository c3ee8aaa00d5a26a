/** The fence: with an old lock, an old attempt, or both, no statement finds a row, and nothing changes. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInventory, type Inventory, type Queries } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { ActLock } from '../../src/inventory/fence';
import type { ActKey } from '../../src/inventory/runs/run-steps';
import type { RunUuid } from '../../src/model/ids';
import type { PlannedStep } from '../../src/model/lifecycle/step-types';
import { heldAct } from '../support/held-act';
import { openStores } from '../support/stores';
import { testVault } from '../support/vault';

const vault = testVault;

let owner: Sql;
let api: Inventory;
let bmc: Inventory;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ owner, api, bmc, close } = await openStores());
});
afterAll(() => close());

const execution = randomUUID();
const keyOf = (attempt: number): ActKey => ({
  index: 0,
  act: 'power_on',
  attempt,
  execution,
  activity: 'step-00',
  nth: 1,
  asked_at: 1_000_000 * attempt,
});

/** A run whose act has begun twice: `old` is the lock of its first attempt, `lock` that of its second. */
const world = async () => {
  const { lock: run, step } = await heldAct({ api, owner, vault });
  await owner`
    update runs set state = 'running', workflow_run_id = ${execution}, limit_class = 'clean', turn_at = created_at where id = ${run.run}`;
  await owner`
    insert into run_steps (run_id, index, interface, step) values (${run.run}, 1, 'power', 'power_off')`;
  await owner`insert into ramdisk_boots (node_uuid, run_id, booted_at) values (${run.node_uuid}, ${run.run}, now() - interval '1 minute')`;
  await owner`insert into intents (run_id, index, act) values (${run.run}, 0, 'power_on')`;
  const begin = async (attempt: number): Promise<ActLock> => {
    const lock = { ...run, token: randomUUID() };
    await api.runSteps.begin(lock, keyOf(attempt), step);
    return lock;
  };
  const old = await begin(1);
  return { old, lock: await begin(2), step };
};
type World = Awaited<ReturnType<typeof world>>;

/** Another run takes the node over, as acceptance does. */
const takeOver = async ({ lock }: World) => {
  await owner`update runs set state = 'aborted', finished_at = now() where id = ${lock.run}`;
  await owner`update nodes set reservation = ${randomUUID()}, fence = fence + 1 where uuid = ${lock.node_uuid}`;
};

const dump = async ({ lock: { run, node_uuid } }: World) => ({
  node: await owner`select * from nodes where uuid = ${node_uuid}`,
  ports: await owner`select * from ports where node_uuid = ${node_uuid} order by id`,
  details: await owner`select * from node_details where node_uuid = ${node_uuid}`,
  run: await owner`select * from runs where id = ${run}`,
  steps: await owner`select * from run_steps where run_id = ${run} order by index`,
  intents: await owner`select * from intents where run_id = ${run} order by index, act`,
  boots: await owner`select * from ramdisk_boots where node_uuid = ${node_uuid}`,
  events: await owner`select * from events where run_id = ${run} order by seq`,
});

type Statement = (store: Queries, lock: ActLock, step: PlannedStep) => Promise<unknown>;

const mac = () =>
  `52:54:00:${[...randomUUID().replaceAll('-', '').slice(0, 6)].join('').replace(/(..)(..)(..)/, '$1:$2:$3')}`;
const outcome = { is: 'done', seen: { power_state: 'power on' } } as const;

/** Statements of the BMC worker, which stand behind the lock and behind the attempt. */
const ofActs: Record<string, Statement> = {
  'runSteps.tried': (store, lock) =>
    store.runSteps.tried(lock, keyOf(1), { error: 'no answer', code: 'BmcUnreachable', again: true }),
  'runSteps.end, of an act': (store, lock) => store.runSteps.end(lock, keyOf(1), outcome, false),
  'runSteps.end, of a step': (store, lock) => store.runSteps.end(lock, keyOf(1), outcome, true),
  'runSteps.recordIntent': (store, lock) => store.runSteps.recordIntent(lock, 0, 'power_on', { desired: 'power on' }),
  'observedFacts.write': (store, lock) =>
    store.observedFacts.write(lock, {
      properties: { cpus: 4 },
      raid_config: { logical_disks: [] },
      bios: [{ name: 'ProcTurbo', value: 'On' }],
      firmware: [{ component: 'bmc', current_version: '2' }],
      inventory: { cpu: {} },
      macs: [mac()],
    }),
  'ramdiskBoots.expect': (store, lock) => store.ramdiskBoots.expect(lock),
  'ramdiskBoots.end': (store, lock) => store.ramdiskBoots.end(lock, 'step-00'),
  'ruleEffects.write': (store, lock) =>
    store.ruleEffects.write(lock, {
      node: { description: 'by a rule' },
      traits: ['CUSTOM_A'],
      ports: [],
      plugin_data: null,
    } as never),
};

/** Statements of the control worker: one repeat of them is distinguished from another by their counter. */
const ofRuns: Record<string, Statement> = {
  'runs.claim': (store, lock) => store.runs.claim(lock, randomUUID(), execution),
  'runs.advance': (store, { token: _, ...lock }) => store.runs.advance(lock, 5, 'waiting', 'something'),
  'runs.counted': (store, { token: _, ...lock }) => store.runs.counted(lock, 5),
  'runs.moveNode': (store, { token: _, ...lock }) => store.runs.moveNode(lock, 'clean wait', 'instance'),
  'runs.finish': (store, { token: _, ...lock }) =>
    store.runs.finish(lock, {
      state: 'failed',
      to: 'clean failed',
      target: null,
      error: 'x',
      fault: 'clean failure',
      cursor: 0,
      forgetPower: true,
      forgetInstance: true,
    }),
  'runSteps.begin': async (store, lock, step) =>
    (await store.runSteps.begin({ ...lock, token: randomUUID() }, keyOf(3), step)).node,
  'runSteps.mark, done': (store, { token: _, ...lock }) => store.runSteps.mark(lock, 0, 'done', { note: 'x' }),
  'runSteps.mark, parked': (store, { token: _, ...lock }) => store.runSteps.mark(lock, 0, 'parked', { error: 'x' }),
  'runSteps.again': (store, { token: _, ...lock }) => store.runSteps.again(lock, 0, { a: 1 }),
  'runSteps.replaceAfter': (store, { token: _, ...lock }) => store.runSteps.replaceAfter(lock, 0, []),
  'runSteps.renew': (store, { token: _, ...lock }, step) => store.runSteps.renew(lock, [{ ...step, index: 7 }]),
  'runSteps.passed': (store, { token: _, ...lock }) => store.runSteps.passed(lock, 1, 'over'),
  'turns.give': (store, { token: _, ...lock }) => store.turns.give(lock, { class: 'clean', max: 1_000 }),
  'turns.giveBack': (store, { token: _, ...lock }) => store.turns.giveBack(lock),
  'contacts.await': (store, { token: _, ...lock }) => store.contacts.await(lock, 'heartbeat'),
};

/** As the owner, so that no missing right stands in for the fence. */
const perform = (statement: Statement, lock: ActLock, { step }: World) =>
  createInventory(owner).transaction((store) => statement(store, lock, step));

const every = { ...ofActs, ...ofRuns };

test.each(Object.keys(every))('%s changes something for who holds the node', async (name) => {
  const at = await world();
  const before = await dump(at);
  await perform(every[name]!, at.lock, at);
  expect(await dump(at)).not.toEqual(before);
});

test.each(Object.keys(every))('%s finds no row with an old fence, and changes nothing', async (name) => {
  const at = await world();
  const before = await dump(at);
  const found = await perform(every[name]!, { ...at.lock, fence: at.lock.fence - 1 }, at);
  expect(found || undefined).toBeUndefined();
  expect(await dump(at)).toEqual(before);
});

test.each(Object.keys(every))('%s finds no row when another run has the node, and changes nothing', async (name) => {
  const at = await world();
  await takeOver(at);
  const before = await dump(at);
  const found = await perform(every[name]!, at.lock, at);
  expect(found || undefined).toBeUndefined();
  expect(await dump(at)).toEqual(before);
});

test.each(Object.keys(ofActs))('%s of an attempt before finds no row, and changes nothing', async (name) => {
  const at = await world();
  const before = await dump(at);
  expect((await perform(ofActs[name]!, at.old, at)) || undefined).toBeUndefined();
  expect(await dump(at)).toEqual(before);
});

test.each(Object.keys(ofActs))(
  '%s of an attempt before of a run before finds no row, and changes nothing',
  async (name) => {
    const at = await world();
    await takeOver(at);
    const before = await dump(at);
    expect((await perform(ofActs[name]!, at.old, at)) || undefined).toBeUndefined();
    expect(await dump(at)).toEqual(before);
  },
);

test('an attempt that begins late finds no row, and the one that acts keeps the run', async () => {
  const at = await world();
  const before = await dump(at);
  const late = { ...at.old, token: randomUUID() };
  await expect(bmc.runSteps.begin(late, keyOf(1), at.step)).resolves.toEqual({ held_back: false });
  expect(await dump(at)).toEqual(before);
});

test('an intent that is written while the next attempt begins waits for it, and is not written', async () => {
  const at = await world();
  const next = { ...at.lock, token: randomUUID() };
  let written: Promise<boolean> | undefined;
  await owner.begin(async (sql) => {
    const store = createInventory(sql as unknown as Sql);
    await store.runSteps.begin(next, keyOf(3), at.step);
    written = bmc.runSteps.recordIntent(at.lock, 0, 'power_on', { desired: 'power on' });
    // Until it waits for the rows that this transaction has changed.
    for (let waits = 0; waits === 0; )
      waits = (
        await owner`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      ).length;
  });
  expect(await written).toBe(false);
});

test('a node that a run holds besides its own is held under its own fence', async () => {
  const at = await world();
  const [other] = await owner<{ uuid: string }[]>`
    insert into nodes (driver, provision_state) values ('fake-hardware', 'available') returning uuid`;
  const also = (await api.runs.acceptAlso(at.lock.run, [other!.uuid as never]))!;
  const child = { run: at.lock.run, node_uuid: other!.uuid as never, fence: also[other!.uuid]! };
  await expect(api.runs.held(child)).resolves.toMatchObject({ uuid: other!.uuid });
  await expect(api.runs.held({ ...child, run: randomUUID() as RunUuid })).resolves.toBeUndefined();
});

test('no query compares a fence but by the one fragment', () => {
  const folder = join(__dirname, '../../src/inventory');
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'fence.ts')
    .filter((name) => /\bfence = \$\{|reservation = \$\{lock/.test(readFileSync(join(folder, name), 'utf8')));
  expect(own).toEqual([join('runs', 'hold.ts')]); // `finish` frees the other nodes of its run
  const runs = readFileSync(join(folder, 'runs/hold.ts'), 'utf8');
  expect(runs.match(/\bfence = \$\{/g)).toBeNull();
  expect(runs.match(/reservation = \$\{lock/g)).toHaveLength(1);
});

test('the address of a ramdisk is noted for the boot that was read, and not for the one after it', async () => {
  const held = await world();
  const { node_uuid, run } = held.lock;
  const { ramdiskBoots } = api;
  await takeOver(held);
  const [{ reservation }] = (await owner`select reservation from nodes where uuid = ${node_uuid}`) as [
    { reservation: typeof run },
  ];
  await owner`update ramdisk_boots set run_id = ${reservation} where node_uuid = ${node_uuid}`;
  expect(await ramdiskBoots.take(node_uuid, run, '192.0.2.5')).toBeUndefined();
  expect(await ramdiskBoots.take(node_uuid, reservation, '192.0.2.6')).toBe('192.0.2.6');
  expect(await ramdiskBoots.take(node_uuid, reservation, '192.0.2.7')).toBe('192.0.2.6');
});
