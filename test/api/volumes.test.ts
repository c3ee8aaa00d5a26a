/** Volume connectors and targets: who sees what properties, where their secrets are, and when they may change. */
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
let home: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
  const columns = { name: 'n1', driver: 'redfish', provision_state: 'active', power_state: 'power off', owner, lessee };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  home = row!.uuid;
});

const properties = { target_iqn: 'iqn.2026-11.example:1', auth_username: 'u', auth_password: 'geheim' };
const given = { volume_type: 'iscsi', volume_id: 'v1', boot_index: 0 };
const target = (more: object = {}, request: Request = {}) =>
  api.as('operator', 'POST', '/v1/volume/targets', { body: { node_uuid: home, ...given, ...more }, ...request });
const made = async (more: object = {}): Promise<string> => (await target(more)).body.uuid;
const connector = (more: object = {}) =>
  api.as('operator', 'POST', '/v1/volume/connectors', {
    body: { node_uuid: home, type: 'ip', connector_id: '192.0.2.1', ...more },
  });
const patch = (who: Persona, uuid: string, ops: unknown) =>
  api.as(who, 'PATCH', `/v1/volume/targets/${uuid}`, { body: ops });

test.each([
  ['operator', '/v1/volume', 200],
  ['system-reader', '/v1/volume', 200],
  ['owner-admin', '/v1/volume', 403],
  ['system-reader', '/v1/nodes/n1/volume', 200],
  ['owner-reader', '/v1/nodes/n1/volume', 200],
  ['lessee-reader', '/v1/nodes/n1/volume', 200],
  ['stranger-admin', '/v1/nodes/n1/volume', 404],
] as const)('%s asks %s what there is: %i', async (who, path, status) => {
  const reply = await api.as(who, 'GET', path);
  expect(reply.status).toBe(status);
  const below = path.replace('n1', home);
  if (status === 200) expect(reply.body.targets[0].href).toBe(`${api.url}${below}/targets`);
  expect((await api.as(who, 'GET', path, { minor: 31 })).status).toBe(404);
});

test('their lists take detail from the start', async () => {
  await made();
  const { body } = await api.as('operator', 'GET', '/v1/volume/targets?detail=True', { minor: 32 });
  expect(body.targets[0]).toHaveProperty('properties');
});

describe('properties of a target', () => {
  test('never show their secrets, nor does the store outside of its vault', async () => {
    const { body } = await target({ properties });
    expect(body.properties).toEqual({ ...properties, auth_password: '******' });
    const [row] = await api.sql`select properties::text as text from volume_targets where uuid = ${body.uuid}`;
    expect(row!.text).not.toContain('geheim');
    const told = await api.sql`
      select data::text as text from audit where resource_id = ${body.uuid}
      union all select data::text from events where node_uuid = ${home}`;
    expect(told).toHaveLength(2);
    for (const { text } of told) expect(text).not.toContain('geheim');
  });

  test.each([
    ['operator', true],
    ['system-reader', true],
    ['owner-admin', true],
    ['owner-manager', false],
    ['owner-reader', false],
    ['lessee-admin', true],
    ['lessee-manager', false],
    ['lessee-reader', false],
  ] as const)('%s sees them at all: %s', async (who, sees) => {
    const uuid = await made({ properties });
    const expected = sees
      ? { ...properties, auth_password: '******' }
      : {
          redacted_contents:
            '** Value redacted: Requires permission baremetal:volume:view_target_properties access. Permission denied. **',
        };
    expect((await api.as(who, 'GET', `/v1/volume/targets/${uuid}`)).body.properties).toEqual(expected);
    for (const path of ['/v1/volume/targets?detail=True', '/v1/nodes/n1/volume/targets?fields=properties'])
      expect((await api.as(who, 'GET', path)).body.targets[0].properties).toEqual(expected);
  });

  test('in one list, an admin sees those of the nodes of its own project and of no others that it may list', async () => {
    await made({ properties });
    const columns = { name: 'n2', driver: 'redfish', provision_state: 'active', power_state: 'power off' };
    const [other] = await api.sql<{ uuid: string }[]>`
      insert into nodes ${api.sql({ ...columns, owner: stranger })} returning uuid`;
    await made({ node_uuid: other!.uuid, properties });
    api.setPolicy({
      set: 'temper',
      overrides: Object.fromEntries(['node:get', 'volume:get'].map((rule) => [`baremetal:${rule}`, 'role:admin'])),
    });
    const { body } = await api.as('owner-admin', 'GET', '/v1/volume/targets?detail=True');
    api.setPolicy({ set: 'temper' });
    const shown = body.targets.map(({ node_uuid, properties: its }: { node_uuid: string; properties: object }) => [
      node_uuid === home,
      'target_iqn' in its,
    ]);
    expect(shown).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  test('a mask that comes back keeps what it hides; one that hides nothing is refused', async () => {
    const uuid = await made({ properties });
    const secrets = () => api.sql`select id from secrets where holder = 'volume_target' and holder_id = ${uuid}`;
    const [first] = await secrets();
    const shown = (await api.as('operator', 'GET', `/v1/volume/targets/${uuid}`)).body.properties;
    expect((await patch('operator', uuid, [{ op: 'replace', path: '/properties', value: shown }])).status).toBe(200);
    expect(await secrets()).toEqual([first]);
    const other = [{ op: 'add', path: '/properties/other_password', value: '******' }];
    expect((await patch('operator', uuid, other)).status).toBe(400);
    expect((await target({ boot_index: 1, properties: { auth_password: '******' } })).status).toBe(400);
    const forged = { properties: { auth_password: { $secret: first!.id } } };
    expect((await target({ boot_index: 1, ...forged })).status).toBe(400);
  });

  test('a secret that is replaced, removed or deleted with its target is gone', async () => {
    const uuid = await made({ properties });
    const ids = async () => (await api.sql`select id from secrets where holder_id = ${uuid}`).map(({ id }) => id);
    const [first] = await ids();
    await patch('operator', uuid, [{ op: 'replace', path: '/properties/auth_password', value: 'neu' }]);
    expect(await ids()).toEqual([expect.not.stringMatching(first)]);
    expect((await api.as('operator', 'DELETE', `/v1/volume/targets/${uuid}`)).status).toBe(204);
    expect(await ids()).toEqual([]);
  });

  test('what a node took with it is swept', async () => {
    const uuid = await made({ properties });
    const count = async () => (await api.sql`select 1 from secrets where holder_id = ${uuid}`).length;
    await api.inventory.secrets.sweep();
    expect(await count()).toBe(1);
    await api.sql`delete from nodes`;
    await api.inventory.secrets.sweep();
    expect(await count()).toBe(0);
  });
});

test.each([
  [{ boot_index: -1 }, 'boot_index'],
  [{ boot_index: 4_000_000_000 }, 'boot_index'],
  [{ boot_index: '0' }, 'boot_index'],
  [{ volume_id: 'x'.repeat(37) }, 'volume_id'],
  [{ volume_id: undefined }, 'volume_id'],
  [{ volume_type: '' }, 'volume_type'],
  [{ properties: [] }, 'properties'],
])('a target with %j is refused, naming the field', async (more, says) => {
  const refused = await target(more);
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
});

test('a node boots from one target at each place, and a connector is one node’s', async () => {
  await made();
  expect([(await target()).status, (await target({ boot_index: 1 })).status]).toEqual([409, 201]);
  expect((await connector()).status).toBe(201);
  const again = await connector();
  expect([again.status, faultOf(again)]).toEqual([409, expect.stringContaining('connector_id 192.0.2.1')]);
  expect((await connector({ type: 'mac' })).status).toBe(201);
});

describe('while the node is not powered off', () => {
  const ops = [{ op: 'add', path: '/extra/a', value: 1 }];

  test.each([
    ['power on', 400],
    [null, 400],
    ['power off', 200],
  ])('power state %j answers %i to a change', async (power_state, status) => {
    const uuid = await made();
    await api.sql`update nodes set power_state = ${power_state}`;
    expect((await patch('operator', uuid, ops)).status).toBe(status);
    const { uuid: other } = (await connector()).body;
    expect((await api.as('operator', 'PATCH', `/v1/volume/connectors/${other}`, { body: ops })).status).toBe(status);
  });

  test.each([
    ['active', 400],
    ['manageable', 204],
  ])('in state %s it answers %i to a removal', async (provision_state, status) => {
    const uuid = await made();
    await api.sql`update nodes set power_state = 'power on', provision_state = ${provision_state}`;
    expect((await api.as('operator', 'DELETE', `/v1/volume/targets/${uuid}`)).status).toBe(status);
  });
});
