/** Chassis and the nodes in them: what a node may name, who learns of it, and what keeps a chassis from going. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { projectAdminCanManageOwnNodes: true } });
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
  await api.sql`delete from chassis`;
});

const missing = '11111111-2222-4333-8444-555555555555';
const chassis = async (): Promise<string> => (await api.as('operator', 'POST', '/v1/chassis', { body: {} })).body.uuid;
const node = async (name: string, more: Record<string, unknown> = {}): Promise<string> => {
  const columns = { name, driver: 'redfish', provision_state: 'manageable', ...more };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  return row!.uuid;
};
const put = (who: Persona, ident: string, value: string) =>
  api.as(who, 'PATCH', `/v1/nodes/${ident}`, { body: [{ op: 'add', path: '/chassis_uuid', value }] });
const namesOf = (reply: { body: { nodes: { name: string }[] } }) => reply.body.nodes.map(({ name }) => name);

test('shows its nodes as a list of one list of links, and says nothing of a description that it has not', async () => {
  const uuid = await chassis();
  const { body } = await api.as('operator', 'GET', `/v1/chassis/${uuid}`);
  expect(body).toMatchObject({ description: null, extra: {} });
  expect(body.nodes).toEqual([
    [
      { href: `${api.url}/v1/chassis/${uuid}/nodes`, rel: 'self' },
      { href: `${api.url}/chassis/${uuid}/nodes`, rel: 'bookmark' },
    ],
  ]);
  expect((await api.as('operator', 'POST', '/v1/chassis', { body: { description: 'x'.repeat(256) } })).status).toBe(
    400,
  );
});

test('a node is made in a chassis, put into one, and taken out from 1.25 on', async () => {
  const uuid = await chassis();
  const made = await api.as('operator', 'POST', '/v1/nodes', {
    body: { name: 'n1', driver: 'fake-hardware', chassis_uuid: uuid },
  });
  expect([made.status, made.body.chassis_uuid]).toEqual([201, uuid]);
  const out = [{ op: 'remove', path: '/chassis_uuid' }];
  expect((await api.as('operator', 'PATCH', '/v1/nodes/n1', { body: out, minor: 24 })).status).toBe(406);
  expect((await api.as('operator', 'PATCH', '/v1/nodes/n1', { body: out })).body.chassis_uuid).toBeNull();
  expect((await put('operator', 'n1', uuid)).body.chassis_uuid).toBe(uuid);
});

test('a chassis that is not there is refused on create and patch', async () => {
  await node('n1');
  const body = { driver: 'fake-hardware', chassis_uuid: missing };
  for (const refused of [await api.as('operator', 'POST', '/v1/nodes', { body }), await put('operator', 'n1', missing)])
    expect([refused.status, faultOf(refused)]).toEqual([400, `chassis_uuid: chassis ${missing} could not be found`]);
});

test.each([
  ['operator', 200],
  ['system-member', 403],
  ['owner-admin', 403],
  ['lessee-admin', 403],
  ['stranger-admin', 404],
] as const)('%s puts a node into a chassis: %i, whether that exists or not', async (who, status) => {
  await node('n1', { owner, lessee });
  expect((await put(who, 'n1', await chassis())).status).toBe(status);
  if (status !== 200) expect((await put(who, 'n1', missing)).status).toBe(status);
});

test('a project that enrols its own nodes does not learn by it which chassis exist', async () => {
  const body = (chassis_uuid: string) => ({ driver: 'fake-hardware', chassis_uuid });
  const there = await api.as('owner-admin', 'POST', '/v1/nodes', { body: body(await chassis()) });
  const not = await api.as('owner-admin', 'POST', '/v1/nodes', { body: body(missing) });
  expect([there.status, there.text]).toEqual([403, not.text]);
  expect((await api.as('owner-admin', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } })).status).toBe(201);
});

test('a chassis with nodes stays, and goes without them', async () => {
  const uuid = await chassis();
  await node('n1', { chassis_uuid: uuid });
  const refused = await api.as('operator', 'DELETE', `/v1/chassis/${uuid}`);
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining('has nodes')]);
  await api.sql`delete from nodes`;
  expect((await api.as('operator', 'DELETE', `/v1/chassis/${uuid}`)).status).toBe(204);
});

describe('nodes of a chassis', () => {
  let uuid: string;
  beforeEach(async () => {
    uuid = await chassis();
    await node('n1', { owner, chassis_uuid: uuid });
    await node('n2', { chassis_uuid: uuid });
    await node('n3', { owner });
  });

  test.each([
    ['operator', ['n1', 'n2']],
    ['owner-reader', ['n1']],
    ['stranger-admin', []],
  ] as const)('%s lists %j, by path and by filter', async (who, names) => {
    for (const path of [`chassis/${uuid}/nodes`, `nodes?chassis_uuid=${uuid}`, `chassis/${uuid}/nodes/detail`])
      expect(namesOf(await api.as(who, 'GET', `/v1/${path}`))).toEqual(names);
  });

  test('an unknown chassis is missing to those who may look at chassis, and empty to all others', async () => {
    for (const path of [`chassis/${missing}/nodes`, `nodes?chassis_uuid=${missing}`]) {
      expect((await api.as('operator', 'GET', `/v1/${path}`)).status).toBe(404);
      expect((await api.as('owner-reader', 'GET', `/v1/${path}`)).body).toEqual({ nodes: [] });
    }
    expect((await api.as('operator', 'GET', '/v1/chassis/nonsense/nodes')).status).toBe(400);
    expect((await api.as('operator', 'GET', `/v1/chassis/${uuid}/nodes?chassis_uuid=${uuid}`)).status).toBe(400);
  });

  test('pages follow each other by their next link', async () => {
    const first = await api.as('operator', 'GET', `/v1/chassis/${uuid}/nodes?limit=1`);
    const second = await api.as('operator', 'GET', first.body.next.replace(api.url, ''));
    expect([...namesOf(first), ...namesOf(second)]).toEqual(['n1', 'n2']);
  });
});
