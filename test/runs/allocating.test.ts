/** Passes over allocations on a real Postgres: who is given which node, never two the same, and what becomes of the rest. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInventory, type Inventory } from '../../src/inventory';
import type { NewAllocation } from '../../src/inventory/allocations';
import { connect, type Sql } from '../../src/inventory/database';
import type { AllocationUuid } from '../../src/model/ids';
import type { Allocation } from '../../src/model/resources/allocations';
import { allocateAll, allocateOnce, runAllocating, type Settled } from '../../src/runs/allocating';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let owner: Sql;
let api: Inventory;
let control: Inventory;
const warned: unknown[] = [];
const log = { info() {}, warn: (...line: unknown[]) => void warned.push(line) };

beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 3 });
  api = createInventory(connect(database.apiUrl, { max: 10 }));
  control = createInventory(connect(database.controlUrl, { max: 10 }));
});
afterAll(async () => {
  await api?.close();
  await control?.close();
  await owner?.end({ timeout: 1 });
  await database?.drop();
});
beforeEach(async () => {
  warned.length = 0;
  await owner`delete from nodes`;
  await owner`delete from allocations`;
});

const deps = () => ({ inventory: control, log });

/** A node as a pass may give it. */
const node = async (more: Record<string, unknown> = {}): Promise<string> => {
  const values = {
    uuid: randomUUID(),
    driver: 'fake-hardware',
    provision_state: 'available',
    power_state: 'power off',
    resource_class: 'gold',
    ...more,
  };
  await owner`insert into nodes ${owner(values)}`;
  return values.uuid;
};

const audit = {
  requester: {} as never,
  action: 'allocation.create',
  rule: null,
  rule_set: null,
  resource: 'allocation',
  resource_id: 'x',
};

const ask = (more: Partial<NewAllocation> = {}): Promise<Allocation> =>
  api.allocations.insertRecorded(
    {
      uuid: randomUUID() as AllocationUuid,
      name: null,
      resource_class: 'gold',
      traits: [],
      candidate_nodes: [],
      owner: null,
      extra: {},
      ...more,
    },
    { audit, event: { kind: 'allocation.created' } },
  );

const look = async ({ uuid }: { uuid: string }): Promise<Allocation> => (await api.allocations.find(uuid))!;
const passed = async (more: Partial<NewAllocation> = {}): Promise<Allocation> => {
  const asked = await ask(more);
  await allocateAll(deps());
  return look(asked);
};
/** Lets what was postponed be due now. */
const due = () => owner`update allocations set due_at = now()`;

test('a node is given, and says to whom', async () => {
  const uuid = await node({ traits: ['CUSTOM_A', 'CUSTOM_B'], instance_info: owner.json({ kept: 1 }) });
  const allocation = await passed({ traits: ['CUSTOM_A'] });
  expect(allocation).toMatchObject({ state: 'active', node_uuid: uuid, last_error: null });
  const given = (await api.nodes.find({ uuid }))!;
  expect(given).toMatchObject({
    instance_uuid: allocation.uuid,
    allocation_uuid: allocation.uuid,
    instance_info: { kept: 1, traits: ['CUSTOM_A'] },
    provision_state: 'available',
    reservation: null,
  });
});

test('what was given is reported with the allocation, its node and its project', async () => {
  const uuid = await node({ owner: 'p1' });
  const { uuid: allocation } = await passed({ owner: 'p1', name: 'web' });
  const [event] =
    await owner`select kind, node_uuid, project, data from events where kind = 'allocation.reserved' order by seq desc limit 1`;
  expect(event).toEqual({
    kind: 'allocation.reserved',
    node_uuid: uuid,
    project: 'p1',
    data: { allocation_uuid: allocation, name: 'web', node_uuid: uuid },
  });
});

test('each that a pass ends is counted once: given a node or refused one, and how long it took', async () => {
  await node();
  await ask({ resource_class: 'gold' });
  await ask({ resource_class: 'silver' });
  const settled: Settled[] = [];
  const counting = { ...deps(), onSettled: (one: Settled) => void settled.push(one) };
  await allocateAll(counting);
  await allocateAll(counting);
  expect(settled.map(({ outcome }) => outcome).sort()).toEqual(['active', 'error']);
  expect(settled.every(({ seconds }) => seconds >= 0 && seconds < 3_600)).toBe(true);
});

test.each([
  ['of another class', { resource_class: 'silver' }],
  ['without a class', { resource_class: null }],
  ['that is not available', { provision_state: 'manageable' }],
  ['in maintenance', { maintenance: true }],
  ['with an instance', { instance_uuid: randomUUID() }],
  ['whose power is unknown', { power_state: null }],
  ['that belongs to another node', { parent_node: randomUUID() }],
])('a node %s is not given', async (_what, more) => {
  const uuid = await node(more);
  const allocation = await passed();
  expect(allocation).toMatchObject({
    state: 'error',
    node_uuid: null,
    last_error: `Failed to process allocation ${allocation.uuid}: no available nodes match the resource class gold.`,
  });
  expect((await api.nodes.find({ uuid }))!.allocation_uuid).toBeNull();
  const [event] = await owner`select data from events where kind = 'allocation.failed' order by seq desc limit 1`;
  expect(event!.data).toMatchObject({ allocation_uuid: allocation.uuid, error: allocation.last_error });
});

test('only a node with every trait is given', async () => {
  await node({ traits: ['CUSTOM_A'] });
  const both = await node({ traits: ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C'] });
  const traits = ['CUSTOM_A', 'CUSTOM_B'];
  expect(await passed({ traits })).toMatchObject({ node_uuid: both });
  const { state, last_error } = await passed({ traits });
  expect([state, last_error]).toEqual(['error', expect.stringContaining('traits CUSTOM_A, CUSTOM_B')]);
});

test('only a candidate is given', async () => {
  await node();
  const candidate = await node();
  const candidate_nodes = [candidate, randomUUID()];
  expect(await passed({ candidate_nodes })).toMatchObject({ node_uuid: candidate });
  const { state, last_error } = await passed({ candidate_nodes });
  expect([state, last_error]).toEqual(['error', expect.stringContaining('none of the requested nodes are available')]);
});

test('an allocation of a project is given what the project owns or leases, and nothing else', async () => {
  await node({ owner: 'p2', lessee: 'p3' });
  await node();
  const mine = [await node({ owner: 'p1', lessee: 'p2' }), await node({ owner: 'p2', lessee: 'p1' })];
  const given = [await passed({ owner: 'p1' }), await passed({ owner: 'p1' })].map(({ node_uuid }) => node_uuid);
  expect([...given].sort()).toEqual([...mine].sort());
  const third = await passed({ owner: 'p1' });
  expect([third.state, third.last_error]).toEqual(['error', expect.stringContaining('project p1 owns or leases')]);
});

test('the node of the same name comes first', async () => {
  for (let i = 0; i < 20; i++) await node();
  const namesake = await node({ name: 'web-1' });
  expect(await passed({ name: 'web-1' })).toMatchObject({ node_uuid: namesake });
  expect(await passed({ name: 'web-2' })).toMatchObject({ state: 'active' });
});

test('nodes are given at random', async () => {
  for (let i = 0; i < 30; i++) await node();
  const first = await owner`select uuid from nodes order by uuid limit 5`;
  const given = [];
  for (let i = 0; i < 5; i++) given.push((await passed()).node_uuid);
  // Five times the lowest in a row would come once in 140,000 tries of a fair choice.
  expect([...given].sort()).not.toEqual(first.map(({ uuid }) => uuid));
});

test('a node that a run holds is waited for, a few times, and then given up', async () => {
  const uuid = await node({ reservation: randomUUID() });
  const first = await ask();
  const second = await ask();
  await allocateAll(deps());
  expect(await look(first)).toMatchObject({ state: 'allocating' });
  expect(await allocateOnce(deps())).toBe(0); // not due yet
  await owner`update nodes set reservation = null`;
  await due();
  await allocateAll(deps());
  expect(await look(first)).toMatchObject({ state: 'active', node_uuid: uuid });
  expect(await look(second)).toMatchObject({ state: 'error' });

  await owner`update nodes set reservation = ${randomUUID()}, instance_uuid = null, allocation_uuid = null`;
  const third = await ask();
  for (let pass = 0; pass < 3; pass++) {
    await due();
    await allocateAll(deps());
    expect(await look(third)).toMatchObject({ state: 'allocating' });
  }
  await due();
  await allocateAll(deps());
  expect(await look(third)).toMatchObject({
    state: 'error',
    last_error: expect.stringContaining('could not reserve any of 1 suitable nodes'),
  });
});

test('a node that another transaction holds is passed over', async () => {
  const [held, free] = [await node(), await node()];
  await owner.begin(async (tx) => {
    await tx`select 1 from nodes where uuid = ${held} for update`;
    expect(await passed()).toMatchObject({ node_uuid: free });
  });
  expect(await passed()).toMatchObject({ node_uuid: held });
});

test('an allocation whose UUID is another node’s instance fails, and the others of its pass do not', async () => {
  const uuid = randomUUID() as AllocationUuid;
  await node({ instance_uuid: uuid, provision_state: 'active' });
  await node();
  const [before, bad, after] = [await ask(), await ask({ uuid }), await ask()];
  await node();
  await node();
  await allocateAll(deps());
  expect((await look(bad)).last_error).toMatch(/its UUID is the instance of another node\.$/);
  expect([(await look(before)).state, (await look(bad)).state, (await look(after)).state]).toEqual([
    'active',
    'error',
    'active',
  ]);
});

/** A pass of another process, which has given a node and never commits. */
const stuckPass = `
  const { createInventory } = require('./dist/inventory');
  const { connect } = require('./dist/inventory/database');
  createInventory(connect(process.env.URL, { max: 1 })).transaction(async (store) => {
    const [waiting] = await store.allocationPasses.take(50);
    process.stdout.write(await store.allocationPasses.reserve(waiting));
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  });`;

test('a pass that is killed changes nothing, and the next one finds everything as it was', async () => {
  const uuid = await node();
  const asked = await ask();
  const child = spawn(process.execPath, ['-e', stuckPass], {
    cwd: join(__dirname, '../..'),
    env: { ...process.env, URL: database.controlUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [reserved] = await once(child.stdout, 'data');
  expect(String(reserved)).toBe(uuid);
  expect(await look(asked)).toMatchObject({ state: 'allocating', node_uuid: null });
  expect(await allocateOnce(deps())).toBe(0); // the other pass has it
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  const [untouched] = await owner`select instance_uuid, allocation_uuid from nodes`;
  expect(untouched).toEqual({ instance_uuid: null, allocation_uuid: null });
  while ((await look(asked)).state === 'allocating') await allocateAll(deps()); // until the server has noticed
  expect(await look(asked)).toMatchObject({ state: 'active', node_uuid: uuid });
});

test('a deletion that meets a pass waits for it and frees the node, or finds nothing given', async () => {
  const uuid = await node();
  const asked = await ask();
  let removed: Promise<boolean> | undefined;
  await control.transaction(async (store) => {
    const [waiting] = await store.allocationPasses.take(50);
    await store.allocationPasses.reserve(waiting!);
    removed = api.allocations.remove(asked.uuid);
  });
  expect(await removed).toBe(false); // it has a node by now, whose release ends it
  const given = (await api.nodes.find({ uuid }))!;
  await api.nodes.update(given, { instance_uuid: null, allocation_uuid: null });
  expect(await api.allocations.find(asked.uuid)).toBeUndefined();
});

test('a thousand at once over a thousand nodes, several passes at a time: every node once', async () => {
  const count = 1_000;
  await owner`
    insert into nodes (driver, provision_state, power_state, resource_class, traits, owner)
    select 'fake-hardware', 'available', 'power off', 'gold', '{CUSTOM_A}', case when n % 4 = 0 then 'p1' end from generate_series(1, ${count}) n`;
  const passing = new AbortController();
  const passes = Array.from({ length: 4 }, () => runAllocating(deps(), { signal: passing.signal, everyMs: 20 }));
  const asked = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      ask({ traits: n % 2 ? ['CUSTOM_A'] : [], owner: n % 8 === 0 ? 'p1' : null }).then((one) => {
        if (n % 50 === 0) void api.allocationsChannel.ring();
        return one;
      }),
    ),
  );
  for (;;) {
    const [row] = await owner`select count(*)::int as open from allocations where state = 'allocating'`;
    if (row!.open === 0) break;
    await due(); // no process holds a node for long here
  }
  passing.abort();
  await Promise.all(passes);
  expect(asked).toHaveLength(count);
  const [sums] = await owner`
    select count(*)::int as active, count(distinct node_uuid)::int as nodes from allocations where state = 'active'`;
  const [agreed] = await owner`
    select count(*)::int as agreed from allocations a join nodes n on n.uuid = a.node_uuid
    where n.allocation_uuid = a.uuid and n.instance_uuid = a.uuid and (a.owner is null or n.owner = a.owner)`;
  expect(sums!.active).toBe(sums!.nodes);
  expect(agreed!.agreed).toBe(sums!.active);
  // Ownerless ones may have taken nodes of p1 before p1 came: those are short, and no other.
  const short = await owner`select owner from allocations where state = 'error'`;
  expect(short.filter((row) => row.owner !== 'p1')).toEqual([]);
  const [told] = await owner`
    select count(*)::int as told, count(distinct node_uuid)::int as nodes from events
    where kind = 'allocation.reserved' and data->>'allocation_uuid' in (select uuid::text from allocations)`;
  expect(told).toEqual({ told: sums!.active, nodes: sums!.active });
  expect(warned).toEqual([]);
});

test('a ring wakes the passes, and what no ring announced is found at the interval', async () => {
  await node();
  await node();
  const passing = new AbortController();
  const done = async (one: Allocation) => {
    while ((await look(one)).state === 'allocating') await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const sleepers = runAllocating(deps(), { signal: passing.signal, everyMs: 3_600_000 });
  const rung = await ask();
  await api.allocationsChannel.ring();
  await done(rung);
  passing.abort();
  await sleepers;
  const again = new AbortController();
  const walkers = runAllocating(deps(), { signal: again.signal, everyMs: 10 });
  await done(await ask());
  again.abort();
  await walkers;
  expect(warned).toEqual([]);
});

test('what becomes of the node becomes of the allocation', async () => {
  for (const end of [
    (uuid: string) => owner`delete from nodes where uuid = ${uuid}`,
    (uuid: string) => owner`update nodes set allocation_uuid = null, instance_uuid = null where uuid = ${uuid}`,
  ]) {
    const uuid = await node();
    const { uuid: allocation } = await passed({ owner: null, name: 'gone' });
    await end(uuid);
    expect(await api.allocations.find(allocation)).toBeUndefined();
    const [event] =
      await owner`select node_uuid, data from events where kind = 'allocation.deleted' order by seq desc limit 1`;
    expect(event).toEqual({ node_uuid: uuid, data: { allocation_uuid: allocation, name: 'gone' } });
  }
});

test('with many nodes a free one is found by an index, not by reading them all', async () => {
  await owner`
    insert into nodes (driver, provision_state, power_state, resource_class)
    select 'fake-hardware', case when n % 2 = 0 then 'available' else 'active' end, 'power off', 'gold' from generate_series(1, 20000) n`;
  await owner`analyze nodes`;
  const plan = await owner`
    explain select uuid from nodes
    where resource_class = 'gold' and provision_state = 'available' and instance_uuid is null and not maintenance
      and power_state is not null and parent_node is null and reservation is null and uuid >= ${randomUUID()}
    order by uuid limit 1 for update skip locked`;
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('nodes_free');
});
