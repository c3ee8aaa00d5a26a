/** The audit trail by the name of a node, by day and as CSV, and the part of it that tenants read. */
import { startTestApi, type TestApi } from '../support/api';
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
};
const addRow = ({ at, action, by = owner, verdict = 'granted', owned = owner, data = {} }: Row) => api.sql`
  insert into audit (at, requester, origin, action, verdict, resource, resource_id, node_uuid, project, data)
  values (${at}, ${api.sql.json({ user_id: `u-${by}`, user_name: `u-${by}`, project_id: by, system_scope: null, strategy: 'keystone', request_id: `req-${action}` })},
    ${api.sql.json({ address: '192.0.2.9', project_name: by })}, ${action}, ${verdict}, 'node', ${node}, ${node}, ${owned}, ${api.sql.json(data as never)})`;

// Owned by another project in February; leased by two projects in March, one after the other.
const history: readonly Row[] = [
  { at: '2026-02-10T12:00:00Z', action: 'first-owner', by: 'project-first', owned: 'project-first' },
  { at: '2026-03-02T00:00:00Z', action: 'lease-begins' },
  { at: '2026-03-05T23:59:59.999Z', action: 'in-lease', data: { reason: 'disk swap', changed: { driver_info: { a: 1 } }, secret: 'x' } },
  { at: '2026-03-06T00:00:00Z', action: 'refused-stranger', by: stranger, verdict: 'refused' },
  { at: '2026-03-07T00:00:00Z', action: 'refused-own', by: lessee, verdict: 'refused' },
  { at: '2026-03-10T00:00:00Z', action: 'lease-ends' },
  { at: '2026-03-15T00:00:00Z', action: 'between' },
  { at: '2026-03-25T00:00:00Z', action: 'next-lease', by: stranger },
]; // biome-ignore format: one row of history on each line

beforeAll(async () => {
  api = await startTestApi();
  const [made] = await api.sql<{ uuid: string }[]>`
    insert into nodes (name, driver, owner) values ('bmc-14', 'fake-hardware', ${owner}) returning uuid`;
  node = made!.uuid;
  await api.sql`
    insert into leases (node_uuid, project, started_at, ended_at) values
      (${node}, ${lessee}, '2026-03-02T00:00:00Z', '2026-03-10T00:00:00Z'),
      (${node}, ${stranger}, '2026-03-20T00:00:00Z', '2026-04-01T00:00:00Z')`;
  for (const month of ['2026-02-01', '2026-03-01']) await api.sql`select audit_make_month(${month}::timestamp)`;
  for (const row of history) await addRow(row);
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
    expect(body.audit).toHaveLength(history.length);
    expect(body.audit[0]).toMatchObject({ node_uuid: node, node_name: 'bmc-14', who: { project_name: stranger } });
    expect((await read('system-reader', `node=${node}&${march}`)).body).toEqual(body);
  });

  test('name a day, which is included to its end', async () => {
    expect(await actions('system-reader', `node=${node}&since=2026-03-05&until=2026-03-05`)).toEqual(['in-lease']);
    expect(
      await actions('system-reader', `node=${node}&since=2026-03-05T00:00:00Z&until=2026-03-06T00:00:00Z`),
    ).toEqual(['in-lease']);
  });

  test('page through days', async () => {
    const seen: string[] = [];
    let next: string | undefined = `/temper/v1/audit?node=bmc-14&${march}&limit=3`;
    while (next !== undefined) {
      const { body } = await api.as('system-reader', 'GET', next);
      seen.push(...body.audit.map(({ action }: { action: string }) => action));
      next = body.next?.slice(api.url.length);
    }
    expect(seen).toEqual(history.map(({ action }) => action).reverse());
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
      'seq,at,user_id,user_name,user_project,user_project_name,system_scope,strategy,address,forwarded_for,action,verdict,rule,rule_set,code,resource,resource_id,node_uuid,node_name,project,run_uuid,request_id,global_request_id,times,data',
    );
    expect(row).toMatch(/^\d+,2026-03-25T00:00:00\.000Z,u-project-stranger,u-project-stranger,project-stranger,/);
    expect(row).toContain(`,${node},bmc-14,${owner},,req-next-lease,,1,{}`);
    expect(end).toBe('');
    expect(headers.get('link')).toMatch(/marker=\d+>; rel="next"$/);
  });
});

describe('tenants', () => {
  test('a former lessee reads its own time, and of refused requests its own', async () => {
    expect(await actions('lessee-reader', `node=${node}&${march}`)).toEqual([
      'refused-own',
      'in-lease',
      'lease-begins',
    ]);
    expect(await actions('stranger-admin', `node=${node}&${march}`)).toEqual(['next-lease']);
  });

  test('an owner reads the time in which the node was its own', async () => {
    expect(await actions('owner-reader', `node=bmc-14&${march}`)).toEqual([
      'next-lease', 'between', 'lease-ends', 'in-lease', 'lease-begins',
    ]); // biome-ignore format: one row of actions
  });

  test('read no address and no values of others, but their reasons and the names of fields', async () => {
    const { body } = await read('lessee-reader', `node=${node}&${march}&action=in-lease`);
    const [row] = body.audit;
    expect(row).toMatchObject({
      address: null,
      forwarded_for: null,
      who: { user_name: `u-${owner}`, project_name: null },
    });
    expect(row.data).toEqual({ reason: 'disk swap', changed: ['driver_info'] });
    expect(row.node_name).toBeNull();
    const own = await read('lessee-reader', `node=${node}&${march}&action=refused-own`);
    expect(own.body.audit[0]).toMatchObject({ address: '192.0.2.9', who: { project_name: lessee } });
  });

  test('a project that never had the node gets the answer for a missing one, also by filters and markers', async () => {
    const missing = '00000000-0000-4000-8000-00000000dead';
    const [{ seq }] = (await read('system-reader', `node=${node}&${march}&action=between`)).body.audit;
    const demo = 'demo-reader' as Persona;
    for (const more of ['', `&${march}`, `&marker=${seq}`, '&verdict=refused', `&project=${owner}`]) {
      const [hidden, none] = [await read(demo, `node=${node}${more}`), await read(demo, `node=${missing}${more}`)];
      expect([hidden.status, hidden.text.replaceAll(node, 'X')]).toEqual([404, none.text.replaceAll(missing, 'X')]);
    }
    const [named, unnamed] = [await read(demo, 'node=bmc-14'), await read(demo, 'node=bmc-99')];
    expect([named.status, named.text.replace('bmc-14', 'X')]).toEqual([404, unnamed.text.replace('bmc-99', 'X')]);
  });

  test('a former lessee does not find the node by its present name, nor the rows of others as markers', async () => {
    expect((await read('lessee-reader', 'node=bmc-14')).status).toBe(404);
    const [{ seq }] = (await read('system-reader', `node=${node}&${march}&action=between`)).body.audit;
    expect((await read('lessee-reader', `node=${node}&${march}&marker=${seq}`)).status).toBe(404);
    const [, { seq: own }] = (await read('lessee-reader', `node=${node}&${march}`)).body.audit;
    expect(await actions('lessee-reader', `node=${node}&${march}&marker=${own}`)).toEqual(['lease-begins']);
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

test('a lessee reads what is done in its lease, and nothing more of it once the lease has ended', async () => {
  const [made] = await api.sql<{ uuid: string }[]>`
    insert into nodes (name, driver, provision_state, owner, lessee)
    values ('bmc-15', 'fake-hardware', 'active', ${owner}, ${lessee}) returning uuid`;
  const change = (who: Persona, value: number) =>
    api.as(who, 'PATCH', '/v1/nodes/bmc-15', { body: [{ op: 'add', path: '/extra/a', value }] });
  expect((await change('owner-manager', 1)).status).toBe(200);
  expect(await actions('lessee-reader', 'node=bmc-15')).toEqual(['node.update']);
  await api.sql`update nodes set lessee = null where name = 'bmc-15'`;
  expect((await change('owner-manager', 2)).status).toBe(200);
  expect(await actions('lessee-reader', `node=${made!.uuid}`)).toEqual(['node.update']);
  expect(await actions('owner-reader', 'node=bmc-15')).toEqual(['node.update', 'node.update']);
});
