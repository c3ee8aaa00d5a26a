/** PATCH of a node: what it may name, by which rule, in which state, and what becomes of secrets. */
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
  await api.as('operator', 'POST', '/v1/nodes', {
    body: {
      name: 'n1',
      driver: 'redfish',
      owner,
      lessee,
      driver_info: { redfish_address: 'https://192.0.2.7', redfish_password: 'hunter2', list: [1, 2] },
    },
  });
});

type Operation = { op: string; path: string; value?: unknown };
const patch = (
  operations: unknown,
  { who = 'operator', minor, query = '' }: { who?: Persona; minor?: number; query?: string } = {},
) => api.as(who, 'PATCH', `/v1/nodes/n1${query}`, { body: operations, minor });
const replace = (path: string, value: unknown): Operation[] => [{ op: 'replace', path, value }];
const set = (columns: Record<string, unknown>) => api.sql`update nodes set ${api.sql(columns)} where name = 'n1'`;

test('the answer is the whole node as it is now', async () => {
  const reply = await patch([
    { op: 'add', path: '/extra/rack', value: 'b4' },
    { op: 'replace', path: '/description', value: 'second from above' },
    { op: 'add', path: '/driver_info/list/-', value: 3 },
    { op: 'remove', path: '/driver_info/list/0' },
  ]);
  expect(reply.status).toBe(200);
  expect(reply.body).toMatchObject({
    extra: { rack: 'b4' },
    description: 'second from above',
    driver_info: { list: [2, 3], redfish_password: '******' },
    updated_at: expect.any(String),
  });
  expect((await api.as('operator', 'GET', '/v1/nodes/n1')).body).toEqual(reply.body);
  const events = await api.sql`select kind, project, lessee from events where kind = 'node.updated'`;
  expect(events).toEqual([{ kind: 'node.updated', project: owner, lessee }]);
});

test.each([
  [{ op: 'remove', path: '/owner' }, { owner: null }],
  [{ op: 'remove', path: '/extra' }, { extra: {} }],
  [{ op: 'remove', path: '/conductor_group' }, { conductor_group: '' }],
  [{ op: 'remove', path: '/maintenance' }, { maintenance: false }],
  [{ op: 'remove', path: '/automated_clean' }, { automated_clean: null }],
  [{ op: 'remove', path: '/power_interface' }, { power_interface: 'redfish' }],
  [{ op: 'replace', path: '/maintenance', value: 'True' }, { maintenance: true }],
  [{ op: 'replace', path: '/retired', value: 'yes' }, { retired: true }],
  [{ op: 'replace', path: '/conductor_group', value: 'RACK-1' }, { conductor_group: 'rack-1' }],
  [{ op: 'add', path: '/name', value: 'n1' }, { name: 'n1' }],
  [{ op: 'replace', path: '/instance_info', value: { display_name: 'web' } }, { instance_name: 'web' }],
  [{ op: 'replace', path: '/properties', value: null }, { properties: {} }],
])('%j leaves %j', async (operation, left) => {
  const reply = await patch([operation]);
  expect([reply.status, reply.body]).toEqual([200, expect.objectContaining(left)]);
});

test.each([
  [replace('/uuid', '11111111-1111-4111-8111-111111111111'), /uuid cannot be changed/],
  [replace('/provision_state', 'active'), /provision_state cannot be changed/],
  [replace('/last_error', 'x'), /last_error cannot be changed/],
  [replace('/traits', []), /traits cannot be changed/],
  [replace('/reservation', null), /reservation cannot be changed/],
  [replace('/fence', 9), /fence cannot be changed/],
  [replace('/colour', 'red'), /colour cannot be changed/],
  [replace('/extra/~1', 1), /path/],
  [replace('extra', 1), /path/],
  [replace('/extra/__proto__/x', 1), /names no attribute/],
  [replace('/extra/constructor', 1), /names no attribute/],
  [[{ op: 'move', path: '/extra', from: '/name' }], /op|Unexpected|from/],
  [[{ op: 'test', path: '/name', value: 'n1' }], /op/],
  [[{ op: 'add', path: '/name', value: 'x', colour: 1 }], /colour/],
  [[{ op: 'add', path: '/name' }], /needs a value/],
  [{ op: 'add', path: '/name', value: 'x' }, /body/],
  [[{ op: 'remove', path: '/extra/none' }], /does not exist/],
  [[{ op: 'replace', path: '/extra/none', value: 1 }], /does not exist/],
  [[{ op: 'add', path: '/extra/a/b', value: 1 }], /does not exist/],
  [[{ op: 'add', path: '/driver_info/list/9', value: 1 }], /outside the list/],
  [[{ op: 'remove', path: '/driver_info/list/2' }], /outside the list/],
  [[{ op: 'remove', path: '/driver' }], /required/],
  [replace('/driver', null), /driver/],
  [replace('/driver', 'irmc'), /no driver irmc/],
  [replace('/driver', 'ipmi'), /driver ipmi has no redfish/],
  [replace('/driver', 'fake-hardware'), /fake-hardware has no redfish/],
  [replace('/power_interface', 'fake'), /redfish has no fake; it has: redfish/],
  [replace('/maintenance', 'maybe'), /maintenance: must be true or false/],
  [replace('/extra', 'x'), /extra: /],
  [replace('/description', 'x'.repeat(4097)), /description: /],
  [replace('/name', 'states'), /must not be one of/],
  [replace('/network_data', { links: 1 }), /network_data: needs links/],
  [replace('/properties/memory_mb', 'x'), /does not exist/],
  [[{ op: 'add', path: '/properties/memory_mb', value: 'x' }], /memory_mb must be a whole number/],
  [replace('/protected_reason', 'x'), /needs protected to be true/],
  [replace('/driver_info/redfish_address', 'ftp://x'), /is not a URL/],
  [replace('/driver_info/redfish_auth_type', 'x'), /does not exist/],
  [replace('/chassis_uuid', '11111111-1111-4111-8111-111111111111'), /chassis 1111/],
  [replace('/parent_node', 'n1'), /is no node that this one can belong to/],
])('%j is a bad request with a reason', async (operations, says) => {
  const reply = await patch(operations);
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(says)]);
});

test.each([
  ['/name', 'x', 4],
  ['/resource_class', 'x', 20],
  ['/owner', 'x', 49],
  ['/lessee', 'x', 64],
  ['/shard', 'x', 81],
  ['/disable_power_off', true, 94],
])('%s is not acceptable before its version', async (path, value, minor) => {
  const { uuid } = (await api.as('operator', 'GET', '/v1/nodes/n1')).body;
  const ask = (at: number) =>
    api.as('operator', 'PATCH', `/v1/nodes/${uuid}`, { body: [{ op: 'add', path, value }], minor: at });
  expect((await ask(minor)).status).toBe(406);
  expect((await ask(minor + 1)).status).toBe(200);
});

describe('rules', () => {
  test.each([
    // path               value       operator owner-manager owner-member owner-reader lessee-manager lessee-member stranger-admin
    ['/extra', {}, 200, 200, 200, 403, 200, 200, 404],
    ['/instance_info', {}, 200, 200, 200, 403, 200, 403, 404],
    ['/driver_info/rack', 'r17', 200, 200, 200, 403, 403, 403, 404],
    ['/properties', {}, 200, 200, 200, 403, 403, 403, 404],
    ['/name', 'n1', 200, 200, 200, 403, 403, 403, 404],
    ['/lessee', lessee, 200, 200, 200, 403, 403, 403, 404],
    ['/network_data', {}, 200, 200, 200, 403, 403, 403, 404],
    ['/retired', true, 200, 200, 200, 403, 403, 403, 404],
    ['/description', 'x', 200, 200, 200, 403, 200, 200, 404],
    ['/power_interface', 'redfish', 200, 200, 403, 403, 403, 403, 404],
    ['/driver', 'redfish', 200, 200, 403, 403, 403, 403, 404],
    ['/owner', owner, 200, 403, 403, 403, 403, 403, 404],
    ['/conductor_group', '', 200, 403, 403, 403, 403, 403, 404],
    ['/shard', 's', 200, 403, 403, 403, 403, 403, 404],
    ['/disable_power_off', true, 200, 403, 403, 403, 403, 403, 404],
    ['/automated_clean', true, 200, 200, 200, 403, 200, 200, 404],
    ['/automated_clean', false, 200, 403, 403, 403, 403, 403, 404],
    ['/automated_clean', 'False', 200, 403, 403, 403, 403, 403, 404],
  ] as const)(
    '%s %j: operator %s, owner-manager %s, owner-member %s, owner-reader %s, lessee-manager %s, lessee-member %s, stranger-admin %s',
    async (path, value, ...statuses) => {
      const personas = [
        'operator',
        'owner-manager',
        'owner-member',
        'owner-reader',
        'lessee-manager',
        'lessee-member',
        'stranger-admin',
      ] as const;
      const got: number[] = [];
      for (const who of personas) got.push((await patch([{ op: 'add', path, value }], { who })).status);
      expect(got).toEqual(statuses);
    },
  );

  test('every rule of a patch must pass, not only the first', async () => {
    const both = [...replace('/extra', { a: 1 }), ...replace('/owner', stranger)];
    const reply = await patch(both, { who: 'lessee-member' });
    expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('baremetal:node:update:owner')]);
    expect((await api.as('operator', 'GET', '/v1/nodes/n1')).body).toMatchObject({ extra: {}, owner });
  });

  test('a patch without operations still needs the right to update', async () => {
    expect((await patch([], { who: 'lessee-reader' })).status).toBe(403);
    expect((await patch([], { who: 'lessee-member' })).status).toBe(200);
  });

  test('the owner of an active node changes only by a rule of its own', async () => {
    await set({ provision_state: 'active' });
    expect((await patch(replace('/owner', stranger), { who: 'system-member' })).status).toBe(409);
    expect((await patch(replace('/owner', stranger), { who: 'operator' })).status).toBe(200);
  });
});

describe('states', () => {
  const run = '33333333-3333-4333-8333-333333333333';
  test.each([
    [{ reservation: run }, replace('/extra', {}), 115, 409],
    [{ provision_state: 'cleaning', target_provision_state: 'available' }, replace('/extra', {}), 115, 409],
    [{ provision_state: 'clean failed', target_provision_state: 'available' }, replace('/extra', {}), 115, 200],
    [{ provision_state: 'inspecting', target_provision_state: 'manageable' }, replace('/extra', {}), 39, 409],
    [{ provision_state: 'inspecting', target_provision_state: 'manageable' }, replace('/extra', {}), 38, 200],
    [{ provision_state: 'active' }, replace('/boot_interface', 'redfish-virtual-media'), 115, 200],
    [
      { provision_state: 'active', boot_interface: 'old' },
      replace('/boot_interface', 'redfish-virtual-media'),
      115,
      409,
    ],
    [
      { provision_state: 'active', boot_interface: 'old', maintenance: true },
      replace('/boot_interface', 'redfish-virtual-media'),
      115,
      200,
    ],
    [{ provision_state: 'active', resource_class: 'a' }, replace('/resource_class', 'b'), 115, 409],
    [{ provision_state: 'manageable', resource_class: 'a' }, replace('/resource_class', 'b'), 115, 200],
    [{ provision_state: 'manageable' }, replace('/protected', true), 115, 409],
    [{ provision_state: 'active' }, replace('/protected', true), 115, 200],
    [{ provision_state: 'available' }, replace('/retired', true), 115, 409],
    [{ instance_uuid: run }, replace('/instance_uuid', '44444444-4444-4444-8444-444444444444'), 115, 409],
    [{ instance_uuid: run }, replace('/instance_uuid', run), 115, 200],
    [{ instance_uuid: run }, [{ op: 'remove', path: '/instance_uuid' }], 115, 200],
    [
      { instance_uuid: run, maintenance: true, provision_state: 'cleaning', target_provision_state: 'available' },
      [{ op: 'remove', path: '/instance_uuid' }],
      115,
      200,
    ],
    [{ driver: 'redfish', console_enabled: true }, replace('/driver', 'fake-hardware'), 115, 400],
  ])('with %j, %j at 1.%s is %s', async (columns, operations, minor, status) => {
    await set(columns);
    const { uuid } = (await api.as('operator', 'GET', '/v1/nodes/n1')).body;
    const reply = await api.as('operator', 'PATCH', `/v1/nodes/${uuid}`, { body: operations, minor });
    expect(reply.status).toBe(status);
  });

  test('clearing a flag clears its reason, and clearing maintenance its fault', async () => {
    await set({
      maintenance: true,
      maintenance_reason: 'dust',
      fault: 'clean failure',
      retired: true,
      retired_reason: 'old',
      protected: true,
      protected_reason: 'mine',
    });
    const reply = await patch([
      ...replace('/maintenance', false),
      ...replace('/retired', 'False'),
      { op: 'remove', path: '/protected' },
    ]);
    expect(reply.body).toMatchObject({
      maintenance_reason: null,
      fault: null,
      retired: false,
      retired_reason: null,
      protected: false,
      protected_reason: null,
    });
  });
});

describe('driver', () => {
  test('a change with reset_interfaces takes the new driver’s defaults, but for the interfaces that are named', async () => {
    const reply = await patch([...replace('/driver', 'fake-hardware'), ...replace('/bios_interface', 'no-bios')], {
      query: '?reset_interfaces=True',
    });
    expect(reply.body).toMatchObject({ driver: 'fake-hardware', power_interface: 'fake', bios_interface: 'no-bios' });
  });

  test.each([
    [replace('/driver', 'fake-hardware'), 44, 406],
    [replace('/driver', 'fake-hardware'), 45, 200],
    [replace('/extra', {}), 45, 400],
  ])('reset_interfaces with %j at 1.%s is %s', async (operations, minor, status) => {
    expect((await patch(operations, { minor, query: '?reset_interfaces=true' })).status).toBe(status);
  });
});

describe('secrets', () => {
  const secretOf = async () =>
    (await api.sql`select driver_info from nodes where name = 'n1'`)[0]!.driver_info.redfish_password;
  const stored = async () =>
    (
      await api.sql`select id from secrets where holder = 'node' and holder_id = (select uuid from nodes where name = 'n1')`
    ).map((row) => row.id);

  test('a client that reads, edits and writes driver_info loses no secret', async () => {
    const before = await secretOf();
    const { driver_info } = (await api.as('operator', 'GET', '/v1/nodes/n1')).body;
    const reply = await patch(replace('/driver_info', { ...driver_info, redfish_username: 'root' }));
    expect(reply.body.driver_info).toMatchObject({ redfish_username: 'root', redfish_password: '******' });
    expect(await secretOf()).toEqual(before);
    expect(await stored()).toEqual([before.$secret]);
  });

  test('a new value replaces the stored one, and nothing of the old one remains', async () => {
    const before = await secretOf();
    const reply = await patch(replace('/driver_info/redfish_password', 'hunter9'));
    expect(reply.text).not.toContain('hunter');
    const after = await secretOf();
    expect(after.$secret).not.toBe(before.$secret);
    expect(await stored()).toEqual([after.$secret]);
    expect(JSON.stringify(await api.sql`select data from audit`)).not.toContain('hunter');
  });

  test('a secret that is removed is gone', async () => {
    await patch([{ op: 'remove', path: '/driver_info/redfish_password' }]);
    expect(await stored()).toEqual([]);
  });

  test('no caller can point at a secret, not even at the node’s own elsewhere stored one', async () => {
    const other = '55555555-5555-4555-8555-555555555555';
    for (const value of [{ $secret: other }, '******'])
      expect((await patch([{ op: 'add', path: '/driver_info/other_password', value }])).status).toBe(400);
    expect((await patch([{ op: 'add', path: '/instance_info', value: { token: await secretOf() } }])).status).toBe(400);
  });
});

test('patches one after another build nothing deeper than a body may be', async () => {
  const nested = (levels: number): unknown => (levels === 0 ? {} : { a: nested(levels - 1) });
  expect((await patch(replace('/extra', nested(20)))).status).toBe(200);
  const below = `/extra${'/a'.repeat(20)}/b`;
  expect((await patch([{ op: 'add', path: below, value: nested(1) }])).status).toBe(200);
  expect((await patch([{ op: 'add', path: `${below}/a/a`, value: nested(20) }])).status).toBe(400);
});

test('patches one after another build nothing larger than a body may be, and what is larger already can shrink', async () => {
  const long = 'x'.repeat(600_000);
  expect((await patch([{ op: 'add', path: '/extra/a', value: long }])).status).toBe(200);
  const refused = await patch([{ op: 'add', path: '/extra/b', value: long }]);
  expect(refused.status).toBe(400);
  expect(faultOf(refused)).toMatch(/extra.*1048576 bytes/);
  expect(Object.keys((await api.as('operator', 'GET', '/v1/nodes/n1')).body.extra)).toEqual(['a']);
  await set({ extra: api.sql.json({ a: long, b: long, c: long }) });
  expect((await patch([{ op: 'add', path: '/extra/d', value: 1 }])).status).toBe(400);
  expect((await patch([{ op: 'remove', path: '/extra/a' }])).status).toBe(200);
});

test('a patch that lost a race is made again on what the other one left', async () => {
  const replies = await Promise.all(
    ['a', 'b', 'c'].map((key) => patch([{ op: 'add', path: `/extra/${key}`, value: 1 }])),
  );
  const kept = (await api.as('operator', 'GET', '/v1/nodes/n1')).body.extra;
  const done = ['a', 'b', 'c'].filter((_, at) => replies[at]!.status === 200);
  expect(Object.keys(kept).sort()).toEqual(done);
  expect(replies.every((reply) => [200, 409].includes(reply.status))).toBe(true);
});

test('a name that another node has is a conflict', async () => {
  await api.as('operator', 'POST', '/v1/nodes', { body: { name: 'n2', driver: 'fake-hardware' } });
  const reply = await patch(replace('/name', 'n2'));
  expect([reply.status, faultOf(reply)]).toEqual([409, 'A node with name n2 already exists.']);
});

test('a new lessee begins a lease, and the old one’s ends', async () => {
  await patch(replace('/lessee', stranger));
  const leases = await api.sql`
    select project, ended_at is null as open from leases where node_uuid = (select uuid from nodes where name = 'n1') order by started_at, ended_at nulls last`;
  expect(leases).toEqual([
    { project: lessee, open: false },
    { project: stranger, open: true },
  ]);
});

test('a node that goes back to an installation that cleans nothing loses its cleaning by the rule for that', async () => {
  const settings = api.rooms.settings;
  Object.assign(api.rooms, { settings: { ...settings, automatedClean: false } });
  const [row] = await api.sql<{ uuid: string }[]>`
    insert into nodes ${api.sql({ driver: 'fake-hardware', owner, automated_clean: true } as never)} returning uuid`;
  const patches = [
    [{ op: 'remove', path: '/automated_clean' }],
    [{ op: 'replace', path: '/automated_clean', value: null }],
  ];
  for (const body of patches) {
    const reply = await api.as('owner-admin', 'PATCH', `/v1/nodes/${row!.uuid}`, { body });
    expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('baremetal:node:disable_cleaning')]);
  }
  Object.assign(api.rooms, { settings });
  const { status } = await api.as('owner-admin', 'PATCH', `/v1/nodes/${row!.uuid}`, { body: patches[0] });
  expect(status).toBe(200);
});

test.each([
  ['temper:node:update:set_maintenance', [403, 200]],
  ['temper:node:update:clear_maintenance', [200, 403]],
])('maintenance is set and ended by a patch with a rule for each: without %s %j', async (rule, statuses) => {
  api.setPolicy({ set: 'temper', overrides: { [rule]: '!' } });
  try {
    const seen: number[] = [];
    for (const [is, to] of [
      [false, true],
      [true, false],
    ]) {
      await set({ maintenance: is });
      seen.push((await patch(replace('/maintenance', to))).status);
    }
    expect(seen).toEqual(statuses);
  } finally {
    api.setPolicy({ set: 'temper' });
  }
});
