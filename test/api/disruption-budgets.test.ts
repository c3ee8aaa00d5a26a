/** Disruption budgets on the wire: a project's managers set them, its readers see what they leave, others never learn of them. */
import { randomUUID } from 'node:crypto';
import { until } from '../../demo/nodes';
import { faultOf, type Reply, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
beforeEach(async () => {
  await api.sql`delete from disruption_budgets`;
  await api.sql`delete from nodes`;
});
afterEach(() => api.setPolicy({ set: 'temper' }));

const path = '/temper/v1/disruption-budgets';
const post = (who: Persona, body: object): Promise<Reply> => api.as(who, 'POST', path, { body });
const node = (columns: Record<string, unknown>) =>
  api.sql`insert into nodes ${api.sql({ driver: 'fake-hardware', provision_state: 'active', ...columns } as never)}`;

test('a key that would be lost is refused: without it the query would be for every node', async () => {
  const reply = await api.as('lessee-manager', 'POST', path, {
    raw: '{"max_unavailable":1,"query":{"__proto__":["x"]}}',
  });
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('__proto__')]);
});

test('a budget is made, shown, changed and deleted by a manager, each with an audit row and an event for the project', async () => {
  const made = await post('lessee-manager', { max_unavailable: 2, query: { resource_class: 'gold,silver' } });
  expect([made.status, made.body]).toEqual([
    201,
    expect.objectContaining({
      project: lessee,
      query: { resource_class: ['gold', 'silver'] },
      max_unavailable: 2,
      min_available: null,
    }),
  ]);
  const one = `${path}/${made.body.uuid}`;
  expect(made.headers.get('location')).toBe(`${api.url}${one}`);
  const changed = await api.as('lessee-manager', 'PATCH', one, { body: { min_available: '90%' } });
  expect(changed.body).toMatchObject({ max_unavailable: null, min_available: '90%', query: made.body.query });
  expect((await api.as('lessee-reader', 'GET', path)).body.disruption_budgets).toEqual([changed.body]);
  expect((await api.as('lessee-manager', 'DELETE', one)).status).toBe(204);
  expect((await api.as('lessee-manager', 'GET', one)).status).toBe(404);
  const acts = ['create', 'update', 'delete'];
  const audit = await api.sql`select action, rule from audit where resource_id = ${made.body.uuid} order by seq`;
  expect(audit.map(({ action, rule }) => [action, rule])).toEqual(
    acts.map((act) => [`disruption_budget.${act}`, `temper:disruption_budget:${act}`]),
  );
  const events =
    await api.sql`select kind, project from events where data->>'disruption_budget_uuid' = ${made.body.uuid} order by seq`;
  expect(events.map(({ kind, project }) => [kind, project])).toEqual(
    ['created', 'updated', 'deleted'].map((kind) => [`disruption_budget.${kind}`, lessee]),
  );
});

test('two changes at once of different fields leave both', async () => {
  const { body: made } = await post('lessee-manager', { max_unavailable: 5 });
  const patched = await api.sql.begin(async (tx) => {
    await tx`update disruption_budgets set max_unavailable = '0'`;
    const asked = api.as('lessee-manager', 'PATCH', `${path}/${made.uuid}`, { body: { description: 'none, please' } });
    await until('the change to wait for this one', 60_000, async () => {
      const [waiting] = await tx`
        select 1 from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`;
      return waiting;
    });
    return { asked };
  });
  expect((await patched.asked).body).toMatchObject({ max_unavailable: 0, description: 'none, please' });
});

const texts = (count: number): string[] => Array.from({ length: count }, (_, number) => `t${number}`);

test.each([
  ['a list of texts without end', { resource_class: texts(1_001) }, 'must hold at most 1000 texts in all'],
  ['one in a single text', { resource_class: texts(1_001).join() }, 'must hold at most 1000 texts in all'],
  ['one over several keys', { traits: texts(600), shard: texts(401) }, 'must hold at most 1000 texts in all'],
  ['many keys', Object.fromEntries(texts(21).map((key) => [`properties.${key}`, 'v'])), 'at most 20 keys'],
])('a query that each admission would have to read is refused: %s', async (_, query, reason) => {
  const reply = await post('lessee-manager', { max_unavailable: 1, query });
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(reason)]);
  const { body: made } = await post('lessee-manager', { max_unavailable: 1, query: { resource_class: texts(1_000) } });
  const changed = await api.as('lessee-manager', 'PATCH', `${path}/${made.uuid}`, { body: { query } });
  expect(changed.status).toBe(400);
});

test('it shows how many of the nodes are missing, and how many may still be taken', async () => {
  for (const columns of [{}, { maintenance: true }, { reservation: randomUUID() }, {}, {}])
    await node({ owner, ...columns });
  await node({ owner, lessee, fault: 'power failure' });
  await node({ owner: 'another', maintenance: true });
  expect((await post('owner-manager', { max_unavailable: '50%' })).body).toMatchObject({
    nodes: 6,
    unavailable: 3,
    may_be_taken: 0,
  });
  expect((await post('owner-manager', { min_available: 1 })).body).toMatchObject({ may_be_taken: 2 });
});

test('it counts no node that its reader may not see', async () => {
  await node({ owner, maintenance: true });
  const { body } = await post('owner-manager', { max_unavailable: 5 });
  api.setPolicy({ set: 'temper', overrides: { 'baremetal:node:get': 'role:manager and project_id:%(node.owner)s' } });
  expect((await api.as('owner-reader', 'GET', `${path}/${body.uuid}`)).body).toMatchObject({
    nodes: 0,
    unavailable: 0,
  });
  expect((await api.as('owner-manager', 'GET', `${path}/${body.uuid}`)).body).toMatchObject({
    nodes: 1,
    unavailable: 1,
  });
});

describe('another project', () => {
  test.each(['stranger-admin', 'lessee-admin'] as const)(
    '%s sees none, and a page after one is refused as after nothing',
    async (who) => {
      const { body } = await post('owner-manager', { max_unavailable: 1 });
      expect((await api.as(who, 'GET', path)).body).toEqual({ disruption_budgets: [] });
      const pageAfter = async (marker: string) => {
        const reply = await api.as(who, 'GET', `${path}?marker=${marker}`);
        return [reply.status, reply.text.replaceAll(marker, 'X')];
      };
      expect(await pageAfter(body.uuid)).toEqual(await pageAfter(randomUUID()));
    },
  );

  test('cannot make one for this project', async () => {
    expect((await post('lessee-admin', { project: owner, max_unavailable: 0 })).status).toBe(403);
    expect((await post('operator', { project: owner, max_unavailable: 0 })).status).toBe(403);
  });
});

test('members of the project see it and do not change it; an operator sees it and may delete it', async () => {
  const { body } = await post('owner-manager', { max_unavailable: 1 });
  const one = `${path}/${body.uuid}`;
  expect((await api.as('owner-member', 'GET', one)).status).toBe(200);
  expect((await api.as('owner-member', 'PATCH', one, { body: { max_unavailable: 9 } })).status).toBe(403);
  expect((await api.as('operator', 'PATCH', one, { body: { max_unavailable: 9 } })).status).toBe(403);
  expect((await api.as('operator', 'DELETE', one)).status).toBe(204);
});

test.each([
  [{}, 'max_unavailable or min_available'],
  [{ max_unavailable: 1, min_available: 1 }, 'not both'],
  [{ max_unavailable: -1 }, 'max_unavailable'],
  [{ max_unavailable: '0%' }, 'from 1% to 100%'],
  [{ max_unavailable: '101%' }, 'from 1% to 100%'],
  [{ min_available: 0 }, 'min_available'],
  [{ max_unavailable: 1.5 }, 'max_unavailable'],
  [{ max_unavailable: 1, query: { 'extra.rack': ['x'] } }, 'nothing to choose nodes by'],
  [{ max_unavailable: 1, query: { provision_state: ['active'] } }, 'nothing to choose nodes by'],
  [{ max_unavailable: 1, query: { constructor: ['x'] } }, 'nothing to choose nodes by'],
  [{ max_unavailable: 1, query: { resource_class: [] } }, 'resource_class'],
  [{ max_unavailable: 1, query: { uuid: ['bmc-0'] } }, 'must be UUIDs'],
  [{ max_unavailable: 1, colour: 'red' }, 'colour'],
])('%j is refused', async (body, says) => {
  const reply = await post('owner-manager', body);
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(says)]);
});

test('a project has 50 at most', async () => {
  await api.sql`insert into disruption_budgets (project, max_unavailable) select ${owner}, '1' from generate_series(1, 50)`;
  const reply = await post('owner-manager', { max_unavailable: 1 });
  expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringContaining('delete one first')]);
});
