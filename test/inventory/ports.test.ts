/** The queries of ports against a real Postgres, with the rights of the API's role. */
import { brokenUnique, connect, type Sql } from '../../src/inventory/database';
import { ports } from '../../src/inventory/nodes/ports';
import type { NodeUuid } from '../../src/model/ids';
import { always, never, or, type Predicate } from '../../src/model/predicates';
import type { Port } from '../../src/model/resources/ports';
import { listed } from '../support/listed';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.apiUrl, { max: 4 });
});
afterAll(async () => {
  await sql.end({ timeout: 5 });
  await database.drop();
});
beforeEach(() => sql`delete from nodes`);

const node = async (name: string, more: Record<string, unknown> = {}): Promise<NodeUuid> => {
  const [row] = await sql<
    { uuid: NodeUuid }[]
  >`insert into nodes ${sql({ name, driver: 'redfish', ...more })} returning uuid`;
  return row!.uuid;
};

const port = (node_uuid: NodeUuid, address: string, more: Partial<Port> = {}): Partial<Port> => ({
  node_uuid,
  address,
  name: null,
  extra: {},
  local_link_connection: {},
  pxe_enabled: true,
  portgroup_uuid: null,
  physical_network: null,
  is_smartnic: false,
  description: null,
  vendor: null,
  category: null,
  available_for_dynamic_portgroup: true,
  ...more,
});

const asked = { limit: 10, sort_key: 'id', sort_dir: 'asc' } as const;
const all = { visible: always, home: always, filter: always };
const macs = (rows: readonly { address?: string }[]) => rows.map((row) => row.address);

it('a port is found by uuid and by name, together with what is to know of its node', async () => {
  const uuid = await node('n1', { owner: 'p1', lessee: 'p2', provision_state: 'active', maintenance: true });
  const stored = await ports(sql).insert(port(uuid, '52:54:00:00:00:01', { name: 'eth0', extra: { a: 1 } }));
  const found = await ports(sql).find('eth0');
  expect(found?.row).toEqual(stored);
  expect(found?.node).toEqual({
    uuid,
    name: 'n1',
    owner: 'p1',
    lessee: 'p2',
    provision_state: 'active',
    power_state: null,
    instance_uuid: null,
    maintenance: true,
    reservation: null,
  });
  expect((await ports(sql).find(stored.uuid))?.row).toEqual(stored);
  expect(await ports(sql).find('eth1')).toBeUndefined();
});

it('an address or a name that exists is refused by the store', async () => {
  const uuid = await node('n1');
  await ports(sql).insert(port(uuid, '52:54:00:00:00:01', { name: 'eth0' }));
  const broken = (again: Partial<Port>) =>
    ports(sql)
      .insert(again)
      .catch((thrown: unknown) => brokenUnique(thrown));
  expect(await broken(port(uuid, '52:54:00:00:00:01'))).toBe('ports_address_key');
  expect(await broken(port(uuid, '52:54:00:00:00:02', { name: 'eth0' }))).toBe('ports_name_key');
});

it('a list holds the ports of nodes that are visible, by owner or lessee', async () => {
  const [mine, leased, others] = [
    await node('n1', { owner: 'p1' }),
    await node('n2', { lessee: 'p1' }),
    await node('n3', { owner: 'p2' }),
  ];
  await ports(sql).insert(port(mine, '52:54:00:00:00:01'));
  await ports(sql).insert(port(leased, '52:54:00:00:00:02', { description: 'The uplink' }));
  await ports(sql).insert(port(others, '52:54:00:00:00:03', { description: 'The uplink' }));
  const visible = or({ is: 'equals', column: 'owner', value: 'p1' }, { is: 'equals', column: 'lessee', value: 'p1' });
  const list = (selection: Partial<typeof all>) =>
    listed(ports(sql), ['uuid', 'address'], { ...all, ...selection }, asked);
  expect(macs(await list({ visible }))).toEqual(['52:54:00:00:00:01', '52:54:00:00:00:02']);
  expect(macs(await list({ visible: never }))).toEqual([]);
  expect(macs(await list({ visible, home: { is: 'equals', column: 'name', value: 'n3' } }))).toEqual([]);
  expect(macs(await list({ visible, filter: { is: 'contains', column: 'description', value: 'uplink' } }))).toEqual([
    '52:54:00:00:00:02',
  ]);
  expect(macs(await list({ filter: { is: 'equals', column: 'address', value: '52:54:00:00:00:03' } }))).toEqual([
    '52:54:00:00:00:03',
  ]);
});

it('pages of ports lose and repeat nothing', async () => {
  const uuid = await node('n1');
  for (const [index, vendor] of ['b', null, 'a', 'b'].entries())
    await ports(sql).insert(port(uuid, `52:54:00:00:00:0${index}`, { vendor }));
  const seen: (string | undefined)[] = [];
  let marker: string | undefined;
  for (;;) {
    const page = { limit: 2, sort_key: 'vendor', sort_dir: 'asc' as const, ...(marker && { marker }) };
    const rows = await listed(ports(sql), ['uuid', 'address'], all, page);
    seen.push(...macs(rows));
    if (rows.length < 2) break;
    marker = rows.at(-1)!.uuid;
  }
  expect(seen).toEqual(['52:54:00:00:00:02', '52:54:00:00:00:00', '52:54:00:00:00:03', '52:54:00:00:00:01']);
});

it('a marker whose node is hidden is no marker', async () => {
  const hidden = await ports(sql).insert(port(await node('n1', { owner: 'p2' }), '52:54:00:00:00:01'));
  const page = { limit: 1, sort_key: 'id', sort_dir: 'asc', marker: hidden.uuid } as const;
  const visible: Predicate = { is: 'equals', column: 'owner', value: 'p1' };
  await expect(listed(ports(sql), ['uuid'], { ...all, visible }, page)).rejects.toMatchObject({
    code: 'MarkerNotFound',
  });
  expect(await listed(ports(sql), ['uuid'], all, page)).toEqual([]);
});

it('a port is changed and removed by its uuid', async () => {
  const uuid = await node('n1');
  const stored = await ports(sql).insert(port(uuid, '52:54:00:00:00:01'));
  const changed = await ports(sql).update(stored.uuid, port(uuid, '52:54:00:00:00:02', { pxe_enabled: false }));
  expect(changed).toMatchObject({ uuid: stored.uuid, address: '52:54:00:00:00:02', pxe_enabled: false });
  expect(changed.updated_at).toBeInstanceOf(Date);
  await ports(sql).delete(stored.uuid);
  expect(await ports(sql).find(stored.uuid)).toBeUndefined();
});
