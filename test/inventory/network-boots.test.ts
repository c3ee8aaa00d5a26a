import { connect } from '../../src/inventory/database';
import { hashOf } from '../../src/inventory/secrets/boot-tokens';
import { type BootStores, heldNode, newCapability, openBootStores, ramdiskRecord } from '../support/boot-nodes';

let stores: BootStores;
let { database, owner, bmc, boot, bootSql } = {} as BootStores;

beforeAll(async () => {
  stores = await openBootStores();
  ({ database, owner, bmc, boot, bootSql } = stores);
});
afterAll(() => stores.close());

let macs = 0;
const newMac = () =>
  `52:54:00:00:${(macs >> 8).toString(16).padStart(2, '0')}:${(macs++ & 255).toString(16).padStart(2, '0')}`;

/** A node with a port, a run that holds it, and the URL that its run made. */
const made = async ({ arch = 'x86_64', network = true, pxe_enabled = true } = {}) => {
  const ramdisk = await ramdiskRecord(stores, {
    arch,
    kernel_sha256: 'b'.repeat(64),
    initrd_sha256: 'c'.repeat(64),
  });
  const lock = await heldNode(stores);
  const mac = newMac();
  await owner`insert into ports (node_uuid, address, pxe_enabled) values (${lock.node_uuid}, ${mac}, ${pxe_enabled})`;
  const { token, made: capability } = newCapability(lock.node_uuid, ramdisk.uuid, 'one/1');
  await bmc.transaction((store) =>
    store.bootCapabilities.make(lock, { ...capability, ...(network && { network_secret: token }) }),
  );
  return { lock, mac, token };
};
type Made = Awaited<ReturnType<typeof made>>;
const powerOn = ({ lock }: Made) =>
  bmc.transaction(async (store) => {
    await store.ramdiskBoots.expect(lock);
    await store.bootCapabilities.meet(lock);
  });
const ask = (mac: string, peer = '192.0.2.7', arch?: string) =>
  boot.networkBoots.give({ mac, peer, conflict: 'two of them', ...(arch !== undefined && { arch }) });
const secretOf = async ({ lock }: Made) =>
  (
    await owner<
      { network_secret: string | null }[]
    >`select network_secret from boot_capabilities where node_uuid = ${lock.node_uuid}`
  )[0];

it('gives the secret of a boot once, after power-on, and keeps none', async () => {
  const one = await made();
  expect(await ask(one.mac)).toMatchObject({ is: 'early', node_uuid: one.lock.node_uuid });
  await powerOn(one);
  expect(await ask(one.mac, '192.0.2.7', 'x86_64')).toEqual({
    is: 'given',
    node_uuid: one.lock.node_uuid,
    run_id: one.lock.run,
    arch: 'x86_64',
    secret: one.token,
  });
  expect(await secretOf(one)).toEqual({ network_secret: null });
  expect(await ask(one.mac)).toMatchObject({ is: 'again' });
  expect(await boot.bootCapabilities.served(hashOf(one.token))).toMatchObject({
    network: true,
    ramdisk: { kernel_sha256: 'b'.repeat(64), initrd_sha256: 'c'.repeat(64) },
  });
});

it('of many that ask at once, one is given it', async () => {
  const one = await made();
  await powerOn(one);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(one.mac, `192.0.2.${at + 10}`)));
  expect(answers.filter(({ is }) => is === 'given')).toHaveLength(1);
  expect(answers.filter(({ is }) => is === 'contested')).toHaveLength(1);
  expect(answers.filter(({ is }) => is === 'taken')).toHaveLength(10);
});

it('a second machine with the MAC address ends the run: its node goes into maintenance with the reason', async () => {
  const one = await made();
  await powerOn(one);
  await ask(one.mac, '192.0.2.66');
  expect(await ask(one.mac, '192.0.2.7')).toMatchObject({ is: 'contested' });
  expect(await bmc.ramdiskBoots.contested({ ...one.lock })).toBe(true);
  const [node] =
    await owner`select maintenance, maintenance_reason, fault from nodes where uuid = ${one.lock.node_uuid}`;
  expect(node).toEqual({ maintenance: true, maintenance_reason: 'two of them', fault: 'ramdisk conflict' });
  expect(await owner`select kind, run_id, data from events where node_uuid = ${one.lock.node_uuid}`).toEqual([
    { kind: 'node.ramdisk_conflict', run_id: one.lock.run, data: { reason: 'two of them' } },
  ]);
  expect(await ask(one.mac, '192.0.2.8')).toMatchObject({ is: 'taken' });
});

it('a machine of another architecture gets nothing, and takes nothing from the right one', async () => {
  const one = await made({ arch: 'aarch64' });
  await powerOn(one);
  expect(await ask(one.mac, '192.0.2.7', 'x86_64')).toMatchObject({ is: 'architecture', arch: 'aarch64' });
  expect(await ask(one.mac, '192.0.2.7', 'aarch64')).toMatchObject({ is: 'given' });
});

it.each([
  ['a MAC address of no port', async () => '02:00:00:00:00:00'],
  ['a port that does not boot', async () => (await made({ pxe_enabled: false })).mac],
  ['a node that boots by its BMC', async () => (await made({ network: false })).mac],
  [
    'a node whose run has ended',
    async () => {
      const one = await made();
      await powerOn(one);
      await owner`update nodes set reservation = null where uuid = ${one.lock.node_uuid}`;
      return one.mac;
    },
  ],
  [
    'a node under a higher fence',
    async () => {
      const one = await made();
      await powerOn(one);
      await owner`update nodes set fence = 4 where uuid = ${one.lock.node_uuid}`;
      return one.mac;
    },
  ],
  [
    'a node that was powered off',
    async () => {
      const one = await made();
      await powerOn(one);
      await bmc.bootCapabilities.end(one.lock.node_uuid);
      return one.mac;
    },
  ],
])('%s boots nothing', async (_, macOf) => expect(await ask(await macOf())).toEqual({ is: 'none' }));

it('machines of DHCP are the ports that boot, with what their firmware shows', async () => {
  const [one, other, none] = [await made(), await made(), await made({ pxe_enabled: false })];
  await owner`update nodes set secure_boot = true where uuid = ${other.lock.node_uuid}`;
  const machines = await boot.networkBoots.machines();
  expect(machines).toContainEqual({ address: one.mac, secure_boot: false });
  expect(machines).toContainEqual({ address: other.mac, secure_boot: true });
  expect(machines.map(({ address }) => address)).not.toContain(none.mac);
});

it.each([
  'select network_secret from boot_capabilities',
  'select asked_by from boot_capabilities',
  'select * from ports',
  'update nodes set maintenance = true',
])('the boot service may not %s', (statement) =>
  expect(bootSql.unsafe(statement)).rejects.toThrow(/permission denied/),
);
it('nor does any other role ask in the place of a machine', async () => {
  for (const url of [database.apiUrl, database.bmcUrl]) {
    const sql = connect(url, { max: 1 });
    await expect(sql`select * from give_network_boot('x', 'y', null, 'z')`).rejects.toThrow(/permission denied/);
    await sql.end();
  }
});
