/** An image's URLs in a real store: made by a worker under the fence, worth something only while its run has the node. */
import { randomUUID } from 'node:crypto';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { openStores } from '../support/stores';

let owner: Sql;
let api: Inventory;
let bmc: Inventory;
let boot: Inventory;
let apiSql: Sql;
let bootSql: Sql;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ owner, api, bmc, boot, apiSql, bootSql, close } = await openStores());
});
afterAll(() => close());

let digests = 0;
const imageOf = async (url: string | null = 'https://images.example.org/x.raw') => {
  digests += 1;
  const sha256 = digests.toString(16).padStart(64, '0');
  const name = `i-${randomUUID().slice(0, 8)}`;
  return (await api.images.create({ name, url, sha256, bytes: 2 ** 33, disk_format: 'raw', kind: 'whole-disk' }))!;
};
const heldNode = async () => {
  const [run, node_uuid] = [randomUUID() as RunUuid, randomUUID() as NodeUuid];
  await owner`insert into nodes (uuid, driver, provision_state, reservation, fence) values (${node_uuid}, 'redfish', 'deploying', ${run}, 3)`;
  await owner`
    insert into runs (id, node_uuid, fence, kind, verb, state, workflow_id, requester, input, rule_set)
    values (${run}, ${node_uuid}, 3, 'deploy', 'active', 'running', ${`w-${run}`}, '{}', '{}', 'test')`;
  return { run, node_uuid, fence: 3 };
};
const make = (lock: Awaited<ReturnType<typeof heldNode>>, image_uuid: string, url_hash: string) =>
  bmc.transaction((store) => store.imageCapabilities.make(lock, { image_uuid, url_hash }));

it('are served while their run has the node, all of them, and not after', async () => {
  const image = await imageOf();
  const lock = await heldNode();
  const hashes = [randomUUID(), randomUUID()];
  for (const hash of hashes) expect(await make(lock, image.uuid, hash)).toBe(true);
  const { name, url, sha256, bytes } = image;
  for (const hash of hashes)
    expect(await boot.imageCapabilities.served(hash)).toEqual({
      node_uuid: lock.node_uuid,
      run_id: lock.run,
      image: { name, url, bytes, algorithm: 'sha256', digest: sha256, glance_id: null },
    });
  expect(await boot.imageCapabilities.served('another')).toBeUndefined();
  expect(await api.images.user(image.uuid)).toBe(lock.node_uuid);
  expect(await boot.imageCapabilities.kept()).toContain(sha256);

  await owner`update nodes set fence = 4 where uuid = ${lock.node_uuid}`;
  for (const hash of hashes) expect(await boot.imageCapabilities.served(hash)).toBeUndefined();
  expect(await make(lock, image.uuid, randomUUID())).toBe(false);
  expect(await api.images.user(image.uuid)).toBeUndefined();
  expect(await boot.imageCapabilities.kept()).not.toContain(sha256);

  await owner`update runs set fence = 4 where id = ${lock.run}`;
  expect(await make({ ...lock, fence: 4 }, image.uuid, randomUUID())).toBe(true);
  // Those of the lock before are forgotten.
  const left = await owner`select fence from image_capabilities where node_uuid = ${lock.node_uuid}`;
  expect(left.map(({ fence }) => Number(fence))).toEqual([4]);
});

it('of Glance hold the image as the run froze it, and keep its bytes in the cache', async () => {
  const lock = await heldNode();
  const [hash, glance_id, hash_value] = [randomUUID(), randomUUID(), 'd'.repeat(128)];
  const of = { glance_id, hash_algo: 'sha512', hash_value, bytes: 2 ** 40 } as const;
  const give = (url_hash: string) =>
    bmc.transaction((store) => store.imageCapabilities.make(lock, { ...of, url_hash }));
  expect(await give(hash)).toBe(true);
  expect(await boot.imageCapabilities.served(hash)).toMatchObject({
    node_uuid: lock.node_uuid,
    image: { name: glance_id, url: null, bytes: 2 ** 40, algorithm: 'sha512', digest: hash_value, glance_id },
  });
  expect(await boot.imageCapabilities.kept()).toContain(`sha512-${hash_value}`);
  expect(await boot.imageCapabilities.kept(hash)).not.toContain(`sha512-${hash_value}`);
  const again = randomUUID();
  await give(again);
  expect(await boot.imageCapabilities.kept(hash)).toContain(`sha512-${hash_value}`);

  await owner`update nodes set reservation = null where uuid = ${lock.node_uuid}`;
  expect(await boot.imageCapabilities.served(hash)).toBeUndefined();
  expect(await boot.imageCapabilities.kept()).not.toContain(`sha512-${hash_value}`);
});

it('no cache forgets what can be fetched nowhere', async () => {
  const { sha256 } = await imageOf(null);
  expect(await boot.imageCapabilities.kept()).toContain(sha256);
});

it.each([
  [
    'writes no URL',
    `insert into image_capabilities (url_hash, node_uuid, run_id, fence, image_uuid) select 'x', uuid, uuid, 1, uuid from nodes`,
  ],
  ['writes no image', `update images set sha256 = 'x'`],
  ['removes none', 'delete from images'],
])('the boot service %s', async (_, statement) => {
  await expect(bootSql.unsafe(statement)).rejects.toThrow(/permission denied/);
});

it('the API does not read what URLs are compared with', async () => {
  await expect(apiSql`select url_hash from image_capabilities`).rejects.toThrow(/permission denied/);
});
