/** The act that writes an image record: its URL, made anew for each attempt, and what the record says of the image. */
import { randomUUID } from 'node:crypto';
import { withImage } from '../../src/activities/image-record';
import type { BmcNode } from '../../src/bmc/contract';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import { hashOf } from '../../src/inventory/secrets/boot-tokens';
import type { NodeUuid } from '../../src/model/ids';
import { heldAct } from '../support/held-act';
import { openStores } from '../support/stores';
import { testVault as vault } from '../support/vault';

let owner: Sql;
let api: Inventory;
let bmc: Inventory;
let boot: Inventory;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ owner, api, bmc, boot, close } = await openStores());
});
afterAll(() => close());

const sha256 = 'c'.repeat(64);
const settings = {
  url: 'http://192.0.2.1:6386',
  imagesUrl: 'http://198.51.100.1:6386',
  apiUrl: 'http://198.51.100.1:6387',
  sealer: vault,
  group: '',
};
const image = async (kind: 'whole-disk' | 'partition' = 'whole-disk') => {
  const name = `i-${randomUUID().slice(0, 8)}`;
  await api.images.create({ name, url: 'https://images.example.org/x', sha256, bytes: 7, disk_format: 'qcow2', kind });
  return name;
};
/** An attempt of the act on a node whose instance is this. */
const writing = async (
  instance_info: Record<string, unknown>,
  served = true,
  act = 'agent_write_image',
  args: Record<string, unknown> = {},
) => {
  const held = await heldAct({ api, owner, vault });
  const input = { ...held, step: { ...held.step, args }, act } as unknown as Parameters<typeof withImage>[0];
  const node = { uuid: held.lock.node_uuid as NodeUuid, driver_info: {}, instance_info } as unknown as BmcNode;
  const attempt = () => withImage(input, node, { inventory: bmc, ...(served && { boot: settings }) });
  return { attempt, held };
};

test('the ramdisk gets a URL of its own network, and the record’s digest, format and kind', async () => {
  const name = await image();
  const { attempt, held } = await writing({
    image_source: `image:${name}`,
    image_checksum: sha256,
    image_url: 'http://192.0.2.66/x',
  });
  const { node, secrets } = await attempt();
  const [token] = secrets;
  expect(node.instance_info).toEqual({
    image_source: `image:${name}`,
    image_url: `http://198.51.100.1:6386/boot/${token}/image`,
    image_os_hash_algo: 'sha256',
    image_os_hash_value: sha256,
    image_disk_format: 'qcow2',
    image_type: 'whole-disk',
  });
  expect(node.served_image).toEqual({ name, url: `http://192.0.2.1:6386/boot/${token}/image` });
  expect(await boot.imageCapabilities.served(hashOf(token!))).toMatchObject({
    node_uuid: held.lock.node_uuid,
    image: { name, digest: sha256, bytes: 7 },
  });
});

test('a repeat gets another URL, and the one that was sent before stays good', async () => {
  const { attempt } = await writing({ image_source: `image:${await image('partition')}` });
  const tokens = [(await attempt()).secrets[0]!, (await attempt()).secrets[0]!];
  expect(tokens[0]).not.toBe(tokens[1]);
  for (const token of tokens) expect(await boot.imageCapabilities.served(hashOf(token))).toBeDefined();
  expect((await attempt()).node.instance_info?.image_type).toBe('partition');
});

test.each([
  ['another act', { image_source: 'image:none' }, 'agent_step'],
  ['a URL', { image_source: 'https://images.example.org/x' }, 'agent_write_image'],
])('%s is left as it is', async (_, info, act) => {
  const { attempt } = await writing(info, false, act);
  const { node, secrets } = await attempt();
  expect([node.instance_info, node.served_image, secrets]).toEqual([info, undefined, []]);
});

test('what cannot be served is refused before a command leaves', async () => {
  const name = await image();
  const refusal = async (info: Record<string, unknown>, served = true) =>
    (await writing(info, served)).attempt().then(
      () => 'accepted',
      (error: Error & { code: string }) => `${error.code}: ${error.message}`,
    );
  expect(await refusal({ image_source: 'image:none' })).toMatch(/^ImageNotFound: Image none/);
  expect(await refusal({ image_source: `image:${name}` }, false)).toMatch(/^ImageNotServed: .*TEMPER_BOOT_URL/);
  expect(await refusal({ image_source: `image:${name}`, image_checksum: 'd'.repeat(64) })).toMatch(
    /^ImageNotServed: .*not the SHA-256 digest/,
  );
});

test('a worker that has lost the node makes no URL', async () => {
  const { attempt, held } = await writing({ image_source: `image:${await image()}` });
  await owner`update nodes set fence = fence + 1 where uuid = ${held.lock.node_uuid}`;
  await expect(attempt()).rejects.toMatchObject({ code: 'StaleOperation' });
  expect(await owner`select 1 from image_capabilities where node_uuid = ${held.lock.node_uuid}`).toHaveLength(0);
});

describe('an image of Glance', () => {
  const id = '0f0f0f0f-1111-4222-8333-444444444444';
  const planned = {
    id,
    size: 7,
    os_hash_algo: 'sha512',
    os_hash_value: 'e'.repeat(128),
    disk_format: 'raw',
    image_type: 'whole-disk',
  };
  const write = (info: Record<string, unknown>, args: Record<string, unknown> = { glance_image: planned }) =>
    writing(info, true, 'agent_write_image', args);

  test('is written by the facts that the plan froze, whatever instance_info says of it, and no token leaves', async () => {
    const source = `glance://${id}`;
    const given = { image_source: source, image_checksum: 'd'.repeat(32), image_os_hash_value: 'f'.repeat(64) };
    const { attempt } = await write({ ...given, image_url: 'http://192.0.2.66/x', image_disk_format: 'qcow2' });
    const { node, secrets } = await attempt();
    const [token] = secrets;
    expect(node.instance_info).toEqual({
      image_source: source,
      image_url: `http://198.51.100.1:6386/boot/${token}/image`,
      image_os_hash_algo: 'sha512',
      image_os_hash_value: planned.os_hash_value,
      image_disk_format: 'raw',
      image_type: 'whole-disk',
    });
    expect(node.served_image).toEqual({ name: id, url: `http://192.0.2.1:6386/boot/${token}/image` });
    expect(await boot.imageCapabilities.served(hashOf(token!))).toMatchObject({
      image: { glance_id: id, algorithm: 'sha512', digest: planned.os_hash_value, bytes: 7 },
    });
  });

  test('is a partition if instance_info says so, as with Ironic', async () => {
    const { attempt } = await write({ image_source: id, image_type: 'partition' });
    expect((await attempt()).node.instance_info?.image_type).toBe('partition');
  });

  test.each([
    ['another image', id.replace('0f', '1f'), { glance_image: planned }],
    ['an image that no plan has frozen', id, {}],
    ['a source without an id', 'glance://x', { glance_image: planned }],
  ])('is refused for %s', async (_, image_source, args) => {
    const { attempt } = await write({ image_source }, args);
    await expect(attempt()).rejects.toMatchObject({
      code: 'InvalidImage',
      message: expect.stringMatching(/^InvalidImage: .*accepted with the run/),
    });
  });

  test('is refused by a worker that reaches no boot service', async () => {
    const { attempt } = await writing({ image_source: id }, false, 'agent_write_image', { glance_image: planned });
    await expect(attempt()).rejects.toMatchObject({ code: 'ImageNotServed' });
  });
});
