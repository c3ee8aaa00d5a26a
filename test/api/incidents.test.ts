/** Incidents over HTTP: of each caller those of its own nodes, bounded, with what the nodes share. */
import { startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
beforeEach(() => api.sql`delete from nodes`);

type Made = { readonly name: string; readonly at?: string; readonly rack?: string; readonly feed?: string } & Record<
  string,
  unknown
>;

/** Faulty since `at`, which a trigger would overwrite. */
const faulty = ({ name, at = '03:17:00', rack, feed, ...more }: Made) =>
  api.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    const properties = tx.json({ ...(rack && { rack }), ...(feed && { power_feed: feed }) });
    const since = `2026-03-01T${at}Z`;
    const row = { name, driver: 'redfish', fault: 'power failure', fault_since: since, properties, ...more };
    await tx`insert into nodes ${tx(row as never)}`;
  });

const incidents = async (who: Persona, query = '') => (await api.as(who, 'GET', `/temper/v1/incidents${query}`)).body;
type Listed = { shares: object; count: number; nodes: { name: string }[] };
const named = (body: { incidents: Listed[] }) =>
  body.incidents.map(({ nodes }) => nodes.map(({ name }) => name).join(' '));

test('nodes of one rack and feed are one incident with its beginning, and another node is another', async () => {
  for (const [index, name] of ['a', 'b', 'c'].entries())
    await faulty({ name, at: `03:17:0${index}`, rack: 'r3', feed: 'A', owner });
  await faulty({ name: 'd', rack: 'r9', feed: 'B', fault: 'clean failure', provision_state: 'clean failed' });
  const body = await incidents('operator');
  expect(body).toMatchObject({ faults: 4, complete: true });
  expect(body.incidents[0]).toEqual({
    shares: { rack: 'r3', power_feed: 'A', conductor_group: '', driver: 'redfish' },
    count: 3,
    since: '2026-03-01T03:17:00.000Z',
    until: '2026-03-01T03:17:02.000Z',
    fault: { 'power failure': 3 },
    acknowledged: null,
    nodes: ['a', 'b', 'c'].map((name) => expect.objectContaining({ name, owner, fault: 'power failure' })),
  });
  expect(body.incidents[1]).toMatchObject({
    shares: {},
    count: 1,
    fault: { 'clean failure': 1 },
    nodes: [{ name: 'd' }],
  });
});

test.each<[Persona, string[]]>([
  ['operator', ['a b c']],
  ['owner-reader', ['a b']],
  ['lessee-reader', ['b']],
  ['stranger-admin', []],
])('%s is told of its own nodes alone', async (who, expected) => {
  await faulty({ name: 'a', rack: 'r3', owner });
  await faulty({ name: 'b', at: '03:17:01', rack: 'r3', owner, lessee });
  await faulty({ name: 'c', at: '03:17:02', rack: 'r3' });
  const body = await incidents(who);
  expect(named(body)).toEqual(expected);
  expect(body.faults).toBe(expected.join(' ').split(' ').filter(Boolean).length);
});

test('a caller who may list no nodes is refused, as by the list', async () => {
  const who = 'stranger-roleless' as Persona;
  const [list, found] = await Promise.all(
    ['/v1/nodes', '/temper/v1/incidents'].map((path) => api.as(who, 'GET', path)),
  );
  expect([list!.status, found!.status]).toEqual([403, 403]);
});

test('the time between two faults of one incident is the caller’s choice', async () => {
  await faulty({ name: 'a', at: '03:00:00', rack: 'r3' });
  await faulty({ name: 'b', at: '03:20:00', rack: 'r3' });
  expect(named(await incidents('operator'))).toEqual(['b', 'a']);
  expect(named(await incidents('operator', '?minutes=20'))).toEqual(['a b']);
  for (const minutes of ['0', '1441', 'x', '-1', ''])
    expect((await api.as('operator', 'GET', `/temper/v1/incidents?minutes=${minutes}`)).status).toBe(400);
});

test('of many incidents and of many nodes of one, the first are shown and all are counted', async () => {
  for (let at = 0; at < 21; at += 1) await faulty({ name: `big-${at}`, rack: 'big' });
  for (let at = 0; at < 50; at += 1)
    await faulty({
      name: `one-${at}`,
      rack: `one-${at}`,
      driver: at % 2 ? 'ipmi' : 'fake-hardware',
      conductor_group: `g${at}`,
    });
  await api.sql`insert into nodes (driver) select unnest(array['redfish', 'ipmi', 'fake-hardware']) from generate_series(1, 100)`;
  const body = await incidents('operator');
  expect(body.incidents).toHaveLength(50);
  expect(body.incidents[0]).toMatchObject({ count: 21, nodes: { length: 20 } });
  expect(body).toMatchObject({ faults: 71, complete: false });
});
