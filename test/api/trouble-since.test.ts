/** Since when a node has its fault and is in maintenance: written with both, by whoever writes them, and by nobody else. */
import { startTestApi, type TestApi } from '../support/api';
import { lessee, owner } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const names = 'fault,fault_since,maintenance,maintenance_since';
let node: string;
beforeEach(async () => {
  await api.sql`delete from nodes`;
  const made = await api.sql`
    insert into nodes (driver, owner, lessee) values ('fake-hardware', ${owner}, ${lessee}) returning uuid`;
  node = made[0]!.uuid;
});

const path = () => `/v1/nodes/${node}`;
const shown = async () => (await api.as('lessee-reader', 'GET', `${path()}?fields=${names}`)).body;
const write = (columns: object) => api.sql`update nodes set ${api.sql(columns)} where uuid = ${node}`;
/** As if both had begun at that time; triggers would undo it. */
const backdate = (at: string) =>
  api.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update nodes set fault_since = ${at}, maintenance_since = ${at} where uuid = ${node}`;
  });
const long = '2026-01-02T03:04:05+00:00';

test('both begin with what they are about, and end with it', async () => {
  expect(await shown()).toMatchObject({ fault_since: null, maintenance_since: null });
  const before = await api.inventory.clock();
  await api.as('operator', 'PUT', `${path()}/maintenance`, { body: { reason: 'new fan' } });
  await write({ fault: 'power failure' });
  const now = await shown();
  for (const since of [now.fault_since, now.maintenance_since]) {
    expect(Date.parse(since)).toBeGreaterThanOrEqual(Math.floor(before));
    expect(Date.parse(since)).toBeLessThanOrEqual(await api.inventory.clock());
  }
  await api.as('operator', 'DELETE', `${path()}/maintenance`);
  expect(await shown()).toMatchObject({ fault: null, fault_since: null, maintenance: false, maintenance_since: null });
});

test('a repeated write moves neither, and another fault moves that of the fault alone', async () => {
  await write({ fault: 'power failure', maintenance: true });
  await backdate(long);
  await write({ fault: 'power failure', maintenance: true, maintenance_reason: 'still', power_state: 'power on' });
  await api.as('operator', 'PUT', `${path()}/maintenance`, { body: { reason: 'and still' } });
  await api.as('operator', 'PATCH', path(), { body: [{ op: 'replace', path: '/description', value: 'x' }] });
  expect(await shown()).toMatchObject({ fault_since: long, maintenance_since: long });
  await write({ fault: 'clean failure' });
  const { fault_since, maintenance_since } = await shown();
  expect(maintenance_since).toBe(long);
  expect(fault_since > long).toBe(true);
});

test('a node that is made in maintenance is in it since then', async () => {
  const made = await api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware', maintenance: true } });
  const { body } = await api.as('operator', 'GET', `/v1/nodes/${made.body.uuid}?fields=${names}`);
  expect(body).toMatchObject({ maintenance: true, maintenance_since: expect.any(String), fault_since: null });
});

test('no caller and no process writes them', async () => {
  for (const field of ['fault_since', 'maintenance_since']) {
    const patch = [{ op: 'add', path: `/${field}`, value: long }];
    expect((await api.as('operator', 'PATCH', path(), { body: patch })).status).toBe(400);
    const body = { driver: 'fake-hardware', [field]: long };
    expect((await api.as('operator', 'POST', '/v1/nodes', { body })).status).toBe(400);
  }
  await write({ fault_since: long, maintenance_since: long });
  expect(await shown()).toMatchObject({ fault_since: null, maintenance_since: null });
  await write({ maintenance: true });
  await backdate(long);
  await write({ maintenance_since: '2020-01-01T00:00:00Z' });
  expect(await shown()).toMatchObject({ maintenance_since: long });
});

test.each([1, 42, 115])('at 1.%i they are shown to who names them alone', async (minor) => {
  await write({ fault: 'power failure', maintenance: true });
  const unasked = [path(), '/v1/nodes', '/v1/nodes/detail'];
  for (const one of unasked) expect((await api.as('operator', 'GET', one, { minor })).text).not.toContain('_since');
});

test('lists are ordered by them, the longest first, for each caller its own', async () => {
  const others = await api.sql`
    insert into nodes (driver, fault, owner) values ('fake-hardware', 'power failure', 'another'), ('fake-hardware', 'power failure', ${owner})
    returning uuid`;
  await write({ fault: 'power failure' });
  await backdate(long);
  const [foreign, later] = others.map(({ uuid }) => uuid as string);
  const listed = async (who: 'operator' | 'owner-reader', query = '') =>
    (
      await api.as(who, 'GET', `/v1/nodes?fault=power failure&sort_key=fault_since&fields=uuid,fault_since${query}`)
    ).body.nodes.map(({ uuid }: { uuid: string }) => uuid);
  expect(await listed('operator')).toEqual([node, foreign, later]);
  expect(await listed('operator', '&sort_dir=desc')).toEqual([later, foreign, node]);
  expect(await listed('operator', `&marker=${node}`)).toEqual([foreign, later]);
  expect(await listed('owner-reader')).toEqual([node, later]);
});
