/** Portgroups: their own fields and versions, and what they and their member ports demand of each other. */
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, stranger } from '../support/world';

let api: TestApi;
let home: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const missing = '11111111-2222-4333-8444-555555555555';
const node = async (name: string, more: Record<string, unknown> = {}): Promise<string> => {
  const columns = { name, driver: 'redfish', provision_state: 'manageable', ...more };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  return row!.uuid;
};
beforeEach(async () => {
  await api.sql`delete from nodes`;
  home = await node('n1', { owner, lessee, shard: 's1' });
});

const create = (more: object = {}, request: Request = {}) =>
  api.as('operator', 'POST', '/v1/portgroups', { body: { node_uuid: home, ...more }, ...request });
const made = async (more: object = {}): Promise<string> => (await create(more)).body.uuid;
const patch = (ident: string, ops: unknown, request: Request = {}) =>
  api.as('operator', 'PATCH', `/v1/portgroups/${ident}`, { body: ops, ...request });
let nth = 0;
const port = (more: object = {}) => {
  nth += 1;
  const address = `52:54:00:00:01:${String(nth % 100).padStart(2, '0')}`;
  return api.as('operator', 'POST', '/v1/ports', { body: { node_uuid: home, address, ...more } });
};
const replaced = (field: string, value: unknown) => [{ op: 'replace', path: `/${field}`, value }];

test('answers the whole of it, its address in lower case', async () => {
  const { body } = await create({ address: '52:54:00:00:00:AA', name: 'bond0' });
  expect(body).toEqual({
    uuid: body.uuid,
    address: '52:54:00:00:00:aa',
    name: 'bond0',
    node_uuid: home,
    extra: {},
    internal_info: {},
    standalone_ports_supported: true,
    mode: 'active-backup',
    properties: {},
    physical_network: null,
    category: null,
    dynamic_portgroup: false,
    ports: [
      { href: `${api.url}/v1/portgroups/${body.uuid}/ports`, rel: 'self' },
      { href: `${api.url}/portgroups/${body.uuid}/ports`, rel: 'bookmark' },
    ],
    created_at: expect.stringMatching(/\+00:00$/),
    updated_at: null,
    links: expect.any(Array),
  });
  expect((await api.as('lessee-reader', 'GET', '/v1/portgroups/bond0')).body).toEqual(body);
});

test.each([
  ['mode', 'balance-rr', 26],
  ['properties', { miimon: 100 }, 26],
  ['physical_network', 'x', 102],
  ['category', 'x', 103],
])('%s is known from its version on, in bodies, patches and answers', async (name, value, since) => {
  const before = { minor: since - 1 };
  expect((await create({ [name]: value }, before)).status).toBe(406);
  const uuid = await made();
  const ops = replaced(name, value);
  expect((await patch(uuid, ops, before)).status).toBe(406);
  expect((await patch(uuid, ops, { minor: since })).body[name]).toEqual(value);
  expect((await api.as('operator', 'GET', `/v1/portgroups/${uuid}`, before)).body).not.toHaveProperty(name);
});

test.each([
  [{ node_uuid: undefined }, 'node_uuid'],
  [{ address: 'nonsense' }, 'address: a MAC address'],
  [{ name: 'a b' }, 'name'],
  [{ name: missing }, 'no UUID'],
  [{ physical_network: '' }, 'physical_network'],
  [{ dynamic_portgroup: true }, 'dynamic_portgroup'],
  [{ internal_info: {} }, 'internal_info'],
])('made with %j is refused, saying why', async (more, says) => {
  const refused = await create(more);
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
});

test.each([
  ['address', { address: '52:54:00:00:00:aa' }],
  ['name', { name: 'bond0' }],
])('an existing %s is a conflict', async (field, more) => {
  await made({ address: '52:54:00:00:00:aa', name: 'bond0' });
  const refused = await create(more);
  expect([refused.status, faultOf(refused)]).toEqual([409, expect.stringContaining(`A portgroup with ${field}`)]);
});

test.each([
  ['address=52:54:00:00:00:AA', ['bond0']],
  ['shard=s1', ['bond0']],
  ['shard=s2,s3', ['bond1']],
  ['conductor_groups=rack-2', ['bond1']],
  ['node=n2', ['bond1']],
])('a list with %s holds %j', async (query, names) => {
  await made({ address: '52:54:00:00:00:aa', name: 'bond0' });
  await made({ node_uuid: await node('n2', { conductor_group: 'rack-2', shard: 's2' }), name: 'bond1' });
  const { body } = await api.as('operator', 'GET', `/v1/portgroups?${query}`);
  expect(body.portgroups.map(({ name }: { name: string }) => name)).toEqual(names);
});

test.each([
  ['node=n1&shard=s1', 400],
  ['node=n1&address=52:54:00:00:00:aa', 400],
  ['conductor_groups=a&node=n1', 400],
  ['address=nonsense', 400],
  ['node=n9', 404],
])('a list with %s answers %i', async (query, status) =>
  expect((await api.as('operator', 'GET', `/v1/portgroups?${query}`)).status).toBe(status),
);

test('the filter by shard needs 1.106', async () => {
  expect((await api.as('operator', 'GET', '/v1/portgroups?shard=s1', { minor: 105 })).status).toBe(406);
});

test('a mode cannot be taken away', async () => {
  const uuid = await made({ mode: '802.3ad' });
  expect((await patch(uuid, [{ op: 'remove', path: '/mode' }])).status).toBe(400);
  expect((await patch(uuid, [{ op: 'remove', path: '/address' }])).status).toBe(200);
  expect((await api.as('operator', 'GET', `/v1/portgroups/${uuid}`)).body.mode).toBe('802.3ad');
});

test('rests while its node is being inspected, from 1.39 on', async () => {
  const uuid = await made();
  await api.sql`update nodes set provision_state = 'inspecting'`;
  expect((await patch(uuid, replaced('address', null), { minor: 39 })).status).toBe(409);
  expect((await patch(uuid, replaced('address', null), { minor: 38 })).status).toBe(200);
});

describe('member ports', () => {
  const uuidOf = async (reply: Promise<{ body: { uuid: string } }>) => (await reply).body.uuid;

  test('are listed below their portgroup and by filter, to those who see the node', async () => {
    const group = await made({ name: 'bond0' });
    const inside = await uuidOf(port({ portgroup_uuid: group }));
    await port();
    for (const path of [`portgroups/${group}/ports`, 'portgroups/bond0/ports', 'ports?portgroup=bond0']) {
      const { body } = await api.as('lessee-reader', 'GET', `/v1/${path}`);
      expect(body.ports.map(({ uuid }: { uuid: string }) => uuid)).toEqual([inside]);
      const hidden = await api.as('stranger-admin', 'GET', `/v1/${path}`);
      const none = await api.as('stranger-admin', 'GET', `/v1/${path.replace(/bond0|[0-9a-f-]{36}/, 'bond9')}`);
      expect([hidden.status, faultOf(hidden).replace(/bond0|[0-9a-f-]{36}/, 'bond9')]).toEqual([404, faultOf(none)]);
    }
    expect((await api.as('operator', 'GET', '/v1/portgroups/bond0/ports', { minor: 23 })).status).toBe(404);
    expect((await api.as('operator', 'GET', '/v1/portgroups/bond0/ports?node=n1')).status).toBe(400);
    expect((await api.as('operator', 'GET', `/v1/portgroups/bond0/ports?portgroup=${group}`)).status).toBe(400);
  });

  test('are of the same node; another node’s portgroup is as unknown as none', async () => {
    const theirs = await made({ node_uuid: await node('n2', { owner: stranger }) });
    const refused = await port({ portgroup_uuid: theirs });
    const none = await port({ portgroup_uuid: missing });
    expect([refused.status, faultOf(refused).replace(theirs, missing)]).toEqual([400, faultOf(none)]);
    const uuid = await uuidOf(port());
    const joined = await api.as('operator', 'PATCH', `/v1/ports/${uuid}`, { body: replaced('portgroup_uuid', theirs) });
    expect([joined.status, faultOf(joined).replace(theirs, missing)]).toEqual([400, faultOf(none)]);
  });

  test('join and leave by patch', async () => {
    const group = await made();
    const uuid = await uuidOf(port());
    const change = (value: string | null) =>
      api.as('operator', 'PATCH', `/v1/ports/${uuid}`, { body: replaced('portgroup_uuid', value) });
    expect((await change(group)).body.portgroup_uuid).toBe(group);
    expect((await change(null)).body.portgroup_uuid).toBeNull();
  });

  test('boot by themselves only where the portgroup lets them', async () => {
    const group = await made({ standalone_ports_supported: false });
    expect((await port({ portgroup_uuid: group })).status).toBe(409);
    const uuid = await uuidOf(port({ portgroup_uuid: group, pxe_enabled: false }));
    const boots = await api.as('operator', 'PATCH', `/v1/ports/${uuid}`, { body: replaced('pxe_enabled', true) });
    expect(boots.status).toBe(409);
    const other = await made();
    await port({ portgroup_uuid: other });
    expect((await patch(other, replaced('standalone_ports_supported', false))).status).toBe(409);
  });

  test('share a physical network, which is changed for all of them by the portgroup', async () => {
    const group = await made();
    const uuid = await uuidOf(port({ portgroup_uuid: group, physical_network: 'net1' }));
    expect((await port({ portgroup_uuid: group, physical_network: 'net2' })).status).toBe(409);
    const own = await api.as('operator', 'PATCH', `/v1/ports/${uuid}`, { body: replaced('physical_network', 'net2') });
    expect([own.status, faultOf(own)]).toEqual([400, expect.stringContaining('changing that of the portgroup')]);
    expect((await patch(group, replaced('physical_network', 'net3'))).status).toBe(200);
    expect((await api.as('operator', 'GET', `/v1/ports/${uuid}`)).body.physical_network).toBe('net3');
  });

  test('keep their portgroup from moving and from going', async () => {
    const group = await made();
    const uuid = await uuidOf(port({ portgroup_uuid: group }));
    const to = await node('n2', { owner });
    for (const refused of [
      await api.as('operator', 'DELETE', `/v1/portgroups/${group}`),
      await patch(group, replaced('node_uuid', to)),
    ])
      expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining('has 1 ports')]);
    expect((await api.as('operator', 'DELETE', `/v1/ports/${uuid}`)).status).toBe(204);
    expect((await patch(group, replaced('node_uuid', to))).body.node_uuid).toBe(to);
    expect((await api.as('operator', 'DELETE', `/v1/portgroups/${group}`)).status).toBe(204);
  });

  test('go with their node, portgroup and all', async () => {
    await port({ portgroup_uuid: await made() });
    expect((await api.as('operator', 'DELETE', '/v1/nodes/n1')).status).toBe(204);
    expect((await api.as('operator', 'GET', '/v1/portgroups')).body.portgroups).toEqual([]);
  });
});

test('does not move to or from a node that is in use', async () => {
  const uuid = await made();
  const to = await node('n2', { owner, provision_state: 'active' });
  expect((await patch(uuid, replaced('node_uuid', to))).status).toBe(409);
  await api.sql`update nodes set maintenance = true where uuid = ${to}`;
  expect((await patch(uuid, replaced('node_uuid', to))).status).toBe(200);
});
