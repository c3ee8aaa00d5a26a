/** Ramdisk records over the API: checked as they are written, and kept while a run boots from them. */
import { randomUUID } from 'node:crypto';
import { faultOf, startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const path = '/temper/v1/ramdisks';
const area = { arguments_at: 0, arguments_bytes: 1_024, files_at: 1_024, files_bytes: 1_024 };
const wanted = { name: 'debian', args: 'console=ttyS0', iso_sha256: 'a'.repeat(64), iso_bytes: 2_048, ...area };
const post = (body: object) => api.as('operator', 'POST', path, { body });

test('a ramdisk is recorded, shown and removed, each with an audit row', async () => {
  const made = await post(wanted);
  expect(made.status).toBe(201);
  expect(made.headers.get('location')).toBe(`${api.url}${path}/debian`);
  expect(made.body).toMatchObject({ ...wanted, arch: 'x86_64', kernel_sha256: null });
  expect((await api.as('system-reader', 'GET', `${path}/debian`)).body).toEqual(made.body);
  expect((await api.as('system-reader', 'GET', path)).body.ramdisks).toEqual([made.body]);
  expect((await post(wanted)).status).toBe(409);
  expect((await api.as('operator', 'DELETE', `${path}/debian`)).status).toBe(204);
  expect((await api.as('operator', 'GET', `${path}/debian`)).status).toBe(404);
  expect((await api.as('operator', 'DELETE', `${path}/debian`)).status).toBe(404);
  const rows = await api.sql<{ action: string }[]>`
    select action from audit where resource_id = ${made.body.uuid} order by seq`;
  expect(rows.map(({ action }) => action)).toEqual(['ramdisk.create', 'ramdisk.delete']);
});

test.each([
  ['a quote in its arguments', { args: 'a="b"' }, /args: must not hold "/],
  ['a line break in its arguments', { args: 'quiet\nboot' }, /args: must not hold the character U\+000A/],
  ['a token of its own', { args: 'ipa-agent-token=x' }, /args: must not set ipa-agent-token/],
  ['an API of its own', { args: 'ipa-api-url=http://192.0.2.66' }, /args: must not set ipa-api-url/],
  ['a path in its name', { name: '../x' }, /name: must begin with a letter/],
  ['a path for a digest', { iso_sha256: '../../etc/passwd' }, /iso_sha256: must be a SHA-256 digest/],
  ['room beyond its end', { files_at: 2_000 }, /files_at: lies beyond the end/],
  ['no room worth the name', { arguments_bytes: 10 }, /arguments_bytes/],
  ['more room than is laid over in memory', { files_bytes: 2 ** 30, iso_bytes: 2 ** 31 }, /files_bytes/],
])('%s is refused', async (_, change, says) => {
  const answer = await post({ ...wanted, name: 'wrong', ...change });
  expect(answer.status).toBe(400);
  expect(faultOf(answer)).toMatch(says);
});

test('one from which a run boots stays until that run has ended', async () => {
  await post({ ...wanted, name: 'used' });
  const [node, run] = [randomUUID(), randomUUID()];
  await api.sql`insert into nodes (uuid, driver, provision_state, reservation, fence) values (${node}, 'redfish', 'deploying', ${run}, 1)`;
  await api.sql`
    insert into boot_capabilities (node_uuid, run_id, fence, act, ramdisk_uuid, arguments, url_hash, url_secret, token_hash,
      token_secret, inspection_hash)
    select ${node}, ${run}, 1, 'x', uuid, '', 'x', gen_random_uuid(), 'x', gen_random_uuid(), 'x' from ramdisks where name = 'used'`;
  const refused = await api.as('operator', 'DELETE', `${path}/used`);
  expect([refused.status, faultOf(refused)]).toEqual([
    409,
    expect.stringContaining(`Node ${node} is booting from ramdisk`),
  ]);
  await api.sql`update nodes set reservation = null where uuid = ${node}`;
  expect((await api.as('operator', 'DELETE', `${path}/used`)).status).toBe(204);
});
