/** Nodes: enrolment, lists, one node, and its removal. */
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    settings: {
      bmcNetworks: ['192.0.2.0/24'],
      lookup: async (host) =>
        host === 'bmc.example.org' ? ['192.0.2.7'] : host === 'far.example.org' ? ['203.0.113.9'] : [],
    },
  });
  await addWorker(api.sql);
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
});

const redfish = {
  driver: 'redfish',
  driver_info: {
    redfish_address: 'https://bmc.example.org',
    redfish_username: 'admin',
    redfish_password: 'hunter2',
    vendor: { snmp_auth_key: 'hunter3', note: 'password=hunter4' },
  },
};

const create = (body: Record<string, unknown>, minor?: number, who: Persona = 'operator') =>
  api.as(who, 'POST', '/v1/nodes', { body: { driver: 'fake-hardware', ...body }, minor });

/** The fixed world: one node with owner and lessee, one of a stranger, one of no project. */
const populate = async () => {
  await create({ name: 'leased', owner, lessee, ...redfish, resource_class: 'gold', shard: 's1' });
  await create({ name: 'owned', owner, conductor_group: 'Rack-1' });
  await create({ name: 'foreign', owner: stranger });
  await create({ name: 'spare', description: 'in the cellar', maintenance: true });
};

const namesOf = (reply: { body: { nodes: { name: string }[] } }) => reply.body.nodes.map((node) => node.name);

describe('enrolment', () => {
  test('a node is shown as it was given, with the defaults of its driver', async () => {
    const reply = await create({ name: 'n1', ...redfish, owner, lessee, properties: { memory_mb: 1024 } });
    expect(reply.status).toBe(201);
    expect(reply.headers.get('location')).toBe(`${api.url}/v1/nodes/${reply.body.uuid}`);
    expect(reply.body).toMatchObject({
      name: 'n1',
      driver: 'redfish',
      provision_state: 'enroll',
      target_provision_state: null,
      power_state: null,
      maintenance: false,
      owner,
      lessee,
      conductor: 'worker-1',
      reservation: null,
      properties: { memory_mb: 1024 },
      extra: {},
      instance_info: {},
      clean_step: {},
      traits: [],
      conductor_group: '',
      power_interface: 'redfish',
      rescue_interface: 'agent',
      updated_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/),
      links: [
        { href: `${api.url}/v1/nodes/${reply.body.uuid}`, rel: 'self' },
        { href: `${api.url}/nodes/${reply.body.uuid}`, rel: 'bookmark' },
      ],
      ports: [
        { href: `${api.url}/v1/nodes/${reply.body.uuid}/ports`, rel: 'self' },
        { href: `${api.url}/nodes/${reply.body.uuid}/ports`, rel: 'bookmark' },
      ],
    });
    expect((await api.as('operator', 'GET', '/v1/nodes/n1')).body).toEqual(reply.body);
  });

  test('secrets are sealed in the store and masked for every caller', async () => {
    const made = await create({ name: 'n1', ...redfish, owner, lessee, instance_info: { admin_pass: 'hunter5' } });
    for (const who of ['operator', 'owner-manager', 'lessee-member'] as const) {
      const { text } = await api.as(who, 'GET', '/v1/nodes/n1');
      expect(text).not.toMatch(/hunter|\$secret/);
    }
    expect(made.text).not.toMatch(/hunter|\$secret/);
    expect(made.body.driver_info).toMatchObject({
      redfish_username: 'admin',
      redfish_password: '******',
      vendor: { snmp_auth_key: '******', note: 'password=******' },
    });
    const [row] = await api.sql`select driver_info::text || instance_info::text as stored from nodes`;
    expect(row!.stored).not.toMatch(/hunter[235]/);
    expect((await api.sql`select * from secrets where holder = 'node' and holder_id = ${made.body.uuid}`).length).toBe(
      3,
    );
    const told = await api.sql`select data::text as data from audit union all select data::text from events`;
    expect(JSON.stringify(told)).not.toMatch(/hunter/);
  });

  test('it leaves one audit row with rule and rule set, and one event', async () => {
    const made = await create({ name: 'n1', owner });
    const audits = await api.sql`select * from audit where resource_id = ${made.body.uuid}`;
    expect(audits).toHaveLength(1);
    expect(audits[0]).toMatchObject({
      action: 'node.create',
      rule: 'baremetal:node:create',
      rule_set: api.rooms.policy().hash,
      requester: {
        user_id: 'user-of-system',
        system_scope: 'all',
        project_id: null,
        strategy: 'static_tokens',
        request_id: made.headers.get('x-openstack-request-id'),
      },
    });
    expect(await api.sql`select kind, project, lessee from events where node_uuid = ${made.body.uuid}`).toEqual([
      { kind: 'node.created', project: owner, lessee: null },
    ]);
  });

  test('a failed enrolment leaves nothing behind but that it failed', async () => {
    await create({ name: 'n1' });
    const count = () =>
      api.sql`select (select count(*) from audit where verdict = 'granted') as audit, (select count(*) from events) as events, (select count(*) from secrets) as secrets`;
    const before = await count();
    expect((await create({ name: 'n1', ...redfish })).status).toBe(409);
    expect(await count()).toEqual(before);
  });
});

describe('an enrolment of which a part is refused', () => {
  test.each([
    [{ name: 'twice' }, /A node with name twice already exists/],
    [{ uuid: '11111111-1111-4111-8111-111111111111' }, /A node with uuid 1111/],
    [{ instance_uuid: '22222222-2222-4222-8222-222222222222' }, /A node with instance_uuid 2222/],
  ])('what must be unique is a conflict the second time: %j', async (body, says) => {
    expect((await create(body)).status).toBe(201);
    const again = await create(body);
    expect([again.status, faultOf(again)]).toEqual([409, expect.stringMatching(says)]);
  });

  test.each([
    [{ name: 'n1' }, 4, 406],
    [{ name: 'n1' }, 5, 201],
    [{ name: 'n_1' }, 9, 400],
    [{ name: 'n_1' }, 10, 201],
    [{ resource_class: 'gold' }, 20, 406],
    [{ resource_class: 'gold' }, 21, 201],
    [{ conductor_group: 'a' }, 45, 406],
    [{ owner: 'p' }, 49, 406],
    [{ owner: 'p' }, 50, 201],
    [{ lessee: 'p' }, 64, 406],
    [{ lessee: 'p' }, 65, 201],
    [{ shard: 's' }, 81, 406],
    [{ shard: 's' }, 82, 201],
    [{ disable_power_off: true }, 94, 406],
    [{ disable_power_off: 'True' }, 95, 201],
  ])('%j with 1.%s is %s', async (body, minor, status) => {
    expect((await create(body, minor)).status).toBe(status);
  });

  test.each([
    [10, 'available'],
    [11, 'enroll'],
    [1, null],
  ] as const)('with 1.%s a new node is shown as %s', async (minor, shown) => {
    expect((await create({}, minor)).body.provision_state).toBe(shown);
  });

  test.each([
    [{ driver: 'irmc' }, /no driver irmc/],
    [{ driver: undefined }, /driver: is missing/],
    [{ colour: 'red' }, /Unexpected arguments: colour/],
    [{ traits: ['CUSTOM_A'] }, /Unexpected arguments: traits/],
    [{ protected: true }, /Unexpected arguments: protected/],
    [{ provision_state: 'active' }, /Unexpected arguments: provision_state/],
    [{ reservation: 'x' }, /Unexpected arguments: reservation/],
    [{ name: 'detail' }, /must not be one of/],
    [{ name: 'a b' }, /letters, digits/],
    [{ name: '11111111-1111-4111-8111-111111111111' }, /must not look like a UUID/],
    [{ uuid: 'x' }, /uuid: must be a UUID/],
    [{ extra: 'x' }, /extra: /],
    [{ maintenance: 'maybe' }, /maintenance: must be true or false/],
    [{ resource_class: 'x'.repeat(81) }, /resource_class: /],
    [{ description: 'x'.repeat(4097) }, /description: /],
    [{ conductor_group: 'a/b' }, /conductor_group: /],
    [{ properties: { memory_mb: -1 } }, /properties: memory_mb must be a whole number/],
    [{ properties: { local_gb: 'lots' } }, /properties: local_gb/],
    [{ network_data: { links: [] } }, /network_data: needs networks, services/],
    [
      { network_data: { links: [{ id: 'a', type: 'phy' }], networks: [], services: [] } },
      /links\[0\]\.ethernet_mac_address/,
    ],
    [{ chassis_uuid: '11111111-1111-4111-8111-111111111111' }, /chassis 1111/],
    [{ retired_reason: 'old' }, /needs retired to be true/],
    [{ power_interface: 'redfish' }, /fake-hardware has no redfish; it has: fake/],
    [{ parent_node: 'nobody' }, /is no node that this one can belong to/],
    [{ driver_info: { password: '******' } }, /means a stored secret/],
    [{ driver_info: { password: { $secret: '11111111-1111-4111-8111-111111111111' } } }, /reserved/],
    [{ driver: 'redfish', driver_info: { redfish_auth_type: 'magic' } }, /redfish_auth_type must be one of/],
    [{ driver: 'redfish', driver_info: { redfish_address: 'ftp://x' } }, /redfish_address is not a URL/],
    [{ driver: 'redfish', driver_info: { redfish_address: 'https://198.51.100.1' } }, /TEMPER_BMC_NETWORKS/],
    [{ driver: 'redfish', driver_info: { redfish_address: 'https://far.example.org' } }, /TEMPER_BMC_NETWORKS/],
    [{ driver: 'redfish', driver_info: { redfish_address: 'https://gone.example.org' } }, /cannot be resolved/],
  ])('%j is refused with a reason', async (body, says) => {
    const reply = await create(body);
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(says)]);
    expect(await api.sql`select 1 from nodes`).toEqual([]);
  });
});

describe('what an enrolment takes, and from whom', () => {
  test('unknown keys of driver_info are kept: other tools put theirs there', async () => {
    expect((await create({ driver_info: { deploy_kernel: 'x', ours: { a: [1] } } })).body.driver_info).toEqual({
      deploy_kernel: 'x',
      ours: { a: [1] },
    });
  });

  test('a child has the owner of its parent, and is named by its parent’s name or UUID', async () => {
    const parent = await create({ name: 'parent', owner });
    expect((await create({ parent_node: 'parent', owner })).body.parent_node).toBe(parent.body.uuid);
    expect((await create({ parent_node: 'parent', owner: stranger })).status).toBe(400);
  });

  test('instance_name is filled from the name that the instance shows', async () => {
    expect((await create({ instance_info: { display_name: 'web-1' } })).body.instance_name).toBe('web-1');
  });

  test.each([
    'system-member',
    'system-reader',
    'owner-admin',
    'owner-manager',
    'lessee-manager',
    'stranger-admin',
  ] as const)('%s may not enrol nodes', async (who) => {
    const reply = await create({ owner }, undefined, who);
    expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('baremetal:node:create')]);
  });

  test('where the setting allows it, a project admin enrols and deletes nodes of its own project only', async () => {
    const own = await startTestApi({ settings: { projectAdminCanManageOwnNodes: true } });
    try {
      const enrol = (who: Persona, body: object) =>
        own.as(who, 'POST', '/v1/nodes', { body: { driver: 'fake-hardware', ...body } });
      const made = await enrol('owner-admin', { name: 'mine' });
      expect([made.status, made.body.owner]).toEqual([201, owner]);
      expect((await enrol('owner-admin', { owner: stranger })).status).toBe(400);
      expect((await enrol('owner-manager', {})).status).toBe(403);
      expect((await enrol('operator', { name: 'other', owner: stranger })).body.owner).toBe(stranger);
      expect((await own.as('owner-manager', 'DELETE', '/v1/nodes/mine')).status).toBe(403);
      expect((await own.as('stranger-admin', 'DELETE', '/v1/nodes/mine')).status).toBe(404);
      expect((await own.as('owner-admin', 'DELETE', '/v1/nodes/mine')).status).toBe(204);
    } finally {
      await own.close();
    }
  });
});

describe('one node', () => {
  beforeEach(populate);

  test.each([
    // who                 leased  owned  foreign  spare
    ['operator', 200, 200, 200, 200],
    ['system-reader', 200, 200, 200, 200],
    ['owner-reader', 200, 200, 404, 404],
    ['lessee-member', 200, 404, 404, 404],
    ['stranger-admin', 404, 404, 200, 404],
  ] as const)('%s sees leased %s, owned %s, foreign %s, spare %s', async (who, ...statuses) => {
    const names = ['leased', 'owned', 'foreign', 'spare'];
    expect(
      await Promise.all(names.map(async (name) => (await api.as(who, 'GET', `/v1/nodes/${name}`)).status)),
    ).toEqual(statuses);
  });

  test('a hidden node and a missing one differ in nothing but the name asked for', async () => {
    for (const [method, below, body] of [
      ['GET', '', undefined],
      ['PATCH', '', [{ op: 'replace', path: '/description', value: 'x' }]],
      ['DELETE', '', undefined],
      ['GET', '/states', undefined],
      ['PUT', '/states/power', { target: 'power on' }],
      ['PUT', '/states/provision', { target: 'manage' }],
      ['PUT', '/states/provision', { target: 'clean', runbook: 'CUSTOM_X' }],
      ['PUT', '/maintenance', {}],
      ['DELETE', '/maintenance', undefined],
      ['GET', '/traits', undefined],
      ['PUT', '/traits', { traits: [] }],
      ['PUT', '/traits/CUSTOM_A', undefined],
      ['DELETE', '/traits', undefined],
      ['DELETE', '/traits/CUSTOM_A', undefined],
      ['GET', '/validate', undefined],
      ['GET', '/ports', undefined],
    ] as const) {
      const [hidden, missing] = await Promise.all(
        ['leased', 'nobody'].map((name) => api.as('stranger-admin', method, `/v1/nodes/${name}${below}`, { body })),
      );
      expect([method, below, hidden!.status]).toEqual([method, below, 404]);
      expect(hidden!.text.replaceAll('leased', 'nobody')).toBe(missing!.text);
      const names = (reply: typeof hidden) => [...reply!.headers.keys()].sort();
      expect(names(hidden)).toEqual(names(missing));
    }
  });

  test('it is found by UUID in any spelling, and by name from 1.5', async () => {
    const { uuid } = (await api.as('operator', 'GET', '/v1/nodes/owned')).body;
    const at = async (ident: string, minor?: number) =>
      (await api.as('operator', 'GET', `/v1/nodes/${ident}`, { minor })).status;
    expect(await at(uuid.toUpperCase())).toBe(200);
    expect(await at(uuid.replaceAll('-', ''))).toBe(200);
    expect(await at(uuid, 1)).toBe(200);
    expect(await at('owned', 5)).toBe(200);
    expect(await at('owned', 4)).toBe(404);
    expect(await at('a%20b')).toBe(400);
    expect(await at('portgroups')).toBe(404);
  });

  test.each([
    ['operator', {}],
    ['owner-reader', {}],
    [
      'lessee-member',
      {
        last_error: '** Value Redacted - Requires baremetal:node:get:last_error permission. **',
        reservation: '** Redacted - requires baremetal:node:get:reservation permission. **',
        driver_internal_info: {
          content: '** Redacted - Requires baremetal:node:get:driver_internal_info permission. **',
        },
        driver_info: { content: '** Redacted - requires baremetal:node:get:driver_info permission. **' },
      },
    ],
  ] as const)('what %s does not get to see is said in its place', async (who, redacted) => {
    const run = '33333333-3333-4333-8333-333333333333';
    await api.sql`update nodes set last_error = 'disk full', reservation = ${run}, driver_internal_info = '{"a": 1}' where name = 'leased'`;
    const full = { last_error: 'disk full', reservation: run, driver_internal_info: { a: 1 } };
    const shown = (await api.as(who, 'GET', '/v1/nodes/leased')).body;
    expect(shown).toMatchObject({ ...full, ...redacted });
    const listed = await api.as(who, 'GET', '/v1/nodes?detail=true');
    expect(listed.body.nodes.find((node: { name: string }) => node.name === 'leased')).toEqual(shown);
  });
});

describe('what is shown of one node', () => {
  beforeEach(populate);

  test('fields= shows those and links, and nothing else', async () => {
    const shown = async (fields: string, minor?: number) =>
      api.as('operator', 'GET', `/v1/nodes/owned?fields=${fields}`, { minor });
    expect(Object.keys((await shown('uuid,NAME,uuid')).body).sort()).toEqual(['links', 'name', 'uuid']);
    expect((await shown('conductor,conductor_group')).body).toMatchObject({
      conductor: null,
      conductor_group: 'rack-1',
    });
    expect((await shown('uuid', 7)).status).toBe(406);
    expect((await shown('owner', 49)).status).toBe(406);
    expect((await shown('colour')).status).toBe(400);
    expect((await shown('ports')).status).toBe(400);
    expect((await shown('fence')).status).toBe(400);
  });

  test('a version sees the fields and states that it knows', async () => {
    await api.sql`update nodes set provision_state = 'inspect wait', target_provision_state = 'available' where name = 'owned'`;
    const at = async (minor: number) => {
      const { uuid } = (await api.as('operator', 'GET', '/v1/nodes/owned')).body;
      return (await api.as('operator', 'GET', `/v1/nodes/${uuid}`, { minor })).body;
    };
    expect(await at(38)).toMatchObject({ provision_state: 'inspecting', target_provision_state: 'available' });
    expect(await at(39)).toMatchObject({ provision_state: 'inspect wait' });
    expect(await at(1)).toMatchObject({ target_provision_state: null });
    const keys = async (minor: number) => Object.keys(await at(minor));
    for (const [field, since] of [
      ['name', 5],
      ['driver_internal_info', 3],
      ['states', 14],
      ['portgroups', 24],
      ['volume', 32],
      ['traits', 37],
      ['conductor', 49],
      ['owner', 50],
      ['lessee', 65],
      ['boot_mode', 75],
      ['parent_node', 83],
      ['service_step', 87],
      ['instance_name', 104],
      ['health', 109],
    ] as const) {
      expect([field, (await keys(since - 1)).includes(field)]).toEqual([field, false]);
      expect([field, (await keys(since)).includes(field)]).toEqual([field, true]);
    }
  });
});

describe('lists', () => {
  beforeEach(populate);

  test.each([
    ['operator', ['leased', 'owned', 'foreign', 'spare']],
    ['system-reader', ['leased', 'owned', 'foreign', 'spare']],
    ['owner-reader', ['leased', 'owned']],
    ['lessee-member', ['leased']],
    ['stranger-admin', ['foreign']],
  ] as const)('%s lists %j', async (who, names) => {
    expect(namesOf(await api.as(who, 'GET', '/v1/nodes'))).toEqual(names);
    expect(namesOf(await api.as(who, 'GET', '/v1/nodes/detail'))).toEqual(names);
  });

  test('a row of the default list has its few fields', async () => {
    const [row] = (await api.as('operator', 'GET', '/v1/nodes')).body.nodes;
    expect(Object.keys(row).sort()).toEqual(
      ['instance_uuid', 'links', 'maintenance', 'name', 'power_state', 'provision_state', 'uuid'].sort(),
    );
  });

  test.each([
    ['maintenance=True', ['spare']],
    ['maintenance=false', ['leased', 'owned', 'foreign']],
    ['associated=true', []],
    ['associated=no', ['leased', 'owned', 'foreign', 'spare']],
    ['provision_state=enroll', ['leased', 'owned', 'foreign', 'spare']],
    ['provision_state=active', []],
    ['driver=redfish', ['leased']],
    ['resource_class=gold', ['leased']],
    ['conductor_group=rack-1', ['owned']],
    ['conductor=worker-1', ['leased', 'foreign', 'spare']],
    [`owner=${owner}`, ['leased', 'owned']],
    [`lessee=${lessee}`, ['leased']],
    [`project=${lessee}`, ['leased']],
    [`project=${owner}`, ['leased', 'owned']],
    ['description_contains=cellar', ['spare']],
    ['description_contains=%25', []],
    ['retired=true', []],
    ['shard=s1,s2', ['leased']],
    ['sharded=true', ['leased']],
    ['sharded=false', ['owned', 'foreign', 'spare']],
    ['instance_name=web', []],
    ['fault=clean%20failure', []],
    ['instance_uuid=11111111-1111-4111-8111-111111111111', []],
    ['driver=redfish&maintenance=true', []],
  ])('%s finds %j', async (query, names) => {
    expect(namesOf(await api.as('operator', 'GET', `/v1/nodes?${query}`))).toEqual(names);
  });

  test.each([
    ['owner-reader', `project=${owner}`, 200],
    ['owner-reader', `project=${stranger}`, 403],
    ['owner-reader', `owner=${stranger}`, 200],
  ] as const)('%s asking for %s gets %s, and never a foreign node', async (who, query, status) => {
    const reply = await api.as(who, 'GET', `/v1/nodes?${query}`);
    expect(reply.status).toBe(status);
    if (status === 200) expect(namesOf(reply)).not.toContain('foreign');
  });

  test.each([
    ['provision_state=enroll', 8, 406],
    ['driver=redfish', 15, 406],
    ['resource_class=gold', 20, 406],
    ['fault=clean%20failure', 41, 406],
    ['conductor_group=a', 45, 406],
    ['conductor=a', 48, 406],
    ['owner=a', 49, 406],
    ['lessee=a', 64, 406],
    ['shard=a', 81, 406],
    ['include_children=true', 82, 406],
    ['parent_node=a', 82, 406],
    ['instance_name=a', 103, 406],
    ['fields=uuid', 7, 406],
    ['fields=owner', 49, 406],
    ['sort_key=owner', 49, 406],
    ['detail=true', 42, 400],
    ['detail=true', 43, 200],
    ['detail=true&fields=uuid', 115, 400],
    ['provision_state=asleep', 115, 400],
    ['fault=tired', 115, 400],
    ['maintenance=maybe', 115, 400],
    ['instance_uuid=x', 115, 400],
    ['limit=0', 115, 400],
    ['limit=-1', 115, 400],
    ['limit=x', 115, 400],
    ['sort_dir=up', 115, 400],
    ['sort_key=driver_info', 115, 400],
    ['sort_key=traits', 115, 400],
    ['sort_key=fence', 115, 400],
    ['marker=x', 115, 400],
    ['marker=11111111-1111-4111-8111-111111111111', 115, 404],
    ['fields=colour', 115, 400],
    ['limit=1&limit=2', 115, 400],
  ] as const)('%s with 1.%s is %s', async (query, minor, status) => {
    expect((await api.as('operator', 'GET', `/v1/nodes?${query}`, { minor })).status).toBe(status);
  });
});

describe('pages of a list', () => {
  beforeEach(populate);

  test.each([
    '',
    '&sort_key=name',
    '&sort_key=name&sort_dir=desc',
    '&sort_key=resource_class',
    '&sort_key=resource_class&sort_dir=desc',
    '&sort_key=created_at&sort_dir=desc',
    '&sort_key=maintenance',
    '&sort_dir=desc',
  ])('pages of one, followed by next, are the whole list%s', async (order) => {
    const whole = namesOf(await api.as('operator', 'GET', `/v1/nodes?detail=false${order}`));
    const found: string[] = [];
    let path: string | undefined = `/v1/nodes?limit=1${order}`;
    while (path && found.length <= whole.length) {
      const reply = await api.as('operator', 'GET', path);
      found.push(...namesOf(reply));
      path = reply.body.next?.replace(api.url, '');
    }
    expect(found).toEqual(whole);
    expect(whole).toHaveLength(4);
  });

  test('next repeats every filter, and is there only when the page is full', async () => {
    const reply = await api.as(
      'operator',
      'GET',
      '/v1/nodes?limit=1&maintenance=False&fields=uuid,name&sort_key=name&project=project-owner',
    );
    const next = new URL(reply.body.next);
    expect(next.origin + next.pathname).toBe(`${api.url}/v1/nodes`);
    expect(Object.fromEntries(next.searchParams)).toEqual({
      limit: '1',
      maintenance: 'false',
      fields: 'uuid,name',
      sort_key: 'name',
      project: owner,
      marker: reply.body.nodes[0].uuid,
    });
    expect((await api.as('operator', 'GET', '/v1/nodes?limit=5')).body.next).toBeUndefined();
  });

  test('a hidden node is no marker', async () => {
    const { uuid } = (await api.as('operator', 'GET', '/v1/nodes/foreign')).body;
    expect((await api.as('owner-reader', 'GET', `/v1/nodes?marker=${uuid}`)).status).toBe(404);
  });

  test('children are listed only on request', async () => {
    const { uuid } = (await api.as('operator', 'GET', '/v1/nodes/owned')).body;
    await create({ name: 'child', owner, parent_node: 'owned' });
    expect(namesOf(await api.as('operator', 'GET', '/v1/nodes'))).not.toContain('child');
    expect(namesOf(await api.as('operator', 'GET', '/v1/nodes?include_children=true'))).toContain('child');
    for (const ident of [uuid, 'owned'])
      expect(namesOf(await api.as('operator', 'GET', `/v1/nodes?parent_node=${ident}`))).toEqual(['child']);
    expect(namesOf(await api.as('operator', 'GET', '/v1/nodes?parent_node=nobody'))).toEqual([]);
  });
});

describe('removal', () => {
  beforeEach(populate);

  test.each([
    ['operator', 204],
    ['system-member', 403],
    ['system-reader', 403],
    ['owner-admin', 403],
    ['owner-manager', 403],
    ['lessee-admin', 403],
    ['stranger-admin', 404],
  ] as const)('%s deleting a node gets %s', async (who, status) => {
    const reply = await api.as(who, 'DELETE', '/v1/nodes/leased');
    expect([reply.status, reply.status === 204 ? reply.text : '']).toEqual([status, '']);
    if (status === 204) expect(reply.headers.get('content-type')).toBeNull();
    expect(await api.sql`select 1 from nodes where name = 'leased'`).toHaveLength(status === 204 ? 0 : 1);
  });

  test('its secrets go with it, and its history stays', async () => {
    const { uuid } = (await api.as('operator', 'GET', '/v1/nodes/leased')).body;
    await api.as('operator', 'DELETE', '/v1/nodes/leased');
    expect(await api.sql`select 1 from secrets where holder_id = ${uuid}`).toEqual([]);
    const kinds = (await api.sql`select kind from events where node_uuid = ${uuid} order by seq`).map(
      (row) => row.kind,
    );
    expect(kinds).toEqual(['node.created', 'node.deleted']);
  });

  test.each([
    ['provision_state', 'enroll', 204],
    ['provision_state', 'manageable', 204],
    ['provision_state', 'available', 204],
    ['provision_state', 'adopt failed', 204],
    ['provision_state', 'active', 409],
    ['provision_state', 'clean failed', 409],
    ['provision_state', 'cleaning', 409],
    ['protected', true, 403],
    ['reservation', '33333333-3333-4333-8333-333333333333', 409],
    ['instance_uuid', '33333333-3333-4333-8333-333333333333', 409],
  ] as const)('with %s %s it is %s', async (column, value, status) => {
    await api.sql`update nodes set ${api.sql({ [column]: value })} where name = 'owned'`;
    expect((await api.as('operator', 'DELETE', '/v1/nodes/owned')).status).toBe(status);
  });

  test('maintenance lets it go in any state and with an instance, but not while it is held or protected', async () => {
    const instance = '33333333-3333-4333-8333-333333333333';
    await api.sql`update nodes set maintenance = true, provision_state = 'active', instance_uuid = ${instance}, protected = true where name = 'owned'`;
    expect((await api.as('operator', 'DELETE', '/v1/nodes/owned')).status).toBe(403);
    await api.sql`update nodes set protected = false, reservation = ${instance} where name = 'owned'`;
    expect((await api.as('operator', 'DELETE', '/v1/nodes/owned')).status).toBe(409);
    await api.sql`update nodes set reservation = null where name = 'owned'`;
    expect((await api.as('operator', 'DELETE', '/v1/nodes/owned')).status).toBe(204);
  });
});
