/** Conductors: the BMC workers, alive or silent. */
import { addWorker, startTestApi, type TestApi } from '../support/api';
import type { Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql, { hostname: 'b.example.org:8089', group: 'rack-1', drivers: ['redfish'] });
  await addWorker(api.sql, { hostname: 'a.example.org', drivers: ['fake-hardware'] });
  await addWorker(api.sql, { hostname: 'c.example.org' });
  await api.sql`update workers set updated_at = now() - interval '1 hour' where hostname = 'c.example.org'`;
  await api.sql`insert into workers (hostname, role) values ('story.example.org', 'control')`;
});
afterAll(() => api.close());

const get = (path: string, who: Persona = 'operator', minor?: number) => api.as(who, 'GET', path, { minor });
const hosts = (reply: { body: { conductors: { hostname: string }[] } }) =>
  reply.body.conductors.map((one) => one.hostname.split('.')[0]);

test('are listed in the order they came, without drivers, and only those that reach BMCs', async () => {
  const { body } = await get('/v1/conductors');
  expect(body.conductors[0]).toEqual({
    hostname: 'b.example.org:8089',
    conductor_group: 'rack-1',
    alive: true,
    links: [
      { href: `${api.url}/v1/conductors/b.example.org:8089`, rel: 'self' },
      { href: `${api.url}/conductors/b.example.org:8089`, rel: 'bookmark' },
    ],
  });
  expect(hosts({ body })).toEqual(['b', 'a', 'c']);
});

test('that fell silent are not alive', async () =>
  expect((await get('/v1/conductors/c.example.org')).body).toMatchObject({ alive: false }));

test('are shown by host name, which may carry a port', async () =>
  expect((await get('/v1/conductors/b.example.org:8089')).body).toMatchObject({
    hostname: 'b.example.org:8089',
    drivers: ['redfish'],
    created_at: expect.stringMatching(/\+00:00$/),
    updated_at: expect.stringMatching(/\+00:00$/),
  }));

test.each([
  ['/v1/conductors', 48, 404],
  ['/v1/conductors', 49, 200],
  ['/v1/conductors/a.example.org', 48, 404],
  ['/v1/conductors/none.example.org', 49, 404],
  ['/v1/conductors/story.example.org', 49, 404],
  ['/v1/conductors?sort_key=alive', 49, 400],
  ['/v1/conductors?sort_key=drivers', 49, 400],
  ['/v1/conductors?marker=none', 49, 404],
  ['/v1/conductors?fields=colour', 49, 400],
  ['/v1/conductors?limit=0', 49, 400],
  ['/v1/conductors?colour=red', 49, 400],
] as const)('%s at 1.%i answers %i', async (path, minor, status) =>
  expect((await get(path, 'operator', minor)).status).toBe(status),
);

test('are paged and sorted', async () => {
  const first = await get('/v1/conductors?limit=2&sort_key=hostname&sort_dir=desc');
  expect(hosts(first)).toEqual(['c', 'b']);
  expect(hosts(await get(first.body.next.replace(api.url, '')))).toEqual(['a']);
});

test('show everything with detail, and what was chosen with fields', async () => {
  const [long] = (await get('/v1/conductors?detail=True')).body.conductors;
  expect(Object.keys(long)).toEqual([
    'hostname',
    'conductor_group',
    'alive',
    'drivers',
    'created_at',
    'updated_at',
    'links',
  ]);
  const [chosen] = (await get('/v1/conductors?fields=drivers')).body.conductors;
  expect(Object.keys(chosen)).toEqual(['drivers', 'links']);
});

test.each([
  ['system-reader', 200, 404],
  ['owner-admin', 403, 403],
  ['stranger-admin', 403, 403],
] as const)('as %s lists answer %i and an unknown host %i', async (who, list, unknown) => {
  expect((await get('/v1/conductors', who)).status).toBe(list);
  expect((await get('/v1/conductors/none', who)).status).toBe(unknown);
});
