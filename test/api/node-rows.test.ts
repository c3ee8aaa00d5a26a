/** How many rows of each kind a node may have: whoever manages a node for a while leaves no more behind than a machine can use. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner } from '../support/world';

const most = 256;
let api: TestApi;
let node_uuid: string;
beforeAll(async () => {
  api = await startTestApi();
  const body = { name: 'n1', driver: 'fake-hardware', owner, lessee };
  node_uuid = (await api.as('operator', 'POST', '/v1/nodes', { body })).body.uuid;
});
afterAll(() => api.close());

const address = (at: number): string =>
  `52:54:00:00:${[at >> 8, at & 255].map((one) => one.toString(16).padStart(2, '0')).join(':')}`;

const kinds = {
  ports: (at: number) => ({ address: address(at) }),
  portgroups: (at: number) => ({ name: `g${at}` }),
  'volume/connectors': (at: number) => ({ type: 'ip', connector_id: `c${at}` }),
  'volume/targets': (at: number) => ({ volume_type: 'x', volume_id: 'v', boot_index: at }),
} as const satisfies Record<string, (at: number) => object>;

test.each(Object.entries(kinds))(`a node has at most ${most} %s`, async (kind, row) => {
  const make = (at: number) => api.as('operator', 'POST', `/v1/${kind}`, { body: { node_uuid, ...row(at) } });
  const rows = Array.from({ length: most - 1 }, (_, at) => ({ node_uuid, ...row(at) }));
  await api.sql`insert into ${api.sql(kind.replace('/', '_'))} ${api.sql(rows)}`;
  const last = await make(most);
  expect(last.status).toBe(201);
  const refused = await make(most + 1);
  expect([refused.status, faultOf(refused)]).toEqual([409, expect.stringContaining(`has ${most}`)]);
  expect((await api.as('operator', 'DELETE', `/v1/${kind}/${last.body.uuid}`)).status).toBe(204);
  expect((await make(most + 1)).status).toBe(201);
});

test('a row that moves to another node is one of those that the node may have', async () => {
  const body = { driver: 'fake-hardware', owner, lessee };
  const { uuid } = (await api.as('operator', 'POST', '/v1/nodes', { body })).body;
  const other = { node_uuid: uuid, address: '52:54:01:00:00:00' };
  const port = (await api.as('operator', 'POST', '/v1/ports', { body: other })).body.uuid;
  const move = { body: [{ op: 'replace', path: '/node_uuid', value: node_uuid }] };
  const refused = await api.as('operator', 'PATCH', `/v1/ports/${port}`, move);
  expect([refused.status, faultOf(refused)]).toEqual([409, expect.stringContaining(`has ${most}`)]);
  await api.as(
    'operator',
    'DELETE',
    `/v1/ports/${(await api.sql`select uuid from ports where node_uuid = ${node_uuid} limit 1`)[0]!.uuid}`,
  );
  expect((await api.as('operator', 'PATCH', `/v1/ports/${port}`, move)).status).toBe(200);
});
