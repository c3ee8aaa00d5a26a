/** Search: by each field, in any case, a few of each kind, and never more than the caller's lists show. */
import { startTestApi, type TestApi } from '../support/api';
import { runningRun, type SeenRun } from '../support/happenings';
import { rolloutOf } from '../support/rule-world';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
let seen: SeenRun;
let rollout: string;
let runbook: string;
beforeAll(async () => {
  api = await startTestApi();
  seen = await runningRun(api, { state: 'parked' });
  const properties = { serial_number: 'ZX-0042', rack: 'Row7-R3' };
  await api.sql`update nodes set name = 'Web_01', properties = ${api.sql.json(properties)}, owner = ${owner}, lessee = ${lessee} where uuid = ${seen.node}`;
  await api.sql`insert into ports (node_uuid, address) values (${seen.node}, '52:54:00:aa:bb:cc')`;
  rollout = await rolloutOf(api, seen.node, 'running');
  await api.sql`update rollouts set name = 'Firmware 7' where id = ${rollout}`;
  await api.sql`update rollout_targets set owner = ${owner}, lessee = ${lessee} where rollout = ${rollout}`;
  const made = await api.sql`
    insert into runbooks (name, steps, owner) values ('CUSTOM_FW7', '[]', ${owner}) returning uuid`;
  runbook = made[0]!.uuid;
});
afterAll(() => api?.close());

const search = async (who: Persona, q: string) => {
  const { status, body } = await api.as(who, 'GET', `/temper/v1/search?${new URLSearchParams({ q })}`);
  expect(status).toBe(200);
  return body;
};
const nothing = { nodes: [], runs: [], rollouts: [], runbooks: [], projects: [], more: [] };

test.each([
  ['web', 'name', 'Web_01'],
  ['WEB_0', 'name', 'Web_01'],
  ['zx-00', 'serial_number', 'ZX-0042'],
  ['row7', 'rack', 'Row7-R3'],
  ['52:54:00:AA', 'address', '52:54:00:aa:bb:cc'],
  ['525400aabbcc', 'address', '52:54:00:aa:bb:cc'],
])('a node is found by %s', async (q, matched, value) => {
  expect(await search('operator', q)).toEqual({
    ...nothing,
    nodes: [expect.objectContaining({ uuid: seen.node, name: 'Web_01', matched, value, owner, lessee })],
  });
});

test('a node is found by its UUID, a run, a rollout and a runbook by theirs, and the last two by name', async () => {
  const uuids = async (q: string, kind: string) =>
    (await search('operator', q))[kind].map(({ uuid }: { uuid: string }) => uuid);
  for (const q of [seen.node, seen.node.slice(0, 13)]) expect(await uuids(q, 'nodes')).toEqual([seen.node]);
  for (const q of [seen.run, seen.run.slice(0, 13)]) expect(await uuids(q, 'runs')).toEqual([seen.run]);
  for (const q of [rollout.slice(0, 13), 'firmw']) expect(await uuids(q, 'rollouts')).toEqual([rollout]);
  for (const q of [runbook.slice(0, 13), 'custom_fw']) expect(await uuids(q, 'runbooks')).toEqual([runbook]);
});

test('wildcards of SQL and what lies in the middle find nothing', async () => {
  for (const q of ['%eb', 'W_b', 'eb_01', '0042', "web' or '1", 'web\\'])
    expect(await search('operator', q)).toEqual(nothing);
});

const everything = () => [
  'web',
  'zx-0042',
  'row7',
  '52:54:00:aa',
  seen.node,
  seen.run,
  rollout,
  'firmware',
  runbook,
  'custom_fw7',
  owner,
  lessee,
];

test.each<Persona>(['stranger-admin', 'stranger-roleless' as Persona])(
  '%s finds none of it, as if it were missing',
  async (who) => {
    for (const q of everything()) expect(await search(who, q)).toEqual(nothing);
  },
);

test('a lessee finds its node, its run and that a rollout works on it, and neither the name of the rollout nor a runbook of others', async () => {
  for (const q of ['web', 'zx-0042', 'row7', '52:54:00:aa', seen.node])
    expect((await search('lessee-reader', q)).nodes).toHaveLength(1);
  expect((await search('lessee-reader', rollout)).rollouts).toEqual([
    expect.objectContaining({ uuid: rollout, name: null }),
  ]);
  for (const q of ['firmware', runbook, 'custom_fw7']) expect(await search('lessee-reader', q)).toEqual(nothing);
});

test('what the project had is hidden from it with the end of its lease', async () => {
  await api.sql`update nodes set lessee = ${stranger} where uuid = ${seen.node}`;
  try {
    for (const q of everything().filter((one) => one !== lessee))
      expect(await search('lessee-admin', q)).toEqual(nothing);
    expect((await search('lessee-admin', lessee)).projects).toEqual([{ id: lessee, name: lessee }]);
  } finally {
    await api.sql`update nodes set lessee = ${lessee} where uuid = ${seen.node}`;
  }
});

test('a port that the policy hides is no way to its node', async () => {
  api.setPolicy({ set: 'temper', overrides: { 'baremetal:port:get': 'role:admin and system_scope:all' } });
  try {
    expect((await search('owner-reader', '52:54:00:aa')).nodes).toEqual([]);
    expect((await search('owner-reader', 'web')).nodes).toHaveLength(1);
    expect((await search('operator', '52:54:00:aa')).nodes).toHaveLength(1);
  } finally {
    api.setPolicy({ set: 'temper' });
  }
});

test('a caller finds its own project by a beginning, and another one by its whole id if a visible node is of it', async () => {
  expect((await search('lessee-reader', 'project-l')).projects).toEqual([{ id: lessee, name: lessee }]);
  expect((await search('lessee-reader', owner)).projects).toEqual([{ id: owner, name: null }]);
  expect((await search('operator', owner)).projects).toEqual([{ id: owner, name: null }]);
  expect((await search('operator', owner.slice(0, -1))).projects).toEqual([]);
  expect((await search('stranger-admin', owner)).projects).toEqual([]);
});

test('of many there are ten, in the order of their names, and it is said that there are more', async () => {
  const rows = Array.from({ length: 12 }, (_, at) => ({
    driver: 'fake-hardware',
    name: `many-${String(at).padStart(2, '0')}`,
  }));
  await api.sql`insert into nodes ${api.sql(rows)}`;
  const { nodes, more } = await search('operator', 'MANY-');
  expect(nodes.map(({ name }: { name: string }) => name)).toEqual(rows.slice(0, 10).map(({ name }) => name));
  expect(more).toEqual(['nodes']);
  expect((await search('operator', 'many-0')).more).toEqual([]);
  await api.sql`delete from nodes where name like 'many-%'`;
});

test('a node that is found by several fields is one, by the first of them', async () => {
  await api.sql`insert into nodes (driver, name, properties) values ('fake-hardware', 'same-1', '{"serial_number": "same-1", "rack": "same"}')`;
  expect((await search('operator', 'same')).nodes).toEqual([
    expect.objectContaining({ name: 'same-1', matched: 'name' }),
  ]);
  await api.sql`delete from nodes where name = 'same-1'`;
});

test.each(['', 'a', '%20%20a%20', `${'a'.repeat(256)}`, 'a%00b'])('q=%s is refused', async (q) => {
  expect((await api.as('operator', 'GET', `/temper/v1/search?q=${q}`)).status).toBe(400);
});

test('without q the request is refused, and a long serial number keeps no node out', async () => {
  expect((await api.as('operator', 'GET', '/temper/v1/search')).status).toBe(400);
  const serial_number = Array.from({ length: 5_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('');
  const body = { driver: 'fake-hardware', properties: { serial_number } };
  expect((await api.as('operator', 'POST', '/v1/nodes', { body })).status).toBe(201);
  expect((await search('operator', serial_number.slice(0, 20))).nodes).toHaveLength(1);
});
