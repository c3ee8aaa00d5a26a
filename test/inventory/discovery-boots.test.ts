/** Which machines the boot service starts as such that no node stands for. */
import { connect } from '../../src/inventory/database';
import { type BootStores, heldNode, openBootStores, ramdiskRecord } from '../support/boot-nodes';

let stores: BootStores;
let { database, owner, boot, bootSql } = {} as BootStores;
let ramdisk: Awaited<ReturnType<typeof ramdiskRecord>>;

beforeAll(async () => {
  stores = await openBootStores();
  ({ database, owner, boot, bootSql } = stores);
  ramdisk = await ramdiskRecord(stores, { kernel_sha256: 'b'.repeat(64), initrd_sha256: 'c'.repeat(64) });
});
afterAll(() => stores.close());

const booted = async (mac: string) =>
  (await boot.discoveryBoots.ramdiskFor(mac, ramdisk!.name))?.uuid === ramdisk!.uuid;
const reported = (key: string, macs: string[], state: string) => owner`
  insert into discovered_machines ${owner({ key, macs, state, sender: '192.0.2.9', inventory: '{}', revision: key })}`;

it('a MAC address of no node has the named ramdisk, with its files and arguments', async () => {
  expect(await boot.discoveryBoots.ramdiskFor('52:54:00:66:00:01', ramdisk!.name)).toEqual({
    uuid: ramdisk!.uuid,
    arch: 'x86_64',
    args: '',
    kernel_sha256: 'b'.repeat(64),
    initrd_sha256: 'c'.repeat(64),
  });
});

it('a node’s machine has none: not by a port, whether it boots or not, and not by a card of its inventory', async () => {
  const { node_uuid } = await heldNode(stores);
  await owner`insert into ports (node_uuid, address, pxe_enabled) values
    (${node_uuid}, '52:54:00:66:00:02', true), (${node_uuid}, '52:54:00:66:00:03', false)`;
  const inventory = {
    interfaces: [{ name: 'eth0', mac_address: '52:54:00:66:00:04' }, { mac_address: '52:54:00:66:00:AB' }],
  };
  await owner`insert into node_details (node_uuid, inventory) values (${node_uuid}, ${owner.json(inventory)})`;
  for (const end of ['02', '03', '04', 'ab'])
    expect([end, await booted(`52:54:00:66:00:${end}`)]).toEqual([end, false]);
  await owner`delete from nodes where uuid = ${node_uuid}`;
  for (const end of ['02', '03', '04', 'ab']) expect([end, await booted(`52:54:00:66:00:${end}`)]).toEqual([end, true]);
});

it('a machine that waits for an operator may report itself again, and a refused one is not booted', async () => {
  const mac = '52:54:00:66:00:05';
  await reported('one', [mac, '52:54:00:66:00:06'], 'waiting');
  expect(await booted(mac)).toBe(true);
  await reported('two', [mac], 'refused');
  expect(await booted(mac)).toBe(true);
  await owner`update discovered_machines set state = 'refused' where key = 'one'`;
  expect(await booted(mac)).toBe(false);
});

it('a record without a kernel, and one of another name, boot no machine', async () => {
  const image = await ramdiskRecord(stores);
  expect(await boot.discoveryBoots.ramdiskFor('52:54:00:66:00:01', image!.name)).toBeUndefined();
  expect(await boot.discoveryBoots.ramdiskFor('52:54:00:66:00:01', 'none')).toBeUndefined();
  expect(await boot.discoveryBoots.ramdisk(image!.name)).toBeUndefined();
});

it('files are those of the named ramdisk alone', async () => {
  const another = await ramdiskRecord(stores, { kernel_sha256: 'd'.repeat(64), initrd_sha256: 'e'.repeat(64) });
  expect(await boot.discoveryBoots.ramdisk(ramdisk!.name, ramdisk!.uuid)).toMatchObject({ uuid: ramdisk!.uuid });
  expect(await boot.discoveryBoots.ramdisk(ramdisk!.name, another!.uuid)).toBeUndefined();
});

it('the boot service learns no more than that: neither inventories nor reports, and no other role asks', async () => {
  await expect(bootSql`select 1 from node_details`).rejects.toThrow(/permission denied/);
  await expect(bootSql`select 1 from discovered_machines`).rejects.toThrow(/permission denied/);
  const bmcSql = connect(database.bmcUrl, { max: 1 });
  await expect(bmcSql`select is_undiscovered('52:54:00:66:00:01')`).rejects.toThrow(/permission denied/);
  await bmcSql.end();
});

it('the inventories of a large fleet are asked by an index', async () => {
  const plan = await owner.begin(async (sql) => {
    await sql`set local enable_seqscan = off`;
    return sql<{ 'QUERY PLAN': string }[]>`explain select from node_details d
      where lower(jsonb_path_query_array(d.inventory, '$.interfaces[*].mac_address')::text)::jsonb @> to_jsonb(array['a'])`;
  });
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('node_details_by_card');
});
