/** What a lessee wrote ends with its lease, however that ends: on the wire, in the store's rows, and in the vault. */
import { randomUUID } from 'node:crypto';
import { connect } from '../../src/inventory/database';
import { createInventory } from '../../src/inventory/index';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { endRun } from '../../src/runs/ending';
import { type Reply, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
afterEach(() => api.setPolicy({ set: 'temper' }));

/** What no row may hold after the lease; part of each text that the lessee writes. */
const mark = 'of-the-lessee';
const columns = { driver: 'fake-hardware', provision_state: 'available', power_state: 'power off', owner, lessee };

const leasedNode = async (values: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  const [node] = await api.sql<{ uuid: string }[]>`
    insert into nodes ${api.sql({ ...columns, extra: api.sql.json({ rack: '7' }) as never, ...values } as never)} returning uuid`;
  return node!.uuid;
};

const well = async (asked: Promise<Reply>): Promise<Reply> => {
  const reply = await asked;
  if (reply.status >= 300) throw new Error(`${reply.status}: ${reply.text}`);
  return reply;
};
const patch = (who: Persona, path: string, ...ops: readonly (readonly [op: string, path: string, value?: unknown])[]) =>
  well(api.as(who, 'PATCH', path, { body: ops.map(([op, at, value]) => ({ op, path: at, value })) }));
const post = (who: Persona, path: string, body: unknown) => well(api.as(who, 'POST', path, { body }));
const target = (node_uuid: string, name: string, boot_index = 0) => ({
  node_uuid,
  volume_type: 'iscsi',
  volume_id: `volume-${name}`,
  boot_index,
  properties: { target_iqn: `iqn.${name}`, auth_password: `chap-${name}` },
});

/** All that a lessee's manager may write about a node in set `temper`. */
const writesAll = async (node: string): Promise<void> => {
  await patch(
    'lessee-manager',
    `/v1/nodes/${node}`,
    ['add', '/extra/plan', { note: mark }],
    ['add', '/description', mark],
  );
  await patch('lessee-manager', `/v1/nodes/${node}`, ['add', '/instance_info/user_note', mark]);
  await patch('lessee-manager', `/v1/nodes/${node}`, ['add', '/instance_info/service_password', mark]);
  await well(api.as('lessee-manager', 'PUT', `/v1/nodes/${node}/maintenance`, { body: { reason: mark } }));
  await post('lessee-manager', '/v1/volume/targets', target(node, mark));
  const connector = { node_uuid: node, type: 'iqn', connector_id: `iqn.${mark}.${node}`, extra: { note: mark } };
  await post('lessee-manager', '/v1/volume/connectors', connector);
  await post('lessee-manager', `/v1/nodes/${node}/vifs`, { id: `vif-${mark}` });
};

/** Every row of the store that is about the node as it is now; runs, events and the trail are of the past. */
const rowsOf = async (node: string): Promise<string> => {
  const tables = ['ports', 'portgroups', 'volume_connectors', 'volume_targets', 'node_vifs'];
  const found = await Promise.all([
    api.sql`select n::text as row from nodes n where uuid = ${node}`,
    ...tables.map((table) => api.sql`select t::text as row from ${api.sql(table)} t where node_uuid = ${node}`),
  ]);
  return found.flat().map(({ row }) => row as string).join('\n'); // biome-ignore format: one thought
};

/** Secrets of the node and of its volume targets, those that are gone too; `before` are the holders that there were. */
const secretsOf = async (holders: readonly string[]): Promise<number> =>
  (await api.sql`select from secrets where holder_id in ${api.sql([...holders])}`).length;

const holdersOf = async (node: string): Promise<string[]> => [
  node,
  ...(await api.sql`select uuid from volume_targets where node_uuid = ${node}`).map(({ uuid }) => uuid as string),
];

/** The end of a run that tears a node down, written by the role of control workers. */
const tornDown = async (node: string): Promise<void> => {
  const run = randomUUID() as RunUuid;
  await api.sql`
    insert into runs (id, node_uuid, fence, kind, verb, state, input, requester, rule_set, workflow_id)
    values (${run}, ${node}, 1, 'undeploy', 'deleted', 'running', '{}', '{}', 'x', ${run})`;
  await api.sql`
    update nodes set reservation = ${run}, fence = 1, provision_state = 'deleting', target_provision_state = 'available'
    where uuid = ${node}`;
  const inventory = createInventory(connect(api.controlUrl, { max: 2 }));
  try {
    const lock = { run, node_uuid: node as NodeUuid, fence: 1 };
    await inventory.transaction((queries) =>
      endRun(queries, { lock, outcome: 'failed', ends: 'fail', fault: null, error: 'x', cursor: 0, power: null }),
    );
  } finally {
    await inventory.close();
  }
};

const automatic = { driver_internal_info: { automatic_lessee: true } };
const setLessee = (who: Persona, next: string | null) => (node: string) =>
  patch(who, `/v1/nodes/${node}`, next === null ? ['remove', '/lessee'] : ['replace', '/lessee', next]);

/** How a lease ends. */
const endings = {
  'an operator unsets the lessee': [{}, setLessee('operator', null)],
  'an operator names another lessee': [{}, setLessee('operator', stranger)],
  'the owner unsets the lessee': [{}, setLessee('owner-member', null)],
  'the owner names another lessee': [{}, setLessee('owner-member', stranger)],
  'owner and lessee change at once': [
    {},
    (node: string) =>
      patch('operator', `/v1/nodes/${node}`, ['replace', '/owner', stranger], ['replace', '/lessee', stranger]),
  ],
  'a node that got its lessee by its deployment is torn down': [automatic, tornDown],
  'a statement of the database ends it': [{}, (node: string) => api.sql`update nodes set lessee = null where uuid = ${node}`],
} as const satisfies Record<string, readonly [Readonly<Record<string, unknown>>, (node: string) => PromiseLike<unknown>]>; // biome-ignore format: one row each

describe.each(Object.entries(endings))('%s', (_name, [values, ends]) => {
  test('and nothing that the lessee wrote is left', async () => {
    const node = await leasedNode(values);
    await writesAll(node);
    const holders = await holdersOf(node);
    expect(await rowsOf(node)).toContain(mark);
    expect(await secretsOf(holders)).toBe(2);
    await ends(node);
    expect(await rowsOf(node)).not.toContain(mark);
    expect(await secretsOf(holders)).toBe(0);
    const { body } = await api.as('operator', 'GET', `/v1/nodes/${node}`);
    expect(body).toMatchObject({ extra: { rack: '7' }, description: null, instance_info: {}, protected: false });
    expect(body).toMatchObject({ maintenance: true, maintenance_reason: null });
  });

  test('and what owner and operator wrote stays, as it was before the lessee changed it', async () => {
    const reason = { maintenance: true, maintenance_reason: 'of the operator', description: 'of the owner' };
    const node = await leasedNode({ ...values, ...reason });
    await post('operator', '/v1/volume/targets', target(node, 'owner'));
    const [kept] =
      await api.sql`select uuid, properties::text as properties from volume_targets where node_uuid = ${node}`;
    await patch('owner-member', `/v1/nodes/${node}`, ['add', '/extra/asset', 'A-1']);
    await patch(
      'lessee-manager',
      `/v1/nodes/${node}`,
      ['replace', '/extra', { asset: mark }],
      ['add', '/description', mark],
    );
    await patch('lessee-manager', `/v1/nodes/${node}`, ['add', '/extra/asset', `${mark} again`]);
    await patch('lessee-manager', `/v1/nodes/${node}`, ['add', '/extra/mine', mark], ['add', '/extra/theirs', mark]);
    await patch('owner-member', `/v1/nodes/${node}`, ['add', '/extra/theirs', 'the owner wrote it last']);
    await patch('lessee-manager', `/v1/volume/targets/${kept!.uuid}`, [
      'replace',
      '/properties',
      { target_iqn: mark, auth_password: mark },
    ]);
    await ends(node);
    expect(await rowsOf(node)).not.toContain(mark);
    const { body } = await api.as('operator', 'GET', `/v1/nodes/${node}`);
    expect(body.extra).toEqual({ rack: '7', asset: 'A-1', theirs: 'the owner wrote it last' });
    expect([body.description, body.maintenance_reason]).toEqual(['of the owner', 'of the operator']);
    const [after] = await api.sql`select properties::text as properties from volume_targets where uuid = ${kept!.uuid}`;
    expect(after!.properties).toBe(kept!.properties);
    expect(await secretsOf([kept!.uuid])).toBe(1);
  });
});

test('a tenant who leases the same node again finds nothing of its former lease', async () => {
  const node = await leasedNode();
  await writesAll(node);
  await setLessee('operator', null)(node);
  await setLessee('operator', lessee)(node);
  const seen = ['', '/vifs', '/volume/targets', '/volume/connectors'].map((part) =>
    well(api.as('lessee-manager', 'GET', `/v1/nodes/${node}${part}`)),
  );
  for (const { text } of await Promise.all(seen)) expect(text).not.toContain(mark);
});

test('ports and portgroups of a lessee end too, where rules let it write them, and the owner’s ports leave its portgroup', async () => {
  const mine = 'project_id:%(node.lessee)s or role:reader and system_scope:all or project_id:%(node.owner)s';
  const acts = ['port:create', 'port:update', 'portgroup:create'].map((act) => [`baremetal:${act}`, mine]);
  api.setPolicy({ set: 'temper', overrides: Object.fromEntries(acts) });
  const node = await leasedNode({ provision_state: 'manageable' });
  const mac = () =>
    `52:54:00:${randomUUID()
      .slice(0, 6)
      .replace(/(..)(?=.)/g, '$1:')}`;
  const group = await post('lessee-manager', '/v1/portgroups', { node_uuid: node, extra: { note: mark } });
  await post('lessee-manager', '/v1/ports', { node_uuid: node, address: mac(), extra: { note: mark } });
  const own = await post('owner-manager', '/v1/ports', { node_uuid: node, address: mac(), extra: { note: 'owner' } });
  await patch('owner-manager', `/v1/ports/${own.body.uuid}`, ['add', '/portgroup_uuid', group.body.uuid]);
  await patch('lessee-manager', `/v1/ports/${own.body.uuid}`, ['add', '/extra', { note: mark }]);
  await setLessee('owner-manager', null)(node);
  expect(await rowsOf(node)).not.toContain(mark);
  const ports = await api.sql`select uuid, extra, portgroup_uuid from ports where node_uuid = ${node}`;
  expect(ports).toEqual([{ uuid: own.body.uuid, extra: { note: 'owner' }, portgroup_uuid: null }]);
});

test('what is said of an instance stays with it while it is deployed, and goes when it is torn down', async () => {
  const node = await leasedNode({ provision_state: 'active' });
  await patch(
    'lessee-manager',
    `/v1/nodes/${node}`,
    ['add', '/instance_info/user_note', mark],
    ['add', '/extra/a', mark],
  );
  await patch('lessee-manager', `/v1/nodes/${node}`, ['add', '/protected', true], ['add', '/protected_reason', mark]);
  await setLessee('operator', null)(node);
  const { body } = await api.as('operator', 'GET', `/v1/nodes/${node}`);
  expect([body.instance_info, body.extra, body.protected]).toEqual([{ user_note: mark }, { rack: '7' }, false]);
  await tornDown(node);
  expect(await rowsOf(node)).not.toContain(mark);
});

/** An allocation of this project that has been given this node, as a pass gives it. */
const allocatedTo = async (node: string, project: string): Promise<string> => {
  const [{ uuid }] = (await api.sql`
    insert into allocations (name, resource_class, owner, state, node_uuid)
    values (${`a-${randomUUID()}`}, 'x', ${project}, 'active', ${node}) returning uuid`) as unknown as [
    { uuid: string },
  ];
  await api.sql`
    update nodes set instance_uuid = ${uuid}, allocation_uuid = ${uuid}, instance_info = instance_info || '{"traits": ["CUSTOM_X"]}'
    where uuid = ${node}`;
  return uuid;
};

describe('an allocation of the lessee', () => {
  test.each(['available', 'active'])('of a node that is %s ends with the lease', async (provision_state) => {
    const node = await leasedNode({ provision_state, maintenance: true });
    const allocation = await allocatedTo(node, lessee);
    expect((await api.as('lessee-manager', 'GET', `/v1/allocations/${allocation}`)).status).toBe(200);
    await setLessee('operator', stranger)(node);
    const of = (who: Persona, method: string, path = '') => api.as(who, method, `/v1/allocations/${allocation}${path}`);
    expect((await of('lessee-manager', 'GET')).status).toBe(404);
    expect((await of('lessee-manager', 'DELETE')).status).toBe(404);
    const { body } = await api.as('operator', 'GET', `/v1/nodes/${node}`);
    const deployed = provision_state === 'active';
    expect([body.allocation_uuid, body.instance_uuid, body.instance_info]).toEqual(
      deployed ? [null, allocation, { traits: ['CUSTOM_X'] }] : [null, null, {}],
    );
  });

  test('is that of the owner too where the project owns the node, and stays', async () => {
    const node = await leasedNode({ lessee: owner });
    const allocation = await allocatedTo(node, owner);
    await setLessee('operator', stranger)(node);
    expect((await api.as('owner-member', 'GET', `/v1/allocations/${allocation}`)).body.node_uuid).toBe(node);
  });
});

test('a new owner alone ends no lease: the lessee keeps what it wrote, until the lease ends', async () => {
  const node = await leasedNode();
  await writesAll(node);
  await patch('operator', `/v1/nodes/${node}`, ['replace', '/owner', stranger]);
  expect((await api.as('lessee-manager', 'GET', `/v1/nodes/${node}`)).body.description).toBe(mark);
  await setLessee('stranger-admin', null)(node);
  expect(await rowsOf(node)).not.toContain(mark);
});

test('an owner that leases its own node writes as its owner', async () => {
  const node = await leasedNode({ lessee: owner });
  await patch('owner-member', `/v1/nodes/${node}`, ['add', '/description', 'mine'], ['add', '/extra/a', 'b']);
  await setLessee('operator', null)(node);
  const { body } = await api.as('operator', 'GET', `/v1/nodes/${node}`);
  expect([body.description, body.extra]).toEqual(['mine', { rack: '7', a: 'b' }]);
});

test('secrets that an unfinished run was accepted with stay until it has ended', async () => {
  const node = await leasedNode();
  await post('lessee-manager', '/v1/volume/targets', target(node, mark));
  const holders = (await holdersOf(node)).slice(1);
  const [secret] = await api.sql`select id from secrets where holder_id in ${api.sql(holders)}`;
  const run = randomUUID();
  await api.sql`
    insert into runs (id, node_uuid, fence, kind, verb, state, input, requester, rule_set, workflow_id)
    values (${run}, ${node}, 1, 'clean', 'clean', 'running', ${api.sql.json({ $secret: secret!.id })}, '{}', 'x', ${run})`;
  await setLessee('operator', null)(node);
  expect(await secretsOf(holders)).toBe(1);
  await api.sql`update runs set state = 'succeeded', finished_at = now() where id = ${run}`;
  const inventory = createInventory(connect(api.controlUrl, { max: 1 }));
  await inventory.secrets.sweep().finally(() => inventory.close());
  expect(await secretsOf(holders)).toBe(0);
});
