/** The networks of a node: attached, listed, detached, by whom, and what they keep from going. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

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

/** Until so many requests wait for a lock of the database. */
const rowLocked = async (waiting: number): Promise<void> => {
  for (;;) {
    const [row] = await api.sql<{ count: number }[]>`
      select count(distinct l.pid)::int as count from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where not l.granted and a.datname = current_database()`;
    if (row!.count >= waiting) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

const vif = '22222222-2222-4222-8222-222222222222';
const path = '/v1/nodes/n1/vifs';
const attach = (who: Persona, body: object = { id: vif }, minor?: number) => api.as(who, 'POST', path, { body, minor });
const detach = (who: Persona, id = vif) => api.as(who, 'DELETE', `${path}/${id}`);
const listed = async () => (await api.as('lessee-reader', 'GET', path)).body.vifs.map(({ id }: { id: string }) => id);
let macs = 0;
const port = async (node_uuid: string, values: Record<string, unknown> = {}): Promise<string> => {
  macs += 1;
  const columns = { node_uuid, address: `52:54:00:00:00:${String(macs).padStart(2, '0')}`, ...values };
  const [row] = await api.sql<{ uuid: string }[]>`insert into ports ${api.sql(columns)} returning uuid`;
  return row!.uuid;
};
const portgroup = async (node_uuid: string): Promise<string> => {
  const [row] = await api.sql<{ uuid: string }[]>`insert into portgroups ${api.sql({ node_uuid })} returning uuid`;
  await port(node_uuid, { portgroup_uuid: row!.uuid });
  return row!.uuid;
};
/** Nova reads it of each card before it writes a configuration drive. */
const shown = async (kind: 'ports' | 'portgroups', uuid: string): Promise<unknown> =>
  (await api.as('operator', 'GET', `/v1/${kind}/${uuid}`)).body.internal_info;

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

test('get a card each, the portgroup first, and show it there until they are detached', async () => {
  const [eth0, eth1, bond] = [await port(home, { pxe_enabled: false }), await port(home), await portgroup(home)];
  for (const id of ['blue', 'red', 'green']) expect((await attach('operator', { id })).status).toBe(204);
  const all = async () => [await shown('portgroups', bond), await shown('ports', eth1), await shown('ports', eth0)];
  expect(await all()).toEqual(['blue', 'red', 'green'].map((id) => ({ tenant_vif_port_id: id })));
  await detach('operator', 'red');
  expect(await all()).toEqual([{ tenant_vif_port_id: 'blue' }, {}, { tenant_vif_port_id: 'green' }]);
  await attach('operator');
  expect(await shown('ports', eth1)).toEqual({ tenant_vif_port_id: vif });
});

test('beyond the cards of a node are refused as by Ironic, and nothing of them is kept', async () => {
  await port(home);
  await attach('operator', { id: 'blue' });
  const refused = await attach('operator');
  expect([refused.status, faultOf(refused)]).toEqual([
    400,
    expect.stringContaining(`Unable to attach VIF ${vif}, not enough free physical ports.`),
  ]);
  expect(await listed()).toEqual(['blue']);
});

test('that are attached at once get different cards, and no more than there are', async () => {
  const cards = [await port(home), await port(home), await port(home)];
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const answers = await Promise.all(ids.map((id) => attach('operator', { id })));
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 204, 204, 400, 400, 400]);
  const held = await Promise.all(cards.map((uuid) => shown('ports', uuid)));
  expect(new Set(held.map((info) => JSON.stringify(info))).size).toBe(3);
});

test('what else a port keeps of itself stays, when its VIF comes and goes', async () => {
  const uuid = await port(home, { internal_info: api.sql.json({ of_inspection: 7 }) });
  await attach('operator');
  expect(await shown('ports', uuid)).toEqual({ of_inspection: 7, tenant_vif_port_id: vif });
  await detach('operator');
  expect(await shown('ports', uuid)).toEqual({ of_inspection: 7 });
});

test('are listed in the order they came, names as well as uuids, with more keys than are known', async () => {
  expect((await attach('operator', { id: 'blue', colour: 'blue' })).text).toBe('');
  await attach('operator');
  expect((await api.as('operator', 'GET', path)).body).toEqual({ vifs: [{ id: 'blue' }, { id: vif }] });
});

test('one that is attached is a conflict, one that is not is refused', async () => {
  await attach('operator');
  const again = await attach('operator');
  expect([again.status, faultOf(again)]).toEqual([409, expect.stringContaining('is already attached to Ironic Node')]);
  await detach('operator');
  const gone = await detach('operator');
  expect([gone.status, faultOf(gone)]).toEqual([400, expect.stringContaining('because it is not attached to it')]);
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
  await port(home);
  const refused = await attach('owner-member', { id: vif, port_uuid: theirs });
  const none = await attach('owner-member', { id: vif, port_uuid: vif });
  expect([refused.status, faultOf(refused).replace(theirs, vif)]).toEqual([400, faultOf(none)]);
});

test('a port is attached to one network at a time, and stays until that is detached', async () => {
  const port_uuid = await port(home);
  expect((await attach('operator', { id: vif, port_uuid }, 66)).status).toBe(406);
  expect((await attach('operator', { id: vif, port_uuid }, 67)).status).toBe(204);
  // 409 would tell Nova that it is attached.
  expect((await attach('operator', { id: 'blue', port_uuid })).status).toBe(400);
  const again = await attach('operator', { id: vif, port_uuid });
  expect([again.status, faultOf(again)]).toEqual([
    409,
    expect.stringContaining(`attached to Ironic Port ${port_uuid}`),
  ]);
  expect((await api.as('operator', 'DELETE', `/v1/ports/${port_uuid}`)).status).toBe(409);
  await detach('operator');
  expect((await api.as('operator', 'DELETE', `/v1/ports/${port_uuid}`)).status).toBe(204);
});

test('neither a port nor a portgroup takes its network to another node', async () => {
  const other = await node('n2', { owner, provision_state: 'manageable', maintenance: true });
  await api.sql`update nodes set maintenance = true where uuid = ${home}`;
  const [port_uuid, portgroup_uuid] = [await port(home), await portgroup(home)];
  await attach('operator', { id: vif, port_uuid });
  await attach('operator', { id: 'blue', portgroup_uuid });
  await api.sql`update ports set portgroup_uuid = null`;
  const body = [{ op: 'replace', path: '/node_uuid', value: other }];
  for (const at of [`ports/${port_uuid}`, `portgroups/${portgroup_uuid}`]) {
    const refused = await api.as('operator', 'PATCH', `/v1/${at}`, { body });
    expect([at, refused.status, faultOf(refused)]).toEqual([at, 409, expect.stringContaining('detach it first')]);
  }
  for (const id of [vif, 'blue']) await detach('operator', id);
  for (const at of [`ports/${port_uuid}`, `portgroups/${portgroup_uuid}`])
    expect((await api.as('operator', 'PATCH', `/v1/${at}`, { body })).status).toBe(200);
});

test('so is a portgroup, and one that goes in maintenance leaves its network on the list', async () => {
  const portgroup_uuid = await portgroup(home);
  expect((await attach('operator', { id: vif, portgroup_uuid })).status).toBe(204);
  await api.sql`update ports set portgroup_uuid = null`;
  expect((await api.as('operator', 'DELETE', `/v1/portgroups/${portgroup_uuid}`)).status).toBe(409);
  await api.sql`update nodes set maintenance = true`;
  expect((await api.as('operator', 'DELETE', `/v1/portgroups/${portgroup_uuid}`)).status).toBe(204);
  expect(await listed()).toEqual([vif]);
});

test('of a node that a run holds stay, and the answer is none that Nova takes for an attached VIF', async () => {
  await attach('operator');
  await api.sql`update nodes set reservation = ${home}`;
  for (const refused of [await attach('operator', { id: 'blue' }), await attach('operator'), await detach('operator')])
    expect([refused.status, faultOf(refused)]).toEqual([503, expect.stringContaining('locked by a run')]);
  expect(await listed()).toEqual([vif]);
});

test('of a former lessee are gone at the hand-over, though a compute service attached them', async () => {
  const uuid = await port(home);
  await attach('operator');
  expect(await shown('ports', uuid)).toEqual({ tenant_vif_port_id: vif });
  const body = [{ op: 'replace', path: '/lessee', value: stranger }];
  expect((await api.as('operator', 'PATCH', '/v1/nodes/n1', { body })).status).toBe(200);
  expect((await api.as('stranger-admin', 'GET', path)).body).toEqual({ vifs: [] });
  expect(await shown('ports', uuid)).toEqual({});
});

test('stay when a deployment gives the node its first lessee', async () => {
  await api.sql`update nodes set lessee = null`;
  await attach('operator');
  await api.sql`update nodes set lessee = ${stranger}`;
  expect((await api.as('stranger-admin', 'GET', path)).body).toEqual({ vifs: [{ id: vif }] });
});

test('are not attached for a tenant whose node was handed over meanwhile', async () => {
  await port(home);
  const answers = await api.sql.begin(async (tx) => {
    await tx`update nodes set lessee = ${stranger} where uuid = ${home}`;
    const waiting = [attach('lessee-manager'), attach('lessee-admin', { id: 'blue' })];
    await rowLocked(waiting.length);
    return { waiting };
  });
  for (const answer of await Promise.all(answers.waiting)) expect([404, 409]).toContain(answer.status);
  expect((await api.as('operator', 'GET', path)).body).toEqual({ vifs: [] });
});

test('end with the instance, when its tear-down ends', async () => {
  await attach('operator');
  const uuid = await port(home);
  await attach('operator', { id: 'blue' });
  await api.sql`update nodes set provision_state = 'active'`;
  await api.sql`update nodes set provision_state = 'deleting'`;
  expect(await listed()).toEqual([vif, 'blue']);
  await api.sql`update nodes set provision_state = 'cleaning'`;
  expect(await listed()).toEqual([]);
  expect(await shown('ports', uuid)).toEqual({});
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
