/** Shards: how many nodes each has, who may know, and the filters of nodes by them. */
import { startTestApi, type TestApi } from '../support/api';
import { owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  const rows = [
    ['n1', 's1'],
    ['n2', 's2'],
    ['n3', 's2'],
    ['n4', null],
    ['n5', 's2'],
    ['n6', null],
  ] as const;
  for (const [name, shard] of rows)
    await api.sql`insert into nodes ${api.sql({ name, shard, owner, driver: 'redfish' })}`;
});
afterAll(() => api.close());

test('are counted, largest first, nodes without one under None', async () => {
  expect((await api.as('system-reader', 'GET', '/v1/shards')).body).toEqual({
    shards: [
      { name: 's2', count: 3 },
      { name: 'None', count: 2 },
      { name: 's1', count: 1 },
    ],
  });
});

test('of nodes that a caller may not see, none are counted', async () => {
  const [hidden] =
    await api.sql`insert into nodes ${api.sql({ name: 'n7', shard: 's3', owner: stranger, driver: 'redfish' })} returning uuid`;
  api.setPolicy({ set: 'temper', overrides: { 'baremetal:shards:get': 'role:reader' } });
  const names = async (who: Persona) =>
    (await api.as(who, 'GET', '/v1/shards')).body.shards.map(({ name }: { name: string }) => name);
  expect([await names('owner-reader'), await names('stranger-admin')]).toEqual([['s2', 'None', 's1'], ['s3']]);
  api.setPolicy({ set: 'temper' });
  await api.sql`delete from nodes where uuid = ${hidden!.uuid}`;
});

test.each([
  ['operator', 200],
  ['system-reader', 200],
  ['owner-admin', 403],
  ['lessee-reader', 403],
  ['stranger-admin', 403],
] as const)('%s asks for them: %i', async (who, status) =>
  expect((await api.as(who, 'GET', '/v1/shards')).status).toBe(status),
);

test('are known from 1.82 on, and have nothing below', async () => {
  expect((await api.as('operator', 'GET', '/v1/shards', { minor: 81 })).status).toBe(404);
  expect((await api.as('operator', 'GET', '/v1/shards/s1')).status).toBe(404);
});

test.each([
  ['shard=s1', ['n1']],
  ['shard=s1,s2', ['n1', 'n2', 'n3', 'n5']],
  ['sharded=true', ['n1', 'n2', 'n3', 'n5']],
  ['sharded=false', ['n4', 'n6']],
])('nodes with %s are %j', async (query, names) => {
  const { body } = await api.as('owner-reader', 'GET', `/v1/nodes?${query}`);
  expect(body.nodes.map(({ name }: { name: string }) => name)).toEqual(names);
});

test.each([
  ['operator', 200],
  ['system-member', 403],
  ['owner-admin', 403],
  ['stranger-admin', 404],
] as const)('%s puts a node into one: %i', async (who, status) => {
  const body = [{ op: 'replace', path: '/shard', value: 's1' }];
  expect((await api.as(who, 'PATCH', '/v1/nodes/n1', { body })).status).toBe(status);
});
