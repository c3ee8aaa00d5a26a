/** Image records over the API, and the deployments that name them. */
import { randomUUID } from 'node:crypto';
import { faultOf } from '../support/api';
import { type Provisioning, startProvisioning } from '../support/provisioning';

let at: Provisioning;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at?.api.close());

const path = '/temper/v1/images';
const sha256 = 'a'.repeat(64);
const url = 'https://images.example.org/debian-12.raw';
const wanted = { name: 'debian', url, sha256, bytes: 2 ** 33, disk_format: 'raw' };
const post = (body: object) => at.api.as('operator', 'POST', path, { body });

test('an image is recorded, shown and removed, each with an audit row', async () => {
  const made = await post(wanted);
  expect(made.status).toBe(201);
  expect(made.headers.get('location')).toBe(`${at.api.url}${path}/debian`);
  expect(made.body).toMatchObject({ ...wanted, kind: 'whole-disk' });
  expect((await at.api.as('system-reader', 'GET', `${path}/debian`)).body).toEqual(made.body);
  expect((await at.api.as('system-reader', 'GET', path)).body.images).toEqual([made.body]);
  expect((await post(wanted)).status).toBe(409);
  expect((await at.api.as('operator', 'DELETE', `${path}/debian`)).status).toBe(204);
  expect((await at.api.as('operator', 'GET', `${path}/debian`)).status).toBe(404);
  expect((await at.api.as('operator', 'DELETE', `${path}/debian`)).status).toBe(404);
  const rows = await at.api.sql<{ action: string }[]>`
    select action from audit where resource_id = ${made.body.uuid} order by seq`;
  expect(rows.map(({ action }) => action)).toEqual(['image.create', 'image.delete']);
});

test.each([
  ['a path for a digest', { sha256: '../../etc/passwd' }, /sha256: must be a SHA-256 digest/],
  ['a path in its name', { name: '../x' }, /name: must begin with a letter/],
  ['no bytes', { bytes: 0 }, /bytes/],
  ['a format that no ramdisk writes', { disk_format: 'vmdk' }, /disk_format/],
  ['a file of this host for a URL', { url: 'file:///etc/shadow' }, /http or https/],
  [
    'a password in its URL',
    { url: 'https://me:hunter2@images.example.org/x' },
    /url: must hold no user and no password/,
  ],
])('%s is refused', async (_, change, says) => {
  const answer = await post({ ...wanted, name: 'wrong', ...change });
  expect(answer.status).toBe(400);
  expect(faultOf(answer)).toMatch(says);
});

test('an origin that the operator does not allow is refused', async () => {
  const before = at.api.rooms.settings.imageOrigins;
  Object.assign(at.api.rooms.settings, { imageOrigins: ['https://other.example.org'] });
  const answer = await post({ ...wanted, name: 'elsewhere' });
  Object.assign(at.api.rooms.settings, { imageOrigins: before });
  expect([answer.status, faultOf(answer)]).toEqual([400, expect.stringContaining('TEMPER_IMAGE_ORIGINS')]);
});

describe('a deployment', () => {
  beforeAll(async () => {
    await post({ ...wanted, name: 'known' });
  });
  const deploys = async (instance_info: Record<string, unknown>) => {
    const driver_info = { redfish_address: 'https://192.0.2.7', deploy_iso: 'https://images.example.org/x.iso' };
    await at.fresh('available', { driver_info, instance_info });
    return at.ask({ target: 'active' });
  };

  test.each([
    ['by its name alone', {}],
    ['with the digest that it has', { image_checksum: sha256 }],
    ['with that digest as a hash', { image_os_hash_algo: 'sha256', image_os_hash_value: sha256 }],
  ])('names a record %s, whatever origins images may come from', async (_, more) => {
    const before = at.api.rooms.settings.imageOrigins;
    Object.assign(at.api.rooms.settings, { imageOrigins: ['https://images.example.org'] });
    const { status } = await deploys({ image_source: 'image:known', ...more });
    Object.assign(at.api.rooms.settings, { imageOrigins: before });
    expect(status).toBe(202);
  });

  test.each([
    ['a record that is not there', { image_source: 'image:none' }, /names image none, which is not on record/],
    [
      'another digest',
      { image_source: 'image:known', image_checksum: 'b'.repeat(64) },
      /image_checksum is not the SHA-256/,
    ],
    [
      'a digest of another kind',
      { image_source: 'image:known', image_os_hash_algo: 'sha512', image_os_hash_value: 'b'.repeat(128) },
      /image_os_hash_value is not the SHA-256/,
    ],
  ])('that names %s is refused before a run begins', async (_, info, says) => {
    const answer = await deploys(info);
    expect([answer.status, faultOf(answer)]).toEqual([400, expect.stringMatching(says)]);
    expect(at.api.runs.started).toEqual([]);
  });
});

test('one that a run writes stays until that run has ended', async () => {
  await post({ ...wanted, name: 'used' });
  const [node, run] = [randomUUID(), randomUUID()];
  await at.api
    .sql`insert into nodes (uuid, driver, provision_state, reservation, fence) values (${node}, 'redfish', 'deploying', ${run}, 1)`;
  await at.api.sql`
    insert into image_capabilities (url_hash, node_uuid, run_id, fence, image_uuid)
    select ${randomUUID()}, ${node}, ${run}, 1, uuid from images where name = 'used'`;
  const refused = await at.api.as('operator', 'DELETE', `${path}/used`);
  expect([refused.status, faultOf(refused)]).toEqual([409, expect.stringContaining(`written to node ${node}`)]);
  await at.api.sql`update nodes set reservation = null where uuid = ${node}`;
  expect((await at.api.as('operator', 'DELETE', `${path}/used`)).status).toBe(204);
});
