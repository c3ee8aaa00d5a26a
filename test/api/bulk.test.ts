/** One change on many nodes: each by the rule and the refusal of a request of its own, under one request id and reason. */
import { randomUUID } from 'node:crypto';
import { createInventory } from '../../src/inventory';
import { addWorker, faultOf, type Reply, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api.close());

let count = 0;
beforeEach(() => void Object.assign(api.runs, { started: [], moved: [], sent: [] }));

type Columns = Readonly<Record<string, unknown>>;
const madeNode = async (columns: Columns = {}): Promise<{ uuid: string; name: string }> => {
  const values = {
    name: `bulk-${++count}`,
    driver: 'fake-hardware',
    provision_state: 'active',
    owner,
    lessee,
    ...columns,
  };
  const [node] = await api.sql<
    { uuid: string; name: string }[]
  >`insert into nodes ${api.sql(values)} returning uuid, name`;
  return node!;
};

const reason = 'rack r3 moves';
type Change = { readonly [key: string]: unknown };
const bulk = (who: Persona, nodes: readonly string[], change: Change, headers = {}) =>
  api.as(who, 'POST', '/temper/v1/nodes/bulk', { body: { nodes, reason, ...change }, headers });
const preview = (who: Persona, nodes: readonly string[], change: Change) =>
  api.as(who, 'POST', '/temper/v1/nodes/bulk/preview', { body: { nodes, reason, ...change } });

const rowsOf = (reply: Reply) =>
  api.sql`select action, verdict, rule, node_uuid, data from audit
    where request_id = ${reply.headers.get('x-openstack-request-id')} order by seq`;

/** The same change by a request for one node. */
const single: Readonly<Record<string, (who: Persona, node: string, value: never) => Promise<Reply>>> = {
  maintenance: (who, node, on: boolean) =>
    api.as(who, on ? 'PUT' : 'DELETE', `/v1/nodes/${node}/maintenance`, on ? { body: { reason } } : {}),
  power: (who, node, target) => api.as(who, 'PUT', `/v1/nodes/${node}/states/power`, { body: { target } }),
  provision: (who, node, target) => api.as(who, 'PUT', `/v1/nodes/${node}/states/provision`, { body: { target } }),
  owner: (who, node, value) => api.as(who, 'PATCH', `/v1/nodes/${node}`, { body: [{ op: 'add', path: '/owner', value }] }),
  lessee: (who, node, value) => api.as(who, 'PATCH', `/v1/nodes/${node}`, { body: [{ op: 'add', path: '/lessee', value }] }),
}; // biome-ignore format: one row for each change

// Before the others: equal refusals of one caller are counted.
test('if every node is refused, the trail has the refusal and no change', async () => {
  const node = await madeNode();
  const reply = await bulk('owner-member', [node.name], { owner: 'project-next' });
  expect(reply.body).toMatchObject({ accepted: 0, refused: 1 });
  expect(await rowsOf(reply)).toMatchObject([
    { action: 'POST /temper/v1/nodes/bulk', verdict: 'refused', rule: 'baremetal:node:update:owner' },
  ]);
});

const people = ['operator', 'system-reader', 'owner-manager', 'owner-reader', 'lessee-manager', 'lessee-member', 'lessee-reader', 'stranger-admin'] as const; // biome-ignore format: one row of people
const asked: readonly (readonly [change: string, value: unknown, columns: Columns])[] = [
  ['maintenance', true, {}],
  ['maintenance', false, { maintenance: true }],
  ['power', 'power off', {}],
  ['power', 'power off', { disable_power_off: true }],
  ['power', 'rebooting', { reservation: randomUUID() }],
  ['provision', 'manage', { provision_state: 'enroll' }],
  ['provision', 'provide', {}],
  ['provision', 'inspect', { provision_state: 'manageable' }],
  ['provision', 'abort', { provision_state: 'clean wait', target_provision_state: 'available' }],
  ['owner', 'project-next', { provision_state: 'available', lessee: null }],
  ['owner', null, {}],
  ['lessee', 'project-next', { lessee: null }],
  ['lessee', null, {}],
];

test.each(asked)('%s %s answers each caller as a request for one node does', async (change, value, columns) => {
  for (const who of people) {
    const [one, other] = [await madeNode(columns), await madeNode(columns)];
    const reply = await single[change]!(who, one.name, value as never);
    const seen = (await preview(who, [other.name], { [change]: value })).body.results[0];
    const { status, body } = await bulk(who, [other.name], { [change]: value });
    expect(status).toBe(200);
    const [result] = body.results;
    expect({ who, ...seen }).toEqual({ who, ...result });
    // In one request nodes are refused by their UUIDs, because names may change hands.
    const plain = (text: string | null, { uuid, name }: typeof one) =>
      text?.replaceAll(uuid, 'X').replaceAll(name, 'X') ?? null;
    expect([who, result.status, plain(result.reason, other)]).toEqual([
      who,
      reply.status,
      reply.status < 300 ? null : plain(faultOf(reply), one),
    ]);
    const [here, there] = await api.sql`
      select maintenance, maintenance_reason, owner, lessee, provision_state from nodes where uuid in ${api.sql([one.uuid, other.uuid])} order by id`;
    expect(there).toEqual(here);
  }
});

test('nodes are accepted and refused one by one, under one request and one reason', async () => {
  const [well, frozen] = [await madeNode(), await madeNode({ disable_power_off: true })];
  const reply = await bulk('owner-manager', [well.name, frozen.uuid], { power: 'power off' });
  expect(reply.body).toMatchObject({ change: 'power', accepted: 1, refused: 1 });
  expect(reply.body.results).toMatchObject([
    { node: well.name, node_uuid: well.uuid, accepted: true, status: 202, code: null, reason: null },
    { node: frozen.uuid, accepted: false, status: 409, code: 'Conflict', rule: null },
  ]);
  expect(api.runs.started.map(({ node, asked }) => [node.uuid, asked.reason])).toEqual([[well.uuid, reason]]);
  const [begun, refused] = await rowsOf(reply);
  const rule = 'baremetal:node:set_power_state';
  expect(begun).toMatchObject({ action: 'node.bulk', verdict: 'granted', rule });
  expect(begun!.data).toEqual({
    change: 'power',
    target: 'power off',
    reason,
    count: 2,
    nodes: [[well.uuid, frozen.uuid]],
  });
  expect(refused).toMatchObject({ action: 'node.bulk.refused', rule });
  expect(refused!.data).toEqual({
    change: 'power',
    accepted: 1,
    refused: [{ code: 'Conflict', rule: null, count: 1, nodes: [frozen.uuid] }],
  });
});

test('every changed node has a row with the request id and the reason', async () => {
  const nodes = [await madeNode(), await madeNode()];
  for (const change of [{ maintenance: true }, { maintenance: false }, { lessee: null }]) {
    const reply = await bulk(
      'operator',
      nodes.map(({ name }) => name),
      change,
    );
    const { request_id } = reply.body;
    expect(request_id).toBe(reply.headers.get('x-openstack-request-id'));
    const { body } = await api.as('system-reader', 'GET', `/temper/v1/audit?request=${request_id}`);
    expect(body.audit).toHaveLength(3);
    for (const { data } of body.audit) expect(JSON.stringify(data)).toContain(reason);
  }
});

test.each<[Change, string, Columns]>([
  [{ maintenance: true }, 'baremetal:node:set_maintenance', {}],
  [{ maintenance: false }, 'baremetal:node:clear_maintenance', { maintenance: true }],
  [{ owner: 'project-next' }, 'baremetal:node:update:owner', { provision_state: 'available', lessee: null }],
  [{ lessee: null }, 'baremetal:node:update:lessee', {}],
])('the row of %j has the rule of the change', async (change, rule, columns) => {
  const reply = await bulk('operator', [(await madeNode(columns)).name], change);
  expect(reply.body.accepted).toBe(1);
  expect((await rowsOf(reply)).find(({ action }) => action === 'node.bulk')).toMatchObject({ rule });
});

test('the trail names every refused node', async () => {
  const well = await madeNode();
  const missing = Array.from({ length: 65 }, () => randomUUID());
  const reply = await bulk('operator', [well.name, ...missing, 'x'.repeat(255)], { maintenance: true });
  const { refused } = (await rowsOf(reply)).find(({ action }) => action === 'node.bulk.refused')!.data;
  expect(refused.map(({ count: many }: { count: number }) => many)).toEqual([30, 30, 6]);
  expect(refused.flatMap(({ nodes }: { nodes: string[] }) => nodes)).toEqual([...missing, `${'x'.repeat(35)}…`]);
});

test('499 refused names of the longest kind are recorded as names, not as a digest', async () => {
  const well = await madeNode();
  const longest = Array.from({ length: 499 }, (_, n) => `${n}`.padEnd(255, '€'));
  const reply = await bulk('operator', [well.name, ...longest], { maintenance: true });
  const { refused } = (await rowsOf(reply)).find(({ action }) => action === 'node.bulk.refused')!.data;
  expect(refused.flatMap(({ nodes }: { nodes: string[] }) => nodes)).toEqual(
    longest.map((name) => `${name.slice(0, 35)}…`),
  );
});

test('if every node is hidden or missing, the trail has the rule that hides, and the names', async () => {
  const [hidden, missing] = [await madeNode({ lessee: null }), randomUUID()];
  const reply = await bulk('stranger-admin', [missing, hidden.name], { power: 'power off' });
  expect(reply.body).toMatchObject({ accepted: 0, refused: 2 });
  const id = reply.headers.get('x-openstack-request-id');
  expect(await api.sql`select verdict, rule, code, resource_id, node_uuid from audit where request_id = ${id}`).toEqual(
    [
      {
        verdict: 'refused',
        rule: 'baremetal:node:get',
        code: 'NodeNotFound',
        resource_id: `${missing} ${hidden.name}`,
        node_uuid: null,
      },
    ],
  );
});

test('a hidden node and a missing one get the same result', async () => {
  const hidden = await madeNode({ lessee: null });
  const missing = randomUUID();
  const { body } = await bulk('lessee-manager', [hidden.uuid, missing, hidden.name, 'bulk-0'], { power: 'power off' });
  const [one, other, named, unnamed] = body.results;
  expect({ ...one, node: 'X', reason: one.reason.replace(hidden.uuid, 'X') }).toEqual({
    ...other,
    node: 'X',
    reason: other.reason.replace(missing, 'X'),
  });
  expect({ ...named, node: 'X', reason: named.reason.replace(hidden.name, 'X') }).toEqual({
    ...unnamed,
    node: 'X',
    reason: unnamed.reason.replace('bulk-0', 'X'),
  });
  expect(one).toMatchObject({ node_uuid: null, status: 404, code: 'NodeNotFound', rule: null });
});

test('a node that is named twice, or by name and UUID, is changed once', async () => {
  const node = await madeNode();
  const { body } = await bulk('operator', [node.name, node.uuid, node.name], { power: 'rebooting' });
  expect(body).toMatchObject({ accepted: 2, results: [{ node: node.name }, { node: node.uuid }] });
  expect(api.runs.started).toHaveLength(1);
});

test('a preview changes nothing and leaves no row', async () => {
  const node = await madeNode();
  const reply = await preview('operator', [node.name], { maintenance: true });
  expect(reply.body).toMatchObject({ accepted: 1, request_id: null });
  expect(await rowsOf(reply)).toEqual([]);
  expect(await api.sql`select maintenance from nodes where uuid = ${node.uuid}`).toEqual([{ maintenance: false }]);
});

test('a node that changes hands after the preview is refused, and nothing is done to it', async () => {
  const node = await madeNode();
  expect((await preview('lessee-manager', [node.uuid], { maintenance: true })).body.accepted).toBe(1);
  await api.sql`update nodes set lessee = null where uuid = ${node.uuid}`;
  const { body } = await bulk('lessee-manager', [node.uuid], { maintenance: true });
  expect(body.results).toMatchObject([{ accepted: false, code: 'NodeNotFound' }]);
  expect(await api.sql`select maintenance from nodes where uuid = ${node.uuid}`).toEqual([{ maintenance: false }]);
});

test('a node that changes hands between the look at its name and its change is refused', async () => {
  const node = await madeNode();
  const { named } = api.inventory.rolloutSelection;
  const spy = jest.spyOn(api.inventory.rolloutSelection, 'named').mockImplementationOnce(async (...asked) => {
    const found = await named(...asked);
    await api.sql`update nodes set lessee = null where uuid = ${node.uuid}`;
    return found;
  });
  const { body } = await bulk('lessee-manager', [node.uuid], { power: 'power off' });
  spy.mockRestore();
  expect(body.results).toMatchObject([{ accepted: false, status: 404, code: 'NodeNotFound' }]);
  expect(api.runs.started).toEqual([]);
});

test.each<[string, unknown]>([
  ['no node', { nodes: [], power: 'rebooting', reason }],
  ['501 nodes', { nodes: Array.from({ length: 501 }, (_, n) => `n${n}`), power: 'rebooting', reason }],
  ['10,000 nodes', { nodes: Array.from({ length: 10_000 }, () => randomUUID()), power: 'rebooting', reason }],
  ['no reason', { nodes: ['n1'], power: 'rebooting' }],
  ['an empty reason', { nodes: ['n1'], power: 'rebooting', reason: '  ' }],
  ['no change', { nodes: ['n1'], reason }],
  ['two changes', { nodes: ['n1'], power: 'rebooting', maintenance: true, reason }],
  ['a verb with steps', { nodes: ['n1'], provision: 'clean', reason }],
  ['a number for a node', { nodes: [1], power: 'rebooting', reason }],
])('%s is refused as a whole', async (_, body) => {
  for (const path of ['/temper/v1/nodes/bulk', '/temper/v1/nodes/bulk/preview'])
    expect((await api.as('operator', 'POST', path, { body })).status).toBe(400);
});

test('half a body is refused as a whole', async () => {
  const raw = '{"nodes": ["bulk-1"], "power": "reboot", "reason": ';
  const headers = { 'content-type': 'application/json' };
  expect((await api.as('operator', 'POST', '/temper/v1/nodes/bulk', { raw, headers })).status).toBe(400);
});

test('a name that is another node’s since the preview changes nothing of that node, if its UUID is sent', async () => {
  const [seen, other] = [await madeNode(), await madeNode()];
  const [{ node_uuid }] = (await preview('operator', [seen.name], { maintenance: true })).body.results;
  await api.sql`update nodes set name = ${`${seen.name}-old`} where uuid = ${seen.uuid}`;
  await api.sql`update nodes set name = ${seen.name} where uuid = ${other.uuid}`;
  expect((await bulk('operator', [node_uuid], { maintenance: true })).body.accepted).toBe(1);
  expect(
    await api.sql`select uuid from nodes where maintenance and uuid in ${api.sql([seen.uuid, other.uuid])}`,
  ).toEqual([{ uuid: seen.uuid }]);
});

test('a name that moves to another node while the request is served does not change that node', async () => {
  const [seen, other] = [await madeNode(), await madeNode()];
  const { named } = api.inventory.rolloutSelection;
  const spy = jest.spyOn(api.inventory.rolloutSelection, 'named').mockImplementationOnce(async (...asked) => {
    const found = await named(...asked);
    await api.sql`update nodes set name = ${`${seen.name}-old`} where uuid = ${seen.uuid}`;
    await api.sql`update nodes set name = ${seen.name} where uuid = ${other.uuid}`;
    return found;
  });
  expect((await bulk('operator', [seen.name], { maintenance: true })).body.accepted).toBe(1);
  spy.mockRestore();
  expect(
    await api.sql`select uuid from nodes where maintenance and uuid in ${api.sql([seen.uuid, other.uuid])}`,
  ).toEqual([{ uuid: seen.uuid }]);
});

test('the row of the request is written before any node is changed', async () => {
  const node = await madeNode();
  const reply = await bulk('operator', [node.name], { maintenance: true });
  const rows = await rowsOf(reply);
  expect(rows.map(({ action }) => action)).toEqual(['node.bulk', 'node.maintenance']);
  expect(rows[0]!.data).toMatchObject({ reason, count: 1, nodes: [[node.uuid]] });
});

test('a caller has one change of many nodes at work and four that wait; others are served', async () => {
  const node = await madeNode();
  const { named } = api.inventory.rolloutSelection;
  let go: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const entered = new Promise<void>((enter) => {
    jest.spyOn(api.inventory.rolloutSelection, 'named').mockImplementationOnce(async (...asked) => {
      enter();
      await gone;
      return named(...asked);
    });
  });
  const ask = () => preview('owner-manager', [node.name], { maintenance: true });
  const first = ask();
  await entered;
  const more = Array.from({ length: 7 }, ask);
  const refused = await Promise.race(more);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  expect((await preview('operator', [node.name], { maintenance: true })).status).toBe(200);
  go();
  const statuses = (await Promise.all([first, ...more])).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  jest.restoreAllMocks();
});

test('runs of a project begin one after the other, so that its quota is counted right', async () => {
  const nodes = await Promise.all(Array.from({ length: 6 }, () => madeNode()));
  let [atOnce, most] = [0, 0];
  const spy = jest.spyOn(api.inventory.nodes, 'find');
  const find = spy.getMockImplementation() ?? createInventory(api.sql).nodes.find;
  spy.mockImplementation(async (ident) => {
    most = Math.max(most, ++atOnce);
    const found = await find(ident);
    atOnce--;
    return found;
  });
  const names = nodes.map(({ name }) => name);
  await bulk('owner-manager', names, { power: 'rebooting' });
  expect(most).toBe(1);
  most = 0;
  await bulk('owner-manager', names, { maintenance: true });
  spy.mockRestore();
  expect(most).toBeGreaterThan(1);
});

test('five hundred nodes are changed', async () => {
  await api.sql`
    insert into nodes (name, driver, provision_state) select 'many-' || n, 'fake-hardware', 'active' from generate_series(1, 500) n`;
  const nodes = Array.from({ length: 500 }, (_, n) => `many-${n + 1}`);
  expect((await bulk('operator', nodes, { maintenance: true })).body.accepted).toBe(500);
  const [row] = await api.sql`select count(*)::int as many from nodes where name like 'many-%' and maintenance`;
  expect(row!.many).toBe(500);
});

describe('with an Idempotency-Key', () => {
  const keyed = (key: string) => ({ 'idempotency-key': key });

  test('a repeat gets the first answer and changes nothing', async () => {
    const [node, key] = [await madeNode(), randomUUID()];
    const first = await bulk('operator', [node.name], { power: 'rebooting' }, keyed(key));
    const again = await bulk('operator', [node.name], { power: 'rebooting' }, keyed(key));
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(api.runs.started).toHaveLength(1);
  });

  test('a request whose nodes are all refused leaves its key free', async () => {
    const [node, key] = [await madeNode({ disable_power_off: true }), randomUUID()];
    const ask = () => bulk('operator', [node.name], { power: 'power off' }, keyed(key));
    expect((await ask()).body.accepted).toBe(0);
    await api.sql`update nodes set disable_power_off = false where uuid = ${node.uuid}`;
    const again = await ask();
    expect([again.body.accepted, again.headers.get('idempotent-replayed')]).toEqual([1, null]);
  });

  test('a request that another one has taken over changes nothing, and is refused as a whole', async () => {
    const [node, key] = [await madeNode(), randomUUID()];
    const { named } = api.inventory.rolloutSelection;
    const spy = jest.spyOn(api.inventory.rolloutSelection, 'named').mockImplementationOnce(async (...asked) => {
      await api.sql`update idempotency set superseded = true where key = ${key}`;
      return named(...asked);
    });
    const reply = await bulk('operator', [node.name], { maintenance: true }, keyed(key));
    spy.mockRestore();
    expect(reply.status).toBe(409);
    expect(await api.sql`select maintenance from nodes where uuid = ${node.uuid}`).toEqual([{ maintenance: false }]);
  });

  test('a repeat does not show a node that has become hidden', async () => {
    const [node, other, key] = [await madeNode(), await madeNode(), randomUUID()];
    const ask = () => bulk('lessee-manager', [node.name, other.name], { maintenance: true }, keyed(key));
    expect((await ask()).body.accepted).toBe(2);
    await api.sql`update nodes set lessee = null where uuid = ${node.uuid}`;
    const again = await ask();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).not.toContain(node.uuid);
    expect(again.body).toMatchObject({
      accepted: 1,
      refused: 1,
      results: [{ node: node.name, node_uuid: null, accepted: false, code: 'NodeNotFound' }, { accepted: true }],
    });
  });

  test('an answer with a failure that may pass is not the last: a repeat does the rest', async () => {
    const [done, open, key] = [await madeNode(), await madeNode(), randomUUID()];
    const { transaction: real, nodes: { setMaintenance } } = api.inventory; // biome-ignore format: one line
    let failures = 0;
    const transaction = jest.spyOn(api.inventory, 'transaction').mockImplementation((work) =>
      real((queries) => {
        const nodes = {
          ...queries.nodes,
          setMaintenance: (...given: Parameters<typeof setMaintenance>) => {
            if (given[0] !== open.uuid || failures++ > 0) return queries.nodes.setMaintenance(...given);
            return Promise.reject(new Error('the disk is full'));
          },
        };
        return work({ ...queries, nodes });
      }),
    );
    const ask = () => bulk('operator', [done.name, open.name], { maintenance: true }, keyed(key));
    const first = await ask();
    const again = await ask();
    transaction.mockRestore();
    expect(first.body.results).toMatchObject([
      { accepted: true },
      { accepted: false, status: 500, code: 'Unexpected' },
    ]);
    expect(again.body).toMatchObject({ accepted: 2, request_id: first.body.request_id });
    const rows = await api.sql`
      select action, node_uuid from audit where request_id = ${first.body.request_id} order by seq`;
    expect(rows.map(({ action }) => action)).toEqual([
      'node.bulk', 'node.maintenance', 'node.bulk.refused', 'node.maintenance',
    ]); // biome-ignore format: one row of actions
    expect(failures).toBe(2);
    expect((await ask()).body).toEqual(again.body);
  });

  test('a repeat of a request whose process died does not change the node that has a name meanwhile', async () => {
    const [seen, other, key] = [await madeNode(), await madeNode(), randomUUID()];
    const id = (await bulk('operator', [seen.name], { maintenance: true }, keyed(key))).body.request_id;
    await api.sql`
      update idempotency set answered_at = null, status = null, headers = null, body = null, lives_until = now() - interval '1 minute'
      where request_id = ${id}`;
    await api.sql`update nodes set name = ${`${seen.name}-old`} where uuid = ${seen.uuid}`;
    await api.sql`update nodes set name = ${seen.name} where uuid = ${other.uuid}`;
    const again = await bulk('operator', [seen.name], { maintenance: true }, keyed(key));
    expect(again.body.results).toMatchObject([{ node: seen.name, accepted: false, code: 'NodeNotFound' }]);
    expect(await api.sql`select maintenance from nodes where uuid = ${other.uuid}`).toEqual([{ maintenance: false }]);
  });

  test('a repeat of a request whose process died half-way changes the other nodes alone', async () => {
    const [done, open, key] = [await madeNode(), await madeNode(), randomUUID()];
    const first = await bulk('operator', [done.name, open.name], { maintenance: true }, keyed(key));
    const id = first.body.request_id;
    // As it was left: the second node is not changed, and no answer is stored.
    await api.sql`alter table audit disable trigger user`;
    await api.sql`update nodes set maintenance = false where uuid = ${open.uuid}`;
    const months =
      await api.sql`select inhrelid::regclass::text as month from pg_inherits where inhparent = 'audit'::regclass`;
    for (const { month } of months) {
      await api.sql.unsafe(`alter table ${month} disable trigger user`);
      await api.sql.unsafe(`delete from ${month} where request_id = '${id}' and node_uuid = '${open.uuid}'`);
      await api.sql.unsafe(`alter table ${month} enable trigger user`);
    }
    await api.sql`alter table audit enable trigger user`;
    await api.sql`
      update idempotency set answered_at = null, status = null, headers = null, body = null, lives_until = now() - interval '1 minute'
      where request_id = ${id}`;
    const again = await bulk('operator', [done.name, open.name], { maintenance: true }, keyed(key));
    expect(again.body).toEqual(first.body);
    const rows =
      await api.sql`select node_uuid, count(*)::int as many from audit where request_id = ${id} group by node_uuid`;
    expect(new Map(rows.map(({ node_uuid, many }) => [node_uuid, many]))).toEqual(
      new Map([[done.uuid, 1], [open.uuid, 1], [null, 1]]),
    ); // biome-ignore format: one row of counts
    expect(await api.sql`select maintenance from nodes where uuid = ${open.uuid}`).toEqual([{ maintenance: true }]);
  });
});
