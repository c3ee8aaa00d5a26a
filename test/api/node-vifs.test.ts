/** The networks of a node: attached, listed, detached, by whom, and what they keep from going. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
let home: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const node = async (name: string, more: Record<string, unknown> = {}): Promise<string> => {
  const columns = { name, driver: 'redfish', provision_state: 'available', ...more };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  return row!.uuid;
};
beforeEach(async () => {
  await api.sql`delete from nodes`;
  home = await node('n1', { owner, lessee });
});

const vif = '22222222-2222-4222-8222-222222222222';
const path = '/v1/nodes/n1/vifs';
const attach = (who: Persona, body: object = { id: vif }, minor?: number) => api.as(who, 'POST', path, { body, minor });
const detach = (who: Persona, id = vif) => api.as(who, 'DELETE', `${path}/${id}`);
const listed = async () => (await api.as('lessee-reader', 'GET', path)).body.vifs.map(({ id }: { id: string }) => id);
const port = async (node_uuid: string, address = '52:54:00:00:00:01'): Promise<string> =>
  (await api.as('operator', 'POST', '/v1/ports', { body: { node_uuid, address } })).body.uuid;

test.each([
  ['operator', 204, 200],
  ['system-member', 204, 200],
  ['system-reader', 403, 200],
  ['owner-admin', 204, 200],
  ['owner-member', 204, 200],
  ['owner-reader', 403, 200],
  ['lessee-admin', 204, 200],
  ['lessee-manager', 204, 200],
  ['lessee-member', 403, 200],
  ['lessee-reader', 403, 200],
  ['stranger-admin', 404, 404],
] as const)('as %s attaching and detaching answer %i, listing %i', async (who, changes, lists) => {
  expect((await attach(who)).status).toBe(changes);
  expect((await api.as(who, 'GET', path)).status).toBe(lists);
  await attach('operator');
  expect((await detach(who)).status).toBe(changes);
  expect(await listed()).toEqual(changes === 204 ? [] : [vif]);
});

test('are listed in the order they came, names as well as uuids, with more keys than are known', async () => {
  expect((await attach('operator', { id: 'blue', colour: 'blue' })).text).toBe('');
  await attach('operator');
  expect((await api.as('operator', 'GET', path)).body).toEqual({ vifs: [{ id: 'blue' }, { id: vif }] });
});

test('one that is attached is a conflict, one that is not is refused', async () => {
  await attach('operator');
  const again = await attach('operator');
  expect([again.status, faultOf(again)]).toEqual([409, expect.stringContaining('already')]);
  await detach('operator');
  const gone = await detach('operator');
  expect([gone.status, faultOf(gone)]).toEqual([400, expect.stringContaining('is not attached')]);
});

test.each([
  [{}, 'id'],
  [{ id: 'a b' }, 'id'],
  [{ id: vif, port_uuid: 'nonsense' }, 'port_uuid'],
  [{ id: vif, port_uuid: vif, portgroup_uuid: vif }, 'name one of them'],
  [{ id: vif, port_uuid: vif }, 'has no port'],
  [{ id: vif, portgroup_uuid: vif }, 'has no portgroup'],
])('%j is refused, saying why', async (body, says) => {
  const refused = await attach('operator', body);
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
  expect(await listed()).toEqual([]);
});

test('another node’s port is as unknown as none', async () => {
  const theirs = await port(await node('n2'));
  const refused = await attach('owner-member', { id: vif, port_uuid: theirs });
  const none = await attach('owner-member', { id: vif, port_uuid: vif });
  expect([refused.status, faultOf(refused).replace(theirs, vif)]).toEqual([400, faultOf(none)]);
});

test('a port is attached to one network at a time, and stays until that is detached', async () => {
  const port_uuid = await port(home);
  expect((await attach('operator', { id: vif, port_uuid }, 66)).status).toBe(406);
  expect((await attach('operator', { id: vif, port_uuid }, 67)).status).toBe(204);
  expect((await attach('operator', { id: 'blue', port_uuid })).status).toBe(409);
  expect((await api.as('operator', 'DELETE', `/v1/ports/${port_uuid}`)).status).toBe(409);
  await detach('operator');
  expect((await api.as('operator', 'DELETE', `/v1/ports/${port_uuid}`)).status).toBe(204);
});

test('so is a portgroup', async () => {
  const made = await api.as('operator', 'POST', '/v1/portgroups', { body: { node_uuid: home } });
  const portgroup_uuid = made.body.uuid;
  expect((await attach('operator', { id: vif, portgroup_uuid })).status).toBe(204);
  expect((await api.as('operator', 'DELETE', `/v1/portgroups/${portgroup_uuid}`)).status).toBe(409);
  await api.sql`update nodes set maintenance = true`;
  expect((await api.as('operator', 'DELETE', `/v1/portgroups/${portgroup_uuid}`)).status).toBe(204);
  expect(await listed()).toEqual([vif]);
});

test('of a node that a run holds wait', async () => {
  await attach('operator');
  await api.sql`update nodes set reservation = ${home}`;
  expect([(await attach('operator', { id: 'blue' })).status, (await detach('operator')).status]).toEqual([409, 409]);
});

test('end with the instance, when its tear-down ends', async () => {
  await attach('operator');
  await api.sql`update nodes set provision_state = 'active'`;
  await api.sql`update nodes set provision_state = 'deleting'`;
  expect(await listed()).toEqual([vif]);
  await api.sql`update nodes set provision_state = 'cleaning'`;
  expect(await listed()).toEqual([]);
});

test('are known from 1.28 on', async () => {
  expect((await api.as('operator', 'GET', path, { minor: 27 })).status).toBe(404);
  expect((await attach('operator', { id: vif }, 27)).status).toBe(404);
});

test('every change leaves an audit row, and an event for the owner and lessee of the node', async () => {
  await attach('lessee-admin');
  await detach('owner-member');
  const rows = await api.sql`select action, rule, data from audit where resource_id = ${home} order by seq`;
  expect(rows).toEqual(
    ['attach', 'detach'].map((act) => ({
      action: `node.vif.${act}`,
      rule: `baremetal:node:vif:${act}`,
      data: { vif },
    })),
  );
  const events = await api.sql`select kind, project, lessee from events where node_uuid = ${home} order by seq`;
  expect(events).toEqual(['node.vif.attached', 'node.vif.detached'].map((kind) => ({ kind, project: owner, lessee })));
});
