/** Usage: how long a project has leased nodes within a month, for its readers alone, also of nodes that are gone. */
import { startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
const day = 24 * 3600;
let node: string;
beforeAll(async () => {
  api = await startTestApi();
  const made = await api.sql`
    insert into nodes (driver, name, resource_class, owner, lessee) values ('fake-hardware', 'n1', 'gold', ${owner}, ${lessee}) returning uuid`;
  node = made[0]!.uuid;
  await api.sql`update leases set started_at = '2026-02-27T00:00:00Z', ended_at = '2026-03-03T00:00:00Z'`;
  await api.sql`
    insert into leases (node_uuid, project, node_name, started_at, ended_at) values
      (${node}, ${lessee}, 'n1-renamed', '2026-03-10T00:00:00Z', '2026-03-11T12:00:00Z'),
      (${node}, ${stranger}, 'n1', '2026-03-20T00:00:00Z', '2026-04-20T00:00:00Z')`;
});
afterAll(() => api?.close());

const usage = (who: Persona, query: string, accept?: string) =>
  api.as(who, 'GET', `/temper/v1/reports/usage?${query}`, accept ? { headers: { accept } } : {});

test('leases count as far as they lie in the month, those of one node together', async () => {
  const { body } = await usage('lessee-reader', 'month=2026-03');
  expect(body).toEqual({
    project: lessee,
    month: '2026-03',
    since: '2026-03-01T00:00:00.000Z',
    until: '2026-04-01T00:00:00.000Z',
    usage: [
      {
        project: lessee,
        node_uuid: node,
        node_name: 'n1-renamed',
        resource_class: null,
        leases: 2,
        seconds: 3.5 * day,
      },
    ],
  });
  expect((await usage('lessee-reader', 'month=2026-02')).body.usage).toMatchObject([
    { leases: 1, seconds: 2 * day, node_name: 'n1', resource_class: 'gold' },
  ]);
  expect((await usage('lessee-reader', 'month=2026-04')).body.usage).toEqual([]);
});

test('without a project, readers of the system are shown each', async () => {
  const { body } = await usage('system-reader', 'month=2026-03');
  expect(body.usage).toEqual([
    { project: lessee, nodes: 1, leases: 2, seconds: 3.5 * day },
    { project: stranger, nodes: 1, leases: 1, seconds: 12 * day },
  ]);
  expect((await usage('system-reader', `month=2026-04&project=${stranger}`)).body.usage).toMatchObject([
    { seconds: 19 * day },
  ]);
});

test.each<[Persona, string, number]>([
  ['lessee-reader', lessee, 200],
  ['lessee-reader', owner, 403],
  ['lessee-reader', 'no-such-project', 403],
  ['owner-admin', lessee, 403],
  ['stranger-admin', lessee, 403],
  ['stranger-roleless' as Persona, stranger, 403],
  ['operator', lessee, 200],
])('%s asks for the usage of %s and gets %i', async (who, project, status) => {
  expect((await usage(who, `project=${project}`)).status).toBe(status);
});

test('an open lease counts until now, and a node that is deleted ends it and stays counted', async () => {
  const made =
    await api.sql`insert into nodes (driver, name, lessee) values ('fake-hardware', 'short', 'brief') returning uuid`;
  await api.sql`update leases set started_at = now() - interval '1 minute' where project = 'brief'`;
  const seconds = async () => (await usage('operator', 'project=brief')).body.usage[0].seconds;
  // At the first minute of a month, less of it lies in the month.
  expect(await seconds()).toBeLessThan(3600);
  await api.sql`delete from nodes where uuid = ${made[0]!.uuid}`;
  const [lease] = await api.sql`select node_name, ended_at from leases where project = 'brief'`;
  expect(lease).toEqual({ node_name: 'short', ended_at: expect.any(Date) });
  const counted = await seconds();
  expect(await seconds()).toBe(counted);
});

test('pages hold every node and every project once', async () => {
  await api.sql`
    insert into leases (node_uuid, project, started_at, ended_at)
    select gen_random_uuid(), 'p' || n % 5, '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z' from generate_series(1, 25) n`;
  for (const [query, many] of [
    ['project=p0', 5],
    ['', 5],
  ] as const) {
    const rows: unknown[] = [];
    let next: string | undefined = `${api.url}/temper/v1/reports/usage?month=2026-01&limit=2&${query}`;
    while (next !== undefined) {
      const { body } = await api.as('system-reader', 'GET', next.slice(api.url.length));
      rows.push(...body.usage);
      next = body.next;
    }
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(many);
    expect(rows).toHaveLength(many);
  }
});

test('rows come as CSV to who accepts that, with the next page in a header', async () => {
  const { text, headers } = await usage('system-reader', 'month=2026-01&limit=2', 'text/csv');
  expect(text).toBe(`project,nodes,leases,seconds\r\np0,5,5,${5 * day}\r\np1,5,5,${5 * day}\r\n`);
  expect(headers.get('link')).toMatch(/marker=p1>; rel="next"$/);
});

test.each(['month=2026-13', 'month=2026', 'month=2999-01', 'month=2099-01', 'project='])(
  '%s is refused',
  async (query) => {
    expect((await usage('operator', query)).status).toBe(400);
  },
);

test('a marker that no page has is not found', async () => {
  const unknown = '00000000-0000-4000-8000-00000000dead';
  for (const query of [`project=${lessee}&marker=x`, `project=${lessee}&marker=${unknown}`, 'marker=no-such-project'])
    expect((await usage('operator', query)).status).toBe(404);
});
