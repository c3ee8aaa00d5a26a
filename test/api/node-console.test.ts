/** Consoles: refused clearly where the driver has none, switched and shown where it has one. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
let home: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
  const columns = { name: 'n1', driver: 'fake-hardware', console_interface: 'fake', owner, lessee };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  home = row!.uuid;
});

const path = '/v1/nodes/n1/states/console';
const put = (who: Persona, body: unknown = { enabled: true }) => api.as(who, 'PUT', path, { body });

test.each([
  ['operator', 202, 200],
  ['system-member', 202, 200],
  ['system-reader', 403, 403],
  ['owner-admin', 202, 200],
  ['owner-member', 202, 200],
  ['owner-reader', 403, 403],
  ['lessee-admin', 403, 403],
  ['stranger-admin', 404, 404],
] as const)('as %s switching answers %i, looking %i', async (who, switches, looks) => {
  expect((await put(who)).status).toBe(switches);
  expect((await api.as(who, 'GET', path)).status).toBe(looks);
});

test('is off until it is switched on, and says where it is while it is on', async () => {
  expect((await api.as('operator', 'GET', path)).body).toEqual({ console_enabled: false, console_info: null });
  const on = await put('operator');
  expect([on.text, on.headers.get('location')]).toEqual(['', `${api.url}${path}`]);
  const info = { type: expect.any(String), url: expect.any(String) };
  expect((await api.as('operator', 'GET', path)).body).toEqual({ console_enabled: true, console_info: info });
  expect((await api.as('operator', 'GET', '/v1/nodes/n1/states')).body.console_enabled).toBe(true);
  expect((await api.as('operator', 'PUT', `${path}?enabled=false`)).status).toBe(202);
  expect((await api.as('operator', 'GET', path)).body.console_enabled).toBe(false);
});

test.each(['redfish', 'ipmi'])('%s has none, and says so to those who may ask', async (driver) => {
  await api.sql`update nodes set driver = ${driver}, console_interface = 'no-console'`;
  for (const reply of [await put('owner-member'), await api.as('owner-member', 'GET', path)])
    expect([reply.status, faultOf(reply)]).toEqual([400, `Driver ${driver} does not support consoles.`]);
  expect((await put('lessee-admin')).status).toBe(403);
});

test.each([[{}], [{ enabled: 'perhaps' }], [{ enabled: true, colour: 'red' }]])('%j is refused', async (body) => {
  expect((await put('operator', body)).status).toBe(400);
});

test('of a node that a run holds waits', async () => {
  await api.sql`update nodes set reservation = ${home}`;
  expect((await put('operator')).status).toBe(409);
});

test('leaves an audit row and an event', async () => {
  await put('owner-member');
  const rows = await api.sql`select action, rule from audit where resource_id = ${home}`;
  expect(rows).toEqual([{ action: 'node.console', rule: 'baremetal:node:set_console_state' }]);
  const events = await api.sql`select kind, project, lessee from events where node_uuid = ${home}`;
  expect(events).toEqual([{ kind: 'node.console.set', project: owner, lessee }]);
});
