/** A caller who may not do something is answered by the rule, however wrong the body is; one who may learns what is wrong. */
import { startTestApi, type TestApi } from '../support/api';
import { owner } from '../support/world';

let api: TestApi;
const idents: Record<string, string> = {};

const make = async (path: string, body: object): Promise<string> => {
  const reply = await api.as('operator', 'POST', path, { body });
  expect(reply.status).toBe(201);
  return reply.body.uuid;
};

beforeAll(async () => {
  api = await startTestApi();
  const node_uuid = await make('/v1/nodes', { driver: 'fake-hardware', owner, resource_class: 'small' });
  idents.nodes = node_uuid;
  idents.ports = await make('/v1/ports', { node_uuid, address: '52:54:00:00:00:01' });
  idents.portgroups = await make('/v1/portgroups', { node_uuid });
  idents['volume/connectors'] = await make('/v1/volume/connectors', { node_uuid, type: 'iqn', connector_id: 'a' });
  idents['volume/targets'] = await make('/v1/volume/targets', {
    node_uuid,
    volume_type: 'iscsi',
    volume_id: 'v',
    boot_index: 0,
  });
  idents.allocations = await make('/v1/allocations', { resource_class: 'small', owner });
});
afterAll(() => api.close());

const collections = ['nodes', 'ports', 'portgroups', 'volume/connectors', 'volume/targets', 'allocations'] as const;
const wrong = { 'an unknown field': { no_such_field: 1 }, 'a list': [1], 'no JSON': '{' };
const wrongPatches = { 'an object': { a: 1 }, 'an unknown attribute': [{ op: 'add', path: '/nothing', value: 1 }] };
const sent = (body: unknown) =>
  typeof body === 'string' ? { raw: body, headers: { 'content-type': 'application/json' } } : { body };

describe.each(collections)('%s', (collection) => {
  test.each(Object.entries(wrong))('POST of %s', async (_, body) => {
    const status = async (who: 'owner-reader' | 'operator') =>
      (await api.as(who, 'POST', `/v1/${collection}`, sent(body))).status;
    expect([await status('owner-reader'), await status('operator')]).toEqual([403, 400]);
  });

  test.each(Object.entries(wrongPatches))('PATCH of %s', async (_, body) => {
    const status = async (who: 'stranger-admin' | 'owner-reader' | 'operator') =>
      (await api.as(who, 'PATCH', `/v1/${collection}/${idents[collection]}`, { body })).status;
    const seen = await Promise.all([status('stranger-admin'), status('owner-reader'), status('operator')]);
    expect(seen).toEqual([404, 403, 400]);
  });
});

test('who may do it on nodes of its own is asked for the node that is named, and reads what is missing where none is', async () => {
  const status = async (body: object) => (await api.as('owner-admin', 'POST', '/v1/ports', { body })).status;
  const [foreign] = await api.sql<
    { uuid: string }[]
  >`insert into nodes (driver) values ('fake-hardware') returning uuid`;
  expect(await status({ address: '52:54:00:00:00:02' })).toBe(400);
  expect(await status({ node_uuid: idents.nodes, address: 'x' })).toBe(400);
  expect(await status({ node_uuid: foreign!.uuid, address: 'x' })).toBe(403);
});

test('such a refusal is in the trail as what it is', async () => {
  await api.as('owner-reader', 'POST', '/v1/nodes', { body: { no_such_field: 2 } });
  await api.as('owner-reader', 'PATCH', `/v1/nodes/${idents.nodes}`, { body: { a: 2 } });
  const rows = await api.sql<{ verdict: string; code: string }[]>`
    select distinct action, verdict, code from audit where requester ->> 'project_id' = ${owner} and verdict <> 'granted'
      and action in ('POST /v1/nodes', 'PATCH /v1/nodes/:node_ident')`;
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect([row.verdict, row.code]).toEqual(['refused', 'PolicyDenied']);
});
