/** A boot's URL in a real store: made by a worker under the fence, worth something only while its run has the node. */
import { randomUUID } from 'node:crypto';
import { keepOutcome } from '../../src/activities/act-outcome';
import { createInventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { agentTokenOf, hashOf, inspectionTokenOf } from '../../src/inventory/secrets/boot-tokens';
import {
  type BootStores,
  heldNode,
  imageAreas,
  newCapability,
  openBootStores,
  ramdiskRecord,
} from '../support/boot-nodes';

let stores: BootStores;
let { database, owner, api, bmc, boot, bootSql } = {} as BootStores;

beforeAll(async () => {
  stores = await openBootStores();
  ({ database, owner, api, bmc, boot, bootSql } = stores);
});
afterAll(() => stores.close());

it('is served while its run has the node, and not after', async () => {
  const ramdisk = await ramdiskRecord(stores);
  const lock = await heldNode(stores);
  const { token, made } = newCapability(lock.node_uuid, ramdisk.uuid, 'one/1');
  expect(await bmc.transaction((store) => store.bootCapabilities.make(lock, made))).toBe(true);
  expect(await boot.bootCapabilities.served(hashOf(token))).toEqual({
    node_uuid: lock.node_uuid,
    run_id: lock.run,
    arguments: 'quiet',
    inspection_url: null,
    network_data: null,
    network: false,
    ramdisk: { iso_sha256: 'a'.repeat(64), iso_bytes: 2_048, ...imageAreas, kernel_sha256: null, initrd_sha256: null },
  });
  expect(await boot.bootCapabilities.served(hashOf('another'))).toBeUndefined();
  expect(await bmc.bootCapabilities.made(lock, 'one/1')).toBe(made.url.id);
  expect(await bmc.bootCapabilities.made(lock, 'one/2')).toBeUndefined();
  expect(await bmc.bootCapabilities.made({ ...lock, fence: 4 }, 'one/1')).toBeUndefined();

  await owner`update nodes set fence = 4 where uuid = ${lock.node_uuid}`;
  expect(await boot.bootCapabilities.served(hashOf(token))).toBeUndefined();
  await owner`update nodes set fence = 3, reservation = null where uuid = ${lock.node_uuid}`;
  expect(await boot.bootCapabilities.served(hashOf(token))).toBeUndefined();
});

it('takes the place of the one before it, and is made by no worker that has lost the node', async () => {
  const ramdisk = await ramdiskRecord(stores);
  const lock = await heldNode(stores);
  const first = newCapability(lock.node_uuid, ramdisk.uuid, 'one/1');
  const second = newCapability(lock.node_uuid, ramdisk.uuid, 'one/2');
  await bmc.transaction((store) => store.bootCapabilities.make(lock, first.made));
  await bmc.transaction((store) => store.bootCapabilities.make(lock, second.made));
  expect(await boot.bootCapabilities.served(hashOf(first.token))).toBeUndefined();
  expect(await boot.bootCapabilities.served(hashOf(second.token))).toBeDefined();
  const late = newCapability(lock.node_uuid, ramdisk.uuid, 'one/3');
  expect(await bmc.transaction((store) => store.bootCapabilities.make({ ...lock, fence: 2 }, late.made))).toBe(false);
  expect(await boot.bootCapabilities.served(hashOf(second.token))).toBeDefined();
  await bmc.bootCapabilities.end(lock.node_uuid);
  expect(await boot.bootCapabilities.served(hashOf(second.token))).toBeUndefined();
});

it('puts the ramdisk on record when its node is powered on, so that a lookup has no token to hand out', async () => {
  const ramdisk = await ramdiskRecord(stores);
  const lock = await heldNode(stores);
  const { token, made } = newCapability(lock.node_uuid, ramdisk.uuid, 'one/1');
  await bmc.transaction((store) => store.bootCapabilities.make(lock, made));
  expect(await api.ramdiskBoots.brings(lock.node_uuid)).toBeUndefined();
  await bmc.transaction(async (store) => {
    await store.ramdiskBoots.expect(lock);
    await store.bootCapabilities.meet(lock);
  });
  expect(await api.ramdiskBoots.brings(lock.node_uuid)).toBe(hashOf(inspectionTokenOf(token)));
  expect(await api.agents.find(lock.node_uuid)).toMatchObject({ token_hash: hashOf(agentTokenOf(token)), url: null });
  expect(await api.agents.meet(lock.node_uuid, 'x', { ...made.token, id: randomUUID() })).toBe(false);
  // A repeat of the act leaves what the ramdisk has said since.
  await owner`update agents set url = 'https://192.0.2.7:9999' where node_uuid = ${lock.node_uuid}`;
  await bmc.transaction(async (store) => {
    await store.ramdiskBoots.expect(lock);
    await store.bootCapabilities.meet(lock);
  });
  expect(await api.agents.find(lock.node_uuid)).toMatchObject({ url: 'https://192.0.2.7:9999' });
  const kept = [made.url.id, made.token.id];
  const control = createInventory(connect(database.controlUrl, { max: 1 }));
  await control.secrets.sweep();
  await control.close();
  expect(await api.secrets.count(kept)).toBe(2);
});

it('expects a boot without a URL as before: its ramdisk looks itself up', async () => {
  const lock = await heldNode(stores);
  await bmc.transaction(async (store) => {
    await store.ramdiskBoots.expect(lock);
    await store.bootCapabilities.meet(lock);
  });
  expect(await api.ramdiskBoots.brings(lock.node_uuid)).toBeNull();
  expect(await api.agents.find(lock.node_uuid)).toBeUndefined();
});

it.each([
  ['that brought its token', true],
  ['that was given its token at its lookup', false],
])('hands out nothing to a lookup at the moment at which the power of a ramdisk ends %s', async (_, brings) => {
  const lock = { ...(await heldNode(stores)), token: randomUUID() };
  await owner`update runs set act_token = ${lock.token} where id = ${lock.run}`;
  const { made } = newCapability(lock.node_uuid, (await ramdiskRecord(stores)).uuid, 'one/1');
  await bmc.transaction(async (store) => {
    await store.bootCapabilities.make(lock, made);
    await store.ramdiskBoots.expect(lock);
    if (brings) await store.bootCapabilities.meet(lock);
  });
  const asks = () => {
    const token = newCapability(lock.node_uuid, made.ramdisk_uuid, 'x').made;
    return api.agents.meet(lock.node_uuid, token.token_hash, token.token);
  };
  expect(await asks()).toBe(!brings);

  let answered = false;
  const waiting = async (many: number): Promise<void> => {
    for (let waits = 0; waits < many && !answered; )
      waits = (
        await owner`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      ).length;
  };
  let over: Promise<void> = Promise.resolve();
  let asked: Promise<boolean> = Promise.resolve(true);
  const holder = connect(database.ownerUrl, { max: 1 });
  await holder.begin(async (sql) => {
    // The end of the boot stops before its last statement, and a lookup comes.
    await sql`select 1 from boot_capabilities where node_uuid = ${lock.node_uuid} for update`;
    const deps = { inventory: bmc } as Parameters<typeof keepOutcome>[3];
    over = keepOutcome(lock, { is: 'done' }, { ends: true, boots: false, at: 'end' }, deps);
    await waiting(1);
    asked = asks().finally(() => {
      answered = true;
    });
    await waiting(2);
  });
  await over;
  await holder.end();
  expect(await asked).toBe(false);
  expect(await api.agents.find(lock.node_uuid)).toBeUndefined();
});

it('keeps a ramdisk from being removed while a run boots from it', async () => {
  const ramdisk = await ramdiskRecord(stores);
  const lock = await heldNode(stores);
  await bmc.transaction((store) =>
    store.bootCapabilities.make(lock, newCapability(lock.node_uuid, ramdisk.uuid, 'a').made),
  );
  expect(await api.ramdisks.user(ramdisk.uuid)).toBe(lock.node_uuid);
  await owner`update nodes set reservation = null where uuid = ${lock.node_uuid}`;
  expect(await api.ramdisks.user(ramdisk.uuid)).toBeUndefined();
  expect(await api.ramdisks.delete(ramdisk.uuid)).toBe(true);
});

it.each([
  ['the nodes', 'select driver_info from nodes'],
  ['the sealed secrets', 'select id from secrets'],
  ['the ids of sealed URLs', 'select url_secret from boot_capabilities'],
  ['the ramdisks on record', 'select token_hash from agents'],
  ['runs', 'select input from runs'],
  ['and writes no URL', `update boot_capabilities set arguments = 'x'`],
  ['and writes no ramdisk', `update ramdisks set args = 'x'`],
])('the boot service does not read %s', async (_, statement) => {
  await expect(bootSql.unsafe(statement)).rejects.toThrow(/permission denied/);
});

it('the API reads of URLs neither what they are compared with nor what is sent', async () => {
  const sql = connect(database.apiUrl, { max: 1 });
  for (const column of ['url_hash', 'arguments', 'token_hash', 'inspection_hash'])
    await expect(sql.unsafe(`select ${column} from boot_capabilities`)).rejects.toThrow(/permission denied/);
  await sql.end();
});
