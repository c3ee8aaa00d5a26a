/** What is below a parent: lists by its UUID and by its name, with every field on demand; and what is refused there. */
import { addWorker, faultOf, type Reply, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
const uuids: Record<string, string> = {};

const made = async (path: string, body: object): Promise<string> => {
  const reply = await api.as('operator', 'POST', path, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  return reply.body.uuid;
};

beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
  uuids.chassis = await made('/v1/chassis', {});
  const node = { driver: 'fake-hardware', owner };
  uuids.n1 = await made('/v1/nodes', { ...node, name: 'n1', lessee, chassis_uuid: uuids.chassis });
  uuids.n2 = await made('/v1/nodes', { ...node, name: 'n2', chassis_uuid: uuids.chassis });
  for (const home of ['n1', 'n2']) {
    const node_uuid = uuids[home];
    uuids[`${home}.group`] = await made('/v1/portgroups', { node_uuid, name: `${home}-bond` });
    for (const at of ['a', 'b'])
      uuids[`${home}.${at}`] = await made('/v1/ports', {
        node_uuid,
        address: `52:54:00:00:0${home === 'n1' ? 1 : 2}:0${at}`,
        portgroup_uuid: uuids[`${home}.group`],
      });
    uuids[`${home}.connector`] = await made('/v1/volume/connectors', { node_uuid, type: 'ip', connector_id: home });
    uuids[`${home}.target`] = await made('/v1/volume/targets', {
      node_uuid,
      volume_type: 'iscsi',
      volume_id: home,
      boot_index: 0,
    });
  }
});
afterAll(() => api.close());

const get = (path: string, who: Persona = 'operator', minor?: number) => api.as(who, 'GET', path, { minor });

/** Collections below a parent: where, under which key, what is there of the first node, and whether `/detail` exists. */
const lists = [
  ['nodes', 'n1', 'ports', 'ports', ['n1.a', 'n1.b'], true],
  ['nodes', 'n1', 'portgroups', 'portgroups', ['n1.group'], true],
  ['nodes', 'n1', 'volume/connectors', 'connectors', ['n1.connector'], false],
  ['nodes', 'n1', 'volume/targets', 'targets', ['n1.target'], false],
  ['portgroups', 'n1-bond', 'ports', 'ports', ['n1.a', 'n1.b'], true],
] as const;

const uuidOf = (name: string): string => uuids[name] ?? uuids['n1.group']!;
const idsIn = (reply: Reply, key: string): string[] => reply.body[key].map(({ uuid }: { uuid: string }) => uuid);

describe.each(lists)('/v1/%s/%s/%s', (parents, name, below, key, members, detailed) => {
  const path = (ident: string, rest = '') => `/v1/${parents}/${ident}/${below}${rest}`;

  test('is listed by UUID and by name alike, and holds nothing of other parents', async () => {
    for (const ident of [name, uuidOf(name)])
      expect(idsIn(await get(path(ident)), key)).toEqual(members.map((one) => uuids[one]));
  });

  test('shows every field with detail', async () => {
    const full = async (rest: string) => Object.keys((await get(path(name, rest))).body[key][0]);
    const whole = await full('?detail=true');
    expect(whole.length).toBeGreaterThan((await full('')).length);
    if (detailed) expect(await full('/detail')).toEqual(whole);
    else expect((await get(path(name, '/detail'))).status).toBe(400);
  });

  test('goes on, with its parameters, where the page is full', async () => {
    const { next } = (await get(path(name, '?limit=1&fields=uuid&sort_dir=desc'))).body;
    const at = new URL(next);
    expect(at.pathname).toBe(path(name));
    expect(Object.fromEntries(at.searchParams)).toEqual({
      fields: 'uuid',
      limit: '1',
      marker: expect.any(String),
      sort_dir: 'desc',
    });
    const rest = idsIn(await get(`${at.pathname}${at.search}`), key);
    expect(rest).toEqual(members.length === 1 ? [] : [uuids[members[0]]]);
  });

  test('below a hidden parent, or none, there is nothing', async () => {
    for (const [who, ident] of [
      ['stranger-admin', name],
      ['operator', 'nobody'],
    ] as const)
      expect((await get(path(ident), who)).status).toBe(404);
  });
});

test('the nodes of a chassis are listed, with every field with detail', async () => {
  const path = `/v1/chassis/${uuids.chassis}/nodes`;
  expect(idsIn(await get(path), 'nodes')).toEqual([uuids.n1, uuids.n2]);
  expect((await get(`${path}/detail`)).body.nodes[0]).toHaveProperty('driver');
});

describe('one of them is not shown, made, changed or deleted there', () => {
  const places = [...lists, ['chassis', 'chassis', 'nodes', 'nodes', ['n1', 'n2'], true]] as const;
  test.each(places)('/v1/%s/%s/%s', async (parents, name, below, _key, [first]) => {
    const path = `/v1/${parents}/${name === 'chassis' ? uuids.chassis : name}/${below}`;
    for (const [method, rest, body] of [
      ['POST', '', {}],
      ['GET', `/${uuids[first]}`, undefined],
      ['PATCH', `/${uuids[first]}`, [{ op: 'add', path: '/extra/a', value: 1 }]],
      ['DELETE', `/${uuids[first]}`, undefined],
    ] as const) {
      const reply = await api.as('operator', method, `${path}${rest}`, { body });
      expect([method, reply.status, faultOf(reply)]).toEqual([method, 400, expect.stringContaining('use /v1/')]);
      const hidden = await api.as('stranger-admin', method, `${path}${rest}`, { body });
      expect([method, hidden.status]).toEqual([method, parents === 'chassis' ? 403 : 404]);
    }
    expect((await get(`/v1/nodes/n1/${'ports'}`)).body.ports).toHaveLength(2);
  });
});

test.each([
  ['nodes/n1/portgroups', 23, 24],
  ['nodes/n1/portgroups/detail', 23, 24],
  ['portgroups/n1-bond/ports', 23, 24],
  ['nodes/n1/volume', 31, 32],
  ['nodes/n1/volume/targets', 31, 32],
  ['nodes/n1/children', 82, 83],
] as const)('/v1/%s is unknown at 1.%i and there at 1.%i', async (path, before, since) => {
  expect((await get(`/v1/${path}`, 'operator', before)).status).toBe(404);
  expect((await get(`/v1/${path}`, 'operator', since)).status).toBe(200);
});

describe('children', () => {
  const kids: string[] = [];
  beforeAll(async () => {
    for (const [name, more] of [
      ['dpu-1', { owner, lessee }],
      ['dpu-2', { owner }],
    ] as const)
      kids.push(await made('/v1/nodes', { name, driver: 'fake-hardware', parent_node: 'n1', ...more }));
  });

  test('are named by their UUIDs, with one link to the whole of them', async () => {
    for (const ident of ['n1', uuids.n1])
      expect((await get(`/v1/nodes/${ident}/children`)).body).toEqual({
        children: kids,
        links: { href: `${api.url}/v1/nodes?parent_node=${uuids.n1}`, rel: 'children' },
      });
    const { body } = await get(`/v1/nodes?parent_node=${uuids.n1}`);
    expect(body.nodes.map(({ uuid }: { uuid: string }) => uuid)).toEqual(kids);
  });

  test('are those that the caller may see', async () => {
    expect((await get('/v1/nodes/n1/children', 'lessee-reader')).body.children).toEqual([kids[0]]);
    expect((await get('/v1/nodes/n1/children', 'owner-reader')).body.children).toEqual(kids);
    expect((await get('/v1/nodes/n1/children', 'stranger-admin')).status).toBe(404);
    expect((await get('/v1/nodes/n2/children')).body.children).toEqual([]);
  });
});

test.each([
  'ports',
  'portgroups',
  'vifs',
  'volume',
  'traits',
  'bios',
  'allocation',
  'history',
  'inventory',
  'children',
  'firmware',
  'vmedia',
])('%s names no node', async (word) => {
  expect((await get(`/v1/nodes/${word}`)).status).toBe(404);
  expect((await get(`/v1/nodes/${word}/ports`)).status).toBe(404);
});

test.each(['detail', 'maintenance', 'management', 'states', 'validate', 'vendor_passthru'])(
  'no node can be named %s',
  async (name) => {
    const reply = await api.as('operator', 'POST', '/v1/nodes', { body: { name, driver: 'fake-hardware' } });
    expect(reply.status).toBe(400);
  },
);
