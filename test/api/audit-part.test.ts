/** The audit trail by the name of a node, by day and as CSV, and the part of it that tenants read. */
import { startTestApi, type TestApi } from '../support/api';
import { runningRun } from '../support/happenings';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
let node: string;

type Row = {
  readonly at: string;
  readonly action: string;
  readonly by?: string;
  readonly verdict?: string;
  readonly owned?: string;
  readonly data?: object;
  readonly run?: string;
};
const addRow = ({ at, action, by = owner, verdict = 'granted', owned = owner, data = {}, run }: Row) => api.sql`
  insert into audit (at, requester, origin, action, verdict, resource, resource_id, node_uuid, project, run_id, data)
  values (${at}, ${api.sql.json({ user_id: `u-${by}`, user_name: `u-${by}`, project_id: by, system_scope: null, strategy: 'keystone', request_id: `req-${action}` })},
    ${api.sql.json({ address: '192.0.2.9', project_name: by, roles: ['member'] })}, ${action}, ${verdict}, 'node', ${node}, ${node}, ${owned}, ${run ?? null}, ${api.sql.json(data as never)})`;

// Owned by another project in February; leased by two projects in March, one after the other. The second one has it still.
const history: readonly Row[] = [
  { at: '2026-02-10T12:00:00Z', action: 'first-owner', by: 'project-first', owned: 'project-first' },
  { at: '2026-02-20T00:00:00Z', action: 'sold', by: 'project-first', data: { reason: 'we need the money' } },
  { at: '2026-03-02T00:00:00Z', action: 'lease-begins' },
  { at: '2026-03-05T23:59:59.999Z', action: 'first-lease', by: lessee, data: { reason: 'disk swap' } },
  { at: '2026-03-06T00:00:00Z', action: 'refused-stranger', by: stranger, verdict: 'refused' },
  { at: '2026-03-10T00:00:00Z', action: 'between' },
  { at: '2026-03-20T00:00:00Z', action: 'hand-over', data: { reason: 'lessee does not pay', changed: { lessee: stranger } } },
  { at: '2026-03-21T00:00:00Z', action: 'in-lease', data: { reason: 'a fan', changed: { driver_info: { a: 1 } }, secret: 'x' } },
  { at: '2026-03-22T00:00:00Z', action: 'refused-former', by: lessee, verdict: 'refused' },
  { at: '2026-03-23T00:00:00Z', action: 'refused-own', by: stranger, verdict: 'refused' },
  { at: '2026-03-25T00:00:00Z', action: 'own', by: stranger },
]; // biome-ignore format: one row of history on each line

const runsAction = 'ends-run-of-first-lease';

beforeAll(async () => {
  api = await startTestApi();
  const { node: made, run } = await runningRun(api);
  node = made;
  await api.sql`update nodes set name = 'bmc-14' where uuid = ${node}`;
  await api.sql`update nodes set lessee = ${stranger} where uuid = ${node}`;
  await api.sql`update nodes set owner_since = '2026-02-20', lessee_since = '2026-03-20' where uuid = ${node}`;
  for (const month of ['2026-02-01', '2026-03-01']) await api.sql`select audit_make_month(${month}::timestamp)`;
  for (const row of history) await addRow(row);
  await addRow({ at: '2026-03-24T00:00:00Z', action: runsAction, run });
});
afterAll(() => api?.close());

const read = (who: Persona, query: string, headers = {}) =>
  api.as(who, 'GET', `/temper/v1/audit?${query}`, { headers });
const march = 'since=2026-02-01&until=2026-03-31';
const actions = async (who: Persona, query: string): Promise<string[]> => {
  const { status, body } = await read(who, query);
  expect(status).toBe(200);
  return body.audit.map(({ action }: { action: string }) => action);
};

describe('readers of the system', () => {
  test('name a node, and read its rows with its name', async () => {
    const { body } = await read('system-reader', `node=bmc-14&${march}`);
    expect(body.audit).toHaveLength(history.length + 1);
    expect(body.audit[0]).toMatchObject({
      node_uuid: node,
      node_name: 'bmc-14',
      who: { project_name: stranger, roles: ['member'] },
    });
    expect((await read('system-reader', `node=${node}&${march}`)).body).toEqual(body);
  });

  test('name a day, which is included to its end', async () => {
    expect(await actions('system-reader', `node=${node}&since=2026-03-05&until=2026-03-05`)).toEqual(['first-lease']);
    expect(
      await actions('system-reader', `node=${node}&since=2026-03-05T00:00:00Z&until=2026-03-06T00:00:00Z`),
    ).toEqual(['first-lease']);
  });

  test('page through days', async () => {
    const seen: string[] = [];
    let next: string | undefined = `/temper/v1/audit?node=bmc-14&${march}&limit=3`;
    while (next !== undefined) {
      const { body } = await api.as('system-reader', 'GET', next);
      seen.push(...body.audit.map(({ action }: { action: string }) => action));
      next = body.next?.slice(api.url.length);
    }
    expect(seen).toEqual(
      history
        .map(({ action }) => action)
        .toSpliced(-1, 0, runsAction)
        .reverse(),
    );
  });

  test('get a node that is missing as such by its name, and no rows by its UUID', async () => {
    expect((await read('system-reader', 'node=no-such-node')).status).toBe(404);
    expect(await actions('system-reader', 'node=00000000-0000-4000-8000-00000000dead')).toEqual([]);
  });

  test.each(['since=yesterday', 'until=2026-13-01', 'node=a%20b', 'since=2026-03-05T00:00:00'])(
    '%s is refused',
    async (query) => {
      expect((await read('system-reader', query)).status).toBe(400);
    },
  );

  test('get CSV if they accept that, with the next page in a header', async () => {
    const { text, headers } = await read('system-reader', `node=bmc-14&${march}&limit=1`, { accept: 'text/csv' });
    const [head, row, end] = text.split('\r\n');
    expect(head).toBe(
      'seq,at,user_id,user_name,user_project,user_project_name,roles,system_scope,strategy,address,forwarded_for,action,verdict,rule,rule_set,code,resource,resource_id,node_uuid,node_name,project,run_uuid,request_id,global_request_id,times,data',
    );
    expect(row).toMatch(
      /^\d+,2026-03-25T00:00:00\.000Z,u-project-stranger,u-project-stranger,project-stranger,project-stranger,member,/,
    );
    expect(row).toContain(`,${node},bmc-14,${owner},,req-own,,1,{}`);
    expect(end).toBe('');
    expect(headers.get('link')).toMatch(/marker=\d+>; rel="next"$/);
  });
});

describe('tenants', () => {
  const missing = '00000000-0000-4000-8000-00000000dead';
  const seqOf = async (action: string): Promise<number> =>
    (await read('system-reader', `node=${node}&${march}&action=${action}`)).body.audit[0].seq;

  test('a lessee reads its present lease, and nothing of the hand-over, of former tenants and of their runs', async () => {
    expect(await actions('stranger-admin', `node=bmc-14&${march}`)).toEqual(['own', 'refused-own', 'in-lease']);
    const { text } = await read('stranger-admin', `node=${node}&${march}`);
    expect(text).not.toMatch(/does not pay|disk swap/);
  });

  test('an owner reads the time since it became the owner', async () => {
    expect(await actions('owner-reader', `node=bmc-14&${march}`)).toEqual([
      'own', runsAction, 'in-lease', 'hand-over', 'between', 'first-lease', 'lease-begins',
    ]); // biome-ignore format: one row of actions
  });

  test('an upgraded database knows a lease by its beginning', async () => {
    await api.sql`update leases set started_at = '2026-03-23T12:00:00Z' where node_uuid = ${node} and ended_at is null`;
    await api.sql`update nodes set lessee_since = null where uuid = ${node}`;
    expect(await actions('stranger-admin', `node=bmc-14&${march}`)).toEqual(['own']);
    await api.sql`update nodes set lessee_since = '2026-03-20' where uuid = ${node}`;
  });

  test('read no address and no values of others, but their reasons and the names of fields', async () => {
    const { body } = await read('stranger-admin', `node=${node}&${march}&action=in-lease`);
    const [row] = body.audit;
    expect(row).toMatchObject({
      address: null,
      forwarded_for: null,
      who: { user_name: `u-${owner}`, project_name: null, roles: [] },
    });
    expect(row.data).toEqual({ reason: 'a fan', changed: ['driver_info'] });
    expect(row.node_name).toBe('bmc-14');
    const own = await read('stranger-admin', `node=${node}&${march}&action=refused-own`);
    expect(own.body.audit[0]).toMatchObject({ address: '192.0.2.9', who: { project_name: stranger } });
  });

  test.each<Persona>(['lessee-reader', 'lessee-manager', 'demo-reader' as Persona])(
    '%s, who has the node no longer or never had it, gets the answer for a missing one, also by filters and markers',
    async (who) => {
      const seq = await seqOf('first-lease');
      for (const more of [
        '',
        `&${march}`,
        `&marker=${seq}`,
        '&verdict=refused',
        `&project=${owner}`,
        `&user=u-${lessee}`,
      ]) {
        const [hidden, none] = [await read(who, `node=${node}${more}`), await read(who, `node=${missing}${more}`)];
        expect([hidden.status, hidden.text.replaceAll(node, 'X')]).toEqual([404, none.text.replaceAll(missing, 'X')]);
      }
      const [named, unnamed] = [await read(who, 'node=bmc-14'), await read(who, 'node=bmc-99')];
      expect([named.status, named.text.replace('bmc-14', 'X')]).toEqual([404, unnamed.text.replace('bmc-99', 'X')]);
    },
  );

  test('take only rows of their part for markers', async () => {
    const marker = await seqOf('first-lease');
    expect((await read('stranger-admin', `node=${node}&${march}&marker=${marker}`)).status).toBe(404);
    const own = await seqOf('refused-own');
    expect(await actions('stranger-admin', `node=${node}&${march}&marker=${own}`)).toEqual(['in-lease']);
  });

  test('filter by person and project within their part', async () => {
    for (const filter of [`user=u-${owner}`, `project=${owner}&action=in-lease`])
      expect(await actions('stranger-admin', `node=${node}&${march}&${filter}`)).toEqual(['in-lease']);
    expect(await actions('stranger-admin', `node=${node}&${march}&user=u-${lessee}`)).toEqual([]);
  });

  test('need a node, because the whole trail has a rule of its own', async () => {
    const reply = await read('owner-admin', march);
    expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('temper:audit:get')]);
  });

  test('in set ironic read nothing of it', async () => {
    api.setPolicy({ set: 'ironic' });
    const reply = await read('owner-admin', 'node=bmc-14');
    api.setPolicy({ set: 'temper' });
    expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('temper:node:audit:get')]);
  });

  test('leave a row when they read, with the rule that admitted them', async () => {
    const reply = await read('owner-reader', 'node=bmc-14');
    const id = reply.headers.get('x-openstack-request-id');
    expect(await api.sql`select action, rule from audit where request_id = ${id}`).toEqual([
      { action: 'audit.read', rule: 'temper:node:audit:get' },
    ]);
  });
});

test('a hand-over through the API leaves the former lessee nothing, and its reason is not told to the next one', async () => {
  await api.sql`
    insert into nodes (name, driver, provision_state, owner, lessee)
    values ('bmc-15', 'fake-hardware', 'active', ${owner}, ${lessee})`;
  const change = (who: Persona, value: number) =>
    api.as(who, 'PATCH', '/v1/nodes/bmc-15', { body: [{ op: 'add', path: '/extra/a', value }] });
  expect((await change('owner-manager', 1)).status).toBe(200);
  expect(await actions('lessee-reader', 'node=bmc-15')).toEqual(['node.update']);
  const body = { nodes: ['bmc-15'], lessee: stranger, reason: 'lessee does not pay' };
  expect((await api.as('operator', 'POST', '/temper/v1/nodes/bulk', { body })).body).toMatchObject({ accepted: 1 });
  expect((await read('lessee-reader', 'node=bmc-15')).status).toBe(404);
  expect(await actions('stranger-admin', 'node=bmc-15')).toEqual([]);
  expect((await change('owner-manager', 2)).status).toBe(200);
  expect(await actions('stranger-admin', 'node=bmc-15')).toEqual(['node.update']);
  expect(await actions('owner-reader', 'node=bmc-15')).toEqual(['node.update', 'node.update', 'node.update']);
  for (const path of ['/temper/v1/events?node=bmc-15', '/v1/nodes/bmc-15/history', '/v1/nodes/bmc-15'])
    expect((await api.as('stranger-admin', 'GET', path)).text).not.toContain('does not pay');
});

test('a node that is made again under a UUID shows its owner nothing of the first one', async () => {
  const uuid = '00000000-0000-4000-8000-0000000000aa';
  const body = { uuid, name: 'bmc-16', driver: 'fake-hardware' };
  for (const project of ['project-first', owner]) {
    expect((await api.as('operator', 'POST', '/v1/nodes', { body: { ...body, owner: project } })).status).toBe(201);
    if (project !== owner) expect((await api.as('operator', 'DELETE', `/v1/nodes/${uuid}`)).status).toBe(204);
  }
  expect(await actions('system-reader', 'node=bmc-16')).toEqual(['node.create', 'node.delete', 'node.create']);
  expect(await actions('owner-reader', 'node=bmc-16')).toEqual(['node.create']);
});

test('a row has what a change replaced, and the roles of who made it', async () => {
  await api.sql`insert into nodes (name, driver, owner, description) values ('bmc-17', 'fake-hardware', ${owner}, 'old')`;
  const patch = [{ op: 'add', path: '/description', value: 'new' }];
  await api.as('owner-manager', 'PATCH', '/v1/nodes/bmc-17', { body: patch });
  await api.as('owner-manager', 'PUT', '/v1/nodes/bmc-17/maintenance', { body: { reason: 'a fan' } });
  const { body } = await read('system-reader', 'node=bmc-17');
  expect(body.audit).toMatchObject([
    { data: { maintenance: true, maintenance_reason: 'a fan', before: { maintenance: false, maintenance_reason: null } } },
    { who: { roles: expect.arrayContaining(['manager']) }, data: { changed: { description: 'new' }, before: { description: 'old' } } },
  ]);
  const seen = await read('owner-reader', 'node=bmc-17');
  expect(seen.body.audit.map(({ data }: { data: unknown }) => data)).toEqual([{ reason: 'a fan' }, { changed: ['description'] }]);
}); // biome-ignore format: one row of the trail on each line
