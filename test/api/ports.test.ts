/** Ports: who may make, see and change one, which versions know what, and which states forbid a change. */
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
});

const mac = '52:54:00:00:00:01';
const other = '52:54:00:00:00:02';

/** A node as it stands in the store, however it came there. */
const node = async (name: string, more: Record<string, unknown> = {}): Promise<string> => {
  const columns = { name, driver: 'redfish', provision_state: 'manageable', ...more };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  return row!.uuid;
};
const tenanted = (more: Record<string, unknown> = {}) => node('n1', { owner, lessee, ...more });

const create = (who: Persona, node_uuid: string, more: object = {}, request: Request = {}) =>
  api.as(who, 'POST', '/v1/ports', { body: { address: mac, node_uuid, ...more }, ...request });
const made = async (node_uuid: string, more: object = {}): Promise<string> =>
  (await create('operator', node_uuid, more)).body.uuid;
const patch = (who: Persona, ident: string, ops: unknown, request: Request = {}) =>
  api.as(who, 'PATCH', `/v1/ports/${ident}`, { body: ops, ...request });
const addressesOf = (reply: { body: { ports: { address: string }[] } }) => reply.body.ports.map((one) => one.address);

describe('making a port', () => {
  test('answers the whole of it, its address in lower case', async () => {
    const uuid = await tenanted();
    const reply = await create('operator', uuid, { address: mac.toUpperCase(), name: 'eth0', vendor: 'acme' });
    expect(reply.status).toBe(201);
    expect(reply.headers.get('location')).toBe(`${api.url}/v1/ports/${reply.body.uuid}`);
    expect(reply.body).toEqual({
      uuid: reply.body.uuid,
      address: mac,
      node_uuid: uuid,
      extra: {},
      internal_info: {},
      local_link_connection: {},
      pxe_enabled: true,
      portgroup_uuid: null,
      physical_network: null,
      is_smartnic: false,
      name: 'eth0',
      description: null,
      vendor: 'acme',
      category: null,
      available_for_dynamic_portgroup: true,
      created_at: expect.stringMatching(/\+00:00$/),
      updated_at: null,
      links: [
        { href: `${api.url}/v1/ports/${reply.body.uuid}`, rel: 'self' },
        { href: `${api.url}/ports/${reply.body.uuid}`, rel: 'bookmark' },
      ],
    });
  });

  test.each([
    ['operator', 201],
    ['system-member', 403],
    ['system-reader', 403],
    ['owner-admin', 201],
    ['owner-manager', 201],
    ['owner-member', 403],
    ['lessee-admin', 403],
    ['stranger-admin', 403],
  ] as const)('as %s answers %i', async (who, status) =>
    expect((await create(who, await tenanted())).status).toBe(status),
  );

  test('on a node that is hidden reveals as little as on one that is missing', async () => {
    await tenanted();
    const named = (ident: string) =>
      api.as('stranger-admin', 'POST', '/v1/ports', { body: { address: mac, node_ident: ident } });
    const [one, two] = [await named('n1'), await named('n2')];
    expect([one.status, one.text]).toEqual([403, two.text]);
    expect(two.status).toBe(403);
    const unknown = await create('operator', '11111111-2222-3333-4444-555555555555');
    expect([unknown.status, faultOf(unknown)]).toEqual([400, expect.stringContaining('could not be found')]);
  });

  test('a node may be named from 1.94 on, and only once', async () => {
    const uuid = await tenanted();
    const body = { address: mac, node_ident: 'n1' };
    expect((await api.as('operator', 'POST', '/v1/ports', { body, minor: 93 })).status).toBe(406);
    expect((await create('operator', uuid, { node_ident: 'n1' })).status).toBe(400);
    expect((await api.as('operator', 'POST', '/v1/ports', { body: { address: mac } })).status).toBe(400);
    const reply = await api.as('operator', 'POST', '/v1/ports', { body, minor: 94 });
    expect([reply.status, reply.body.node_uuid]).toEqual([201, uuid]);
    expect(reply.body).not.toHaveProperty('node_ident');
  });

  test.each([
    [{ address: 'nonsense' }, 'address: a MAC address'],
    [{ address: '52-54-00-00-00-01' }, 'address: a MAC address'],
    [{ address: undefined }, 'address'],
    [{ colour: 'red' }, 'Unexpected arguments: colour'],
    [{ internal_info: {} }, 'Unexpected arguments: internal_info'],
    [{ physical_network: '' }, 'physical_network'],
    [{ physical_network: 'x'.repeat(65) }, 'physical_network'],
    [{ vendor: 'x'.repeat(33) }, 'vendor'],
    [{ portgroup_uuid: '11111111-2222-3333-4444-555555555555' }, 'is unknown'],
    [{ is_smartnic: true }, 'a smart NIC needs port_id and hostname'],
    [{ local_link_connection: { port_id: 'p' } }, 'needs port_id with switch_id'],
    [{ local_link_connection: { switch_info: 'x', colour: 'red' } }, 'unknown key colour'],
    [{ local_link_connection: { port_id: 'p', switch_id: 'nonsense' } }, 'switch_id must be a MAC address'],
    [{ local_link_connection: { network_type: 'magic' } }, 'network_type must be one of'],
    [{ local_link_connection: { port_id: 'p', hostname: 'h', 'vtep-logical-switch': 'x' } }, 'unknown key vtep'],
  ])('with %j is refused, saying why', async (more, says) => {
    const refused = await create('operator', await tenanted(), more);
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
  });

  test.each([
    [{ port_id: 'p', switch_id: '0A:1B:2C:3D:4E:5F' }, 111, { port_id: 'p', switch_id: '0a:1b:2c:3d:4e:5f' }],
    [{ port_id: 'p', switch_id: '00000A1B2C3D4E5F' }, 19, { port_id: 'p', switch_id: '00000a1b2c3d4e5f' }],
    [{ port_id: 'p', hostname: 'h' }, 111, { port_id: 'p', hostname: 'h' }],
    [{ network_type: 'unmanaged' }, 64, { network_type: 'unmanaged' }],
    [{ network_type: 'unmanaged' }, 63, undefined],
    [
      { port_id: 'p', hostname: 'h', 'vtep-logical-switch': 'x' },
      104,
      { port_id: 'p', hostname: 'h', 'vtep-logical-switch': 'x' },
    ],
    [{}, 111, {}],
  ])('a switch connection %j at 1.%i is stored as %j', async (local_link_connection, minor, expected) => {
    const reply = await create('operator', await tenanted(), { local_link_connection }, { minor });
    expect(reply.body.local_link_connection).toEqual(expected);
  });
});

describe('a port that may not be made', () => {
  test.each([
    ['pxe_enabled', true, 19],
    ['local_link_connection', {}, 19],
    ['portgroup_uuid', null, 24],
    ['physical_network', 'x', 34],
    ['is_smartnic', false, 53],
    ['name', 'eth0', 88],
    ['description', 'x', 97],
    ['vendor', 'x', 100],
    ['category', 'x', 101],
    ['available_for_dynamic_portgroup', true, 111],
  ])('%s is known from its version on, in bodies, patches and fields', async (name, value, since) => {
    const uuid = await tenanted();
    const before = { minor: since - 1 };
    expect((await create('operator', uuid, { [name]: value }, before)).status).toBe(406);
    const port = await made(uuid);
    const ops = [{ op: 'add', path: `/${name}`, value }];
    expect((await patch('operator', port, ops, before)).status).toBe(406);
    expect((await patch('operator', port, ops, { minor: since })).status).toBe(200);
    const path = `/v1/ports/${port}`;
    expect((await api.as('operator', 'GET', path, before)).body).not.toHaveProperty(name);
    expect((await api.as('operator', 'GET', path, { minor: since })).body).toHaveProperty(name);
    expect((await api.as('operator', 'GET', `${path}?fields=${name}`, before)).status).toBe(406);
  });

  test.each([
    ['address', { name: 'eth1' }],
    ['name', { address: other, name: 'eth0' }],
    ['uuid', { address: other, uuid: '11111111-2222-3333-4444-555555555555' }],
  ])('an existing %s is a conflict', async (field, more) => {
    const uuid = await tenanted();
    await create('operator', uuid, { name: 'eth0', uuid: '11111111-2222-3333-4444-555555555555' });
    const refused = await create('operator', uuid, more);
    expect([refused.status, faultOf(refused)]).toEqual([409, expect.stringContaining(`A port with ${field}`)]);
  });

  test('on a node that a run holds has to wait', async () => {
    const uuid = await tenanted({ reservation: '11111111-2222-3333-4444-555555555555' });
    expect((await create('operator', uuid)).status).toBe(409);
  });

  test('leaves an audit row and an event for the owner and lessee of the node', async () => {
    const uuid = await tenanted();
    const port = await made(uuid, { extra: { switch_password: 'letmein' } });
    const [row] = await api.sql`select * from audit where resource_id = ${port}`;
    expect(row).toMatchObject({ action: 'port.create', rule: 'baremetal:port:create' });
    expect(row!.data.extra).toEqual({ switch_password: '******' });
    const [event] = await api.sql`select * from events where node_uuid = ${uuid}`;
    expect(event).toMatchObject({ kind: 'port.created', project: owner, lessee });
  });
});

describe('seeing ports', () => {
  beforeEach(async () => {
    await made(await tenanted({ shard: 's1' }), { description: 'uplink of n1' });
    await made(await node('n2', { owner: stranger, conductor_group: 'rack-2' }), { address: other, name: 'eth0' });
  });

  test.each([
    ['operator', [mac, other]],
    ['system-reader', [mac, other]],
    ['owner-reader', [mac]],
    ['lessee-reader', [mac]],
    ['stranger-admin', [other]],
  ] as const)('%s lists %j and sees exactly these', async (who, addresses) => {
    expect(addressesOf(await api.as(who, 'GET', '/v1/ports'))).toEqual(addresses);
    const all = (await api.as('operator', 'GET', '/v1/ports')).body.ports as { uuid: string; address: string }[];
    for (const { uuid, address } of all)
      expect([address, (await api.as(who, 'GET', `/v1/ports/${uuid}`)).status]).toEqual([
        address,
        (addresses as readonly string[]).includes(address) ? 200 : 404,
      ]);
  });

  test('a hidden port and a missing one give the same answer', async () => {
    const ops = [{ op: 'add', path: '/extra/a', value: 1 }];
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', ops],
    ] as const) {
      const hidden = await api.as('owner-admin', method, '/v1/ports/eth0', { body });
      const missing = await api.as('owner-admin', method, '/v1/ports/eth9', { body });
      expect([hidden.status, faultOf(hidden).replace('eth0', 'eth9')]).toEqual([404, faultOf(missing)]);
    }
  });

  test('a port has a name from 1.88 on', async () => {
    expect((await api.as('operator', 'GET', '/v1/ports/eth0', { minor: 88 })).status).toBe(200);
    expect((await api.as('operator', 'GET', '/v1/ports/eth0', { minor: 87 })).status).toBe(400);
  });

  test.each([
    ['node=n1', [mac]],
    ['node=n2', [other]],
    [`address=${other.toUpperCase()}`, [other]],
    ['shard=s1,s2', [mac]],
    ['conductor_groups=rack-2', [other]],
    ['description_contains=uplink', [mac]],
    ['sort_key=address&sort_dir=desc', [other, mac]],
  ])('a list with %s holds %j', async (query, addresses) =>
    expect(addressesOf(await api.as('operator', 'GET', `/v1/ports?${query}`))).toEqual(addresses),
  );

  test.each([
    ['node=n1&shard=s1', 400],
    ['node=n1&node_uuid=n1', 400],
    ['conductor_groups=a&node=n1', 400],
    [`conductor_groups=a&address=${mac}`, 400],
    ['node=n9', 404],
    ['portgroup=pg1', 404],
    ['address=nonsense', 400],
    ['marker=nonsense', 400],
    ['marker=11111111-2222-3333-4444-555555555555', 404],
    ['sort_key=extra', 400],
    ['sort_key=node_ident', 400],
    ['fields=node_ident', 400],
    ['colour=red', 400],
  ])('a list with %s answers %i', async (query, status) =>
    expect((await api.as('operator', 'GET', `/v1/ports?${query}`)).status).toBe(status),
  );

  test('a filter by a node that is hidden is a filter by a missing one', async () => {
    expect((await api.as('owner-reader', 'GET', '/v1/ports?node=n2')).status).toBe(404);
    expect((await api.as('owner-reader', 'GET', '/v1/nodes/n2/ports')).status).toBe(404);
    expect((await api.as('owner-reader', 'GET', '/v1/nodes/n9/ports')).status).toBe(404);
  });

  test('ports below a node are listed by its name or uuid', async () => {
    const { uuid } = (await api.as('operator', 'GET', '/v1/nodes/n1')).body;
    for (const ident of ['n1', uuid])
      expect(addressesOf(await api.as('lessee-reader', 'GET', `/v1/nodes/${ident}/ports`))).toEqual([mac]);
    const { next } = (await api.as('operator', 'GET', '/v1/nodes/n1/ports?limit=1&detail=True')).body;
    expect(next).toMatch(/\/v1\/nodes\/n1\/ports\?detail=True&limit=1&marker=/);
  });

  test('a list shows uuid, address and links, and everything with detail', async () => {
    const keys = async (path: string) => Object.keys((await api.as('operator', 'GET', path)).body.ports[0]);
    expect(await keys('/v1/ports')).toEqual(['uuid', 'address', 'links']);
    const whole = Object.keys((await api.as('operator', 'GET', '/v1/ports/eth0')).body);
    expect(await keys('/v1/ports/detail?node=n1')).toEqual(whole);
    expect(await keys('/v1/ports?detail=True')).toEqual(whole);
    expect(await keys('/v1/ports?fields=node_uuid')).toEqual(['node_uuid', 'links']);
  });

  test('pages follow each other by their next link', async () => {
    const first = await api.as('operator', 'GET', '/v1/ports?limit=1&sort_key=description');
    const second = await api.as('operator', 'GET', first.body.next.replace(api.url, ''));
    expect([...addressesOf(first), ...addressesOf(second)]).toEqual([mac, other]);
  });
});

describe('changing a port', () => {
  const extra = [{ op: 'add', path: '/extra/a', value: 1 }];

  test.each([
    ['operator', 200, 204],
    ['system-member', 200, 403],
    ['system-reader', 403, 403],
    ['owner-admin', 200, 204],
    ['owner-manager', 200, 204],
    ['owner-member', 403, 403],
    ['lessee-admin', 403, 403],
    ['stranger-admin', 404, 404],
  ] as const)('as %s answers %i, deleting it %i', async (who, changes, deletes) => {
    const uuid = await made(await tenanted());
    expect((await patch(who, uuid, extra)).status).toBe(changes);
    expect((await api.as(who, 'DELETE', `/v1/ports/${uuid}`)).status).toBe(deletes);
  });

  const address = [{ op: 'replace', path: '/address', value: other }];
  const pxe = [{ op: 'replace', path: '/pxe_enabled', value: false }];
  const instance = { instance_uuid: '11111111-2222-3333-4444-555555555555' };

  test.each([
    // node                                               patch    answer
    [{ provision_state: 'enroll' }, address, 200],
    [{ provision_state: 'active' }, address, 409],
    [{ provision_state: 'active', maintenance: true }, address, 200],
    [{ provision_state: 'available', ...instance }, address, 409],
    [{ provision_state: 'available' }, address, 200],
    [{ provision_state: 'available' }, pxe, 409],
    [{ provision_state: 'available', maintenance: true }, pxe, 200],
    [{ provision_state: 'manageable' }, pxe, 200],
    [{ provision_state: 'inspect wait' }, pxe, 200],
    [{ provision_state: 'inspecting' }, extra, 409],
    [{ provision_state: 'active' }, extra, 200],
    [{ provision_state: 'active' }, [{ op: 'replace', path: '/pxe_enabled', value: true }], 200],
    [{ reservation: '11111111-2222-3333-4444-555555555555' }, extra, 409],
  ] as const)('of a node that is %j by %j answers %i', async (state, ops, status) => {
    const home = await tenanted();
    const uuid = await made(home);
    await api.sql`update nodes set ${api.sql(state)} where uuid = ${home}`;
    const reply = await patch('operator', uuid, ops);
    expect([reply.status, reply.text]).toEqual([status, expect.any(String)]);
    const { body } = await api.as('operator', 'GET', `/v1/ports/${uuid}`);
    if (status === 409) expect(body).toMatchObject({ address: mac, pxe_enabled: true, extra: {}, updated_at: null });
    else expect(body).toEqual(reply.body);
  });

  test('while its node is inspected was allowed below 1.39', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    await api.sql`update nodes set provision_state = 'inspecting' where uuid = ${home}`;
    expect((await patch('operator', uuid, extra, { minor: 38 })).status).toBe(200);
  });

  test.each([
    [[{ op: 'replace', path: '/uuid', value: 'x' }], 'uuid cannot be changed'],
    [[{ op: 'add', path: '/internal_info/a', value: 1 }], 'internal_info cannot be changed'],
    [[{ op: 'replace', path: '/address', value: 'nonsense' }], 'address: a MAC address'],
    [[{ op: 'remove', path: '/address' }], 'address is required'],
    [[{ op: 'remove', path: '/node_uuid' }], 'node'],
    [[{ op: 'add', path: '/portgroup_uuid', value: '11111111-2222-3333-4444-555555555555' }], 'is unknown'],
    [[{ op: 'add', path: '/is_smartnic', value: true }], 'a smart NIC needs'],
    [[{ op: 'add', path: '/local_link_connection/colour', value: 'red' }], 'unknown key colour'],
    [[{ op: 'move', from: '/extra', path: '/name' }], ''],
  ])('by %j is refused, saying why', async (ops, says) => {
    const refused = await patch('operator', await made(await tenanted()), ops);
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
  });

  test('removing a value sets its default', async () => {
    const uuid = await made(await tenanted(), { pxe_enabled: false, name: 'eth0', extra: { a: 1 } });
    const { body } = await patch('operator', 'eth0', [
      { op: 'remove', path: '/pxe_enabled' },
      { op: 'remove', path: '/name' },
      { op: 'remove', path: '/extra' },
    ]);
    expect(body).toMatchObject({ uuid, pxe_enabled: true, name: null, extra: {} });
  });

  test('moving it needs a node of the same owner that the caller sees; anything else is one answer', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    const [same, theirs] = [await node('n2', { owner }), await node('n3', { owner: stranger })];
    const move = async (to: string) => {
      const reply = await patch('owner-manager', uuid, [{ op: 'replace', path: '/node_uuid', value: to }]);
      return [reply.status, reply.status === 200 ? reply.body.node_uuid : faultOf(reply).replace(to, 'X')];
    };
    const missing = await move('11111111-2222-3333-4444-555555555555');
    expect(missing[0]).toBe(400);
    expect(await move(theirs)).toEqual(missing);
    expect(await move(same)).toEqual([200, same]);
    const named = await patch('owner-manager', uuid, [{ op: 'add', path: '/node_ident', value: 'n1' }]);
    expect([named.status, named.body.node_uuid]).toEqual([200, home]);
  });

  test('an address that another port has is a conflict', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    await made(home, { address: other });
    expect((await patch('operator', uuid, address)).status).toBe(409);
  });
});

describe('deleting a port', () => {
  test('goes by uuid only and answers nothing', async () => {
    const uuid = await made(await tenanted(), { name: 'eth0' });
    expect((await api.as('operator', 'DELETE', '/v1/ports/eth0')).status).toBe(400);
    const gone = await api.as('operator', 'DELETE', `/v1/ports/${uuid}`, {
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await api.as('operator', 'DELETE', `/v1/ports/${uuid}`)).status).toBe(404);
  });

  test('that is attached to a network is refused outside of maintenance', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    await api.sql`update ports set internal_info = ${api.sql.json({ tenant_vif_port_id: 'v' })} where uuid = ${uuid}`;
    expect((await api.as('operator', 'DELETE', `/v1/ports/${uuid}`)).status).toBe(409);
    await api.sql`update nodes set maintenance = true where uuid = ${home}`;
    expect((await api.as('operator', 'DELETE', `/v1/ports/${uuid}`)).status).toBe(204);
  });

  test('of a node that a run holds has to wait', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    await api.sql`update nodes set reservation = ${home} where uuid = ${home}`;
    expect((await api.as('operator', 'DELETE', `/v1/ports/${uuid}`)).status).toBe(409);
  });
});
