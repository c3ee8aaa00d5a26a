/** What the store promises of nodes beyond the wire: compare-and-set, and the conductor read with the row. */
import { randomUUID } from 'node:crypto';
import { createInventory, type Inventory } from '../../src/inventory';
import { brokenUnique, connect, type Sql } from '../../src/inventory/database';
import { always } from '../../src/model/predicates';
import { listed } from '../support/listed';
import { testDatabase } from '../support/servers';

let sql: Sql;
let inventory: Inventory;
let close: () => Promise<void>;
beforeAll(async () => {
  const database = await testDatabase();
  sql = connect(database.ownerUrl, { max: 1 });
  inventory = createInventory(connect(database.apiUrl, { max: 2 }));
  close = async () => {
    await inventory.close();
    await sql.end();
    await database.drop();
  };
});
afterAll(() => close());
beforeEach(async () => {
  await sql`delete from nodes`;
  await sql`delete from workers`;
});

const requester = {
  user_id: null,
  user_name: null,
  project_id: null,
  system_scope: 'all',
  strategy: 'noauth',
  request_id: 'r',
} as const;

const recordOf = (uuid: string, act: 'create' | 'update') => ({
  audit: { requester, action: `node.${act}`, rule: null, rule_set: null, resource: 'node', resource_id: uuid },
  event: { kind: `node.${act}d` as const, node_uuid: uuid },
});

const add = (values: Record<string, unknown> = {}) => {
  const uuid = randomUUID();
  return inventory.nodes.enrol(
    { uuid, driver: 'fake-hardware', name: 'n1', ...values },
    { ...recordOf(uuid, 'create'), secrets: [] },
  );
};

test('a node is found by UUID and by name, and is undefined otherwise', async () => {
  const node = await add();
  expect(await inventory.nodes.find({ uuid: node.uuid })).toEqual(node);
  expect(await inventory.nodes.find({ name: 'n1' })).toEqual(node);
  expect(await inventory.nodes.find({ name: 'n2' })).toBeUndefined();
});

test('a change of a row that was read before another change does not happen', async () => {
  const seen = await add();
  const first = await inventory.nodes.update(seen, { description: 'first' });
  expect(first).toMatchObject({ description: 'first', updated_at: expect.any(Date) });
  expect(await inventory.nodes.update(seen, { description: 'second' })).toBeUndefined();
  expect(await inventory.nodes.update(first!, { description: 'third' })).toMatchObject({ description: 'third' });
});

test('a change leaves its audit row and its event once, and one that does not happen leaves neither', async () => {
  const seen = await add();
  const record = recordOf(seen.uuid, 'update');
  const left = async () => ({
    audit: (await sql`select action from audit where resource_id = ${seen.uuid} order by seq`).map(
      ({ action }) => action,
    ),
    events: (await sql`select kind from events where node_uuid = ${seen.uuid} order by seq`).map(({ kind }) => kind),
  });
  const first = await inventory.nodes.update(seen, { description: 'first' }, { record });
  expect(first).toEqual(await inventory.nodes.find({ uuid: seen.uuid }));
  const once = { audit: ['node.create', 'node.update'], events: ['node.created', 'node.updated'] };
  expect(await left()).toEqual(once);
  expect(await inventory.nodes.update(seen, { description: 'second' }, { record })).toBeUndefined();
  expect(await left()).toEqual(once);
});

test('the revision grows with writes of others, leases included', async () => {
  const seen = await add();
  const leased = await inventory.nodes.update(seen, { lessee: 'p' });
  const again = await inventory.nodes.find({ uuid: seen.uuid });
  expect(again!.revision).not.toBe(seen.revision);
  expect(leased).toMatchObject({ lessee: 'p' });
  await sql`update nodes set power_state = 'power on'`;
  expect(await inventory.nodes.update(again!, { description: 'late' })).toBeUndefined();
  expect(await inventory.nodes.remove(again!)).toBe(false);
});

test('a node that a run holds is neither changed nor removed', async () => {
  const seen = await add({ reservation: '33333333-3333-4333-8333-333333333333' });
  expect(await inventory.nodes.update(seen, { description: 'x' })).toBeUndefined();
  expect(await inventory.nodes.remove(seen)).toBe(false);
  expect(await inventory.nodes.find({ uuid: seen.uuid })).toEqual(seen);
});

test('a duplicate names the constraint that it broke', async () => {
  await add();
  const thrown = await add().catch((error) => error);
  expect(brokenUnique(thrown)).toBe('nodes_name_key');
});

test('documents come back as they were, whatever is in them', async () => {
  const extra = { text: 'it\'s "quoted"', list: [1, [2, { three: null }]], empty: {}, string: '"json"' };
  expect((await add({ extra })).extra).toEqual(extra);
  expect((await add({ name: 'n2', instance_info: {} })).instance_info).toEqual({});
});

test.each([
  ['', ['fake-hardware'], 'bmc', '1 second', 'w'],
  ['', ['redfish'], 'bmc', '1 second', null],
  ['other', ['fake-hardware'], 'bmc', '1 second', null],
  ['', ['fake-hardware'], 'control', '1 second', null],
  ['', ['fake-hardware'], 'bmc', '2 minutes', null],
])(
  'a worker of group %j with %j as %s, heard of %s ago, serves the node as %s',
  async (group, drivers, role, ago, shown) => {
    await sql`
    insert into workers (hostname, conductor_group, drivers, role, updated_at)
    values ('w', ${group}, ${drivers}, ${role}, now() - ${ago}::interval)`;
    const node = await add();
    expect(node.conductor).toBe(shown);
    const page = { limit: 10, sort_key: 'id', sort_dir: 'asc' } as const;
    const selection = { visible: always, filter: always };
    expect(await listed(inventory.nodes, ['uuid', 'conductor'], selection, page)).toEqual([
      { uuid: node.uuid, conductor: shown },
    ]);
    expect(await listed(inventory.nodes, ['uuid'], { ...selection, conductor: 'w' }, page)).toHaveLength(
      shown === null ? 0 : 1,
    );
  },
);
