/** Acknowledged incidents: who may write and read them, and that they end with the faults and with the tenancy. */
import { startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
beforeEach(() => api.sql`delete from nodes`);

const faulty = async (name: string, columns: Readonly<Record<string, unknown>> = {}): Promise<void> => {
  const properties = api.sql.json({ rack: 'r3' });
  const row = { name, driver: 'redfish', owner, lessee, fault: 'power failure', properties, ...columns };
  await api.sql`insert into nodes ${api.sql(row as never)}`;
};
const incident = async (who: Persona) => (await api.as(who, 'GET', '/temper/v1/incidents')).body.incidents[0];
const acknowledge = async (who: Persona, node: string, { note = 'the feed is being repaired', until = '' } = {}) => {
  const last = until || (await incident('operator')).until;
  return api.as(who, 'POST', '/temper/v1/incidents/acknowledge', { body: { node, note, until: last } });
};

test('all nodes of the incident are acknowledged, with the person and the note, in one row of the trail', async () => {
  for (const name of ['a', 'b', 'c']) await faulty(name);
  expect((await incident('operator')).acknowledged).toBeNull();
  const reply = await acknowledge('operator', 'b');
  expect([reply.status, reply.body]).toEqual([200, { acknowledged: 3 }]);
  expect(await incident('system-reader')).toMatchObject({
    count: 3,
    acknowledged: { count: 3, note: 'the feed is being repaired', requester: { user_name: 'user-of-system' } },
  });
  const rows = await api.sql`
    select action, rule, data ->> 'reason' as reason, data ->> 'count' as count from audit
    where request_id = ${reply.headers.get('x-openstack-request-id')}`;
  expect(rows).toEqual([
    { action: 'incident.acknowledge', rule: 'temper:acknowledgement:create', reason: 'the feed is being repaired', count: '3' },
  ]);
}); // biome-ignore format: one row of the trail on a line

test.each<[Persona, number]>([
  ['operator', 200],
  ['owner-member', 200],
  ['system-reader', 403],
  ['owner-reader', 403],
  ['lessee-manager', 403],
  ['stranger-admin', 404],
])('%s who acknowledges gets %i', async (who, status) => {
  await faulty('a');
  expect((await acknowledge(who, 'a')).status).toBe(status);
  expect((await incident('operator')).acknowledged !== null).toBe(status === 200);
});

test('a node of another owner in the same rack is no part of the incident that a tenant acknowledges', async () => {
  await faulty('a');
  await faulty('b', { owner: stranger, lessee: null });
  expect((await acknowledge('owner-member', 'a')).body).toEqual({ acknowledged: 1 });
  expect(await incident('operator')).toMatchObject({ count: 2, acknowledged: { count: 1 } });
});

test('one node that the caller may not acknowledge refuses the whole', async () => {
  await faulty('a');
  await faulty('b', { owner: stranger, lessee: owner });
  expect((await acknowledge('owner-member', 'a')).status).toBe(403);
  expect((await incident('operator')).acknowledged).toBeNull();
});

test('readers of the owner read the note; a lessee reads neither note nor person, nor in its events', async () => {
  await faulty('a');
  await acknowledge('operator', 'a', { note: 'the lessee broke it' });
  expect((await incident('owner-reader')).acknowledged).toMatchObject({ note: 'the lessee broke it' });
  expect((await incident('lessee-reader')).acknowledged).toBeNull();
  const { text } = await api.as('lessee-reader', 'GET', '/temper/v1/events?node=a');
  expect(text).toContain('node.fault.acknowledged');
  expect(text).not.toContain('broke it');
});

test('the trail of the node shows an acknowledgement to its owner, and not to its lessee', async () => {
  await faulty('a');
  await acknowledge('operator', 'a', { note: 'the lessee broke it' });
  const acts = async (who: Persona) =>
    (await api.as(who, 'GET', '/temper/v1/audit?node=a')).body.audit.map(({ action }: { action: string }) => action);
  expect(await acts('owner-reader')).toEqual(['incident.acknowledge']);
  expect(await acts('lessee-reader')).toEqual([]);
});

test('it ends with the fault: the next fault of the node is not acknowledged', async () => {
  await faulty('a');
  await acknowledge('operator', 'a');
  await api.sql`update nodes set fault = null where name = 'a'`;
  expect(await incident('operator')).toBeUndefined();
  await api.sql`update nodes set fault = 'power failure' where name = 'a'`;
  expect((await incident('operator')).acknowledged).toBeNull();
});

test.each([{ owner: stranger }, { lessee: stranger }, { lessee: null }])(
  'it ends if the node changes hands: %j',
  async (change) => {
    await faulty('a');
    await acknowledge('operator', 'a');
    await api.sql`update nodes set ${api.sql(change as never)} where name = 'a'`;
    expect((await incident('operator')).acknowledged).toBeNull();
  },
);

test('a node that changes hands after the rules were checked is left out', async () => {
  await faulty('a');
  const seen = await api.sql`select uuid, owner, lessee from nodes`;
  const said = { until: new Date(Date.now() + 60_000), note: 'x', requester: {} as never };
  expect(await api.inventory.acknowledgements.put(seen as never, said)).toEqual([seen[0]!.uuid]);
  await api.sql`update nodes set owner = ${stranger}`;
  expect(await api.inventory.acknowledgements.put(seen as never, said)).toEqual([]);
});

test('a fault that began after what the caller saw is not acknowledged', async () => {
  await faulty('a');
  const { until } = await incident('operator');
  await api.sql`select pg_sleep(0.01)`;
  await faulty('b');
  expect((await acknowledge('operator', 'b', { until })).body).toEqual({ acknowledged: 1 });
  expect(await incident('operator')).toMatchObject({ count: 2, acknowledged: { count: 1 } });
  const early = await acknowledge('operator', 'a', { until: '2020-01-01T00:00:00Z' });
  expect([early.status, early.text]).toEqual([409, expect.stringContaining('no fault that began by')]);
});

test('a second acknowledgement replaces the first', async () => {
  await faulty('a');
  await acknowledge('operator', 'a');
  await acknowledge('owner-member', 'a', { note: 'on my way' });
  expect((await incident('operator')).acknowledged).toMatchObject({ count: 1, note: 'on my way' });
  expect(await api.sql`select count(*)::int as many from fault_acknowledgements`).toEqual([{ many: 1 }]);
});

test.each([{ note: '' }, { note: 'x'.repeat(1_001) }, { until: 'soon' }, { node: 'a b' }, { more: 1 }])(
  '%j is refused',
  async (wrong) => {
    await faulty('a');
    const body = { node: 'a', note: 'x', until: new Date().toISOString(), ...wrong };
    expect((await api.as('operator', 'POST', '/temper/v1/incidents/acknowledge', { body })).status).toBe(400);
  },
);

test('a node without a fault is refused, and a deleted node takes its acknowledgement along', async () => {
  await faulty('a');
  await acknowledge('operator', 'a');
  await faulty('well', { fault: null });
  expect((await acknowledge('operator', 'well')).status).toBe(409);
  await api.sql`delete from nodes`;
  expect(await api.sql`select 1 from fault_acknowledgements`).toEqual([]);
});
