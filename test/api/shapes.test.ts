/** What clients decode: of every resource the keys of a version and the types of their values, when little is said and when much is. */
import { randomUUID } from 'node:crypto';
import { addWorker, startTestApi, type TestApi } from '../support/api';
import { fits, namesAt, type Shape, wireShapes } from '../support/wire-shapes';
import { lessee, owner } from '../support/world';

let api: TestApi;
/** Where one of each is shown that was made with as little as possible, and with as much as possible. */
const shown: Record<string, { bare: string; full: string }> = {};

const made = async (path: string, body: object): Promise<string> => {
  const reply = await api.as('operator', 'POST', `/v1${path}`, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  expect(reply.headers.get('location')).toBe(`${api.url}/v1${path}/${reply.body.uuid}`);
  expect(reply.headers.get('content-type')).toBe('application/json');
  return reply.body.uuid;
};
const pair = async (name: string, path: string, bare: object, full: object): Promise<string> => {
  const uuids = [await made(path, bare), await made(path, full)];
  shown[name] = { bare: `/v1${path}/${uuids[0]}`, full: `/v1${path}/${uuids[1]}` };
  return uuids[1]!;
};

const step = { interface: 'power', step: 'reboot', args: {} };
const extra = { a: { b: [1, 'c', null] } };

beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
  const chassis_uuid = await pair('chassis', '/chassis', {}, { description: 'x', extra });
  const parent_node = await made('/nodes', { driver: 'redfish', owner });
  const node_uuid = await pair(
    'node',
    '/nodes',
    { driver: 'redfish' },
    {
      name: 'full',
      driver: 'redfish',
      driver_info: { redfish_address: 'https://192.0.2.7', redfish_password: 'hunter2' },
      properties: { cpus: 2, capabilities: 'boot_mode:uefi' },
      instance_info: { image_source: 'https://images.example.org/a.img' },
      instance_name: 'web',
      instance_uuid: randomUUID(),
      network_data: { links: [], networks: [], services: [] },
      resource_class: 'gold',
      conductor_group: 'g',
      automated_clean: true,
      description: 'x',
      shard: 's',
      disable_power_off: true,
      chassis_uuid,
      parent_node,
      extra,
      owner,
      lessee,
    },
  );
  const json = (value: unknown) => api.sql.json(value as never);
  await api.sql`update nodes set ${api.sql({
    power_state: 'power on',
    target_power_state: 'power off',
    target_provision_state: 'manageable',
    provision_updated_at: new Date(),
    inspection_started_at: new Date(1_700_000_000_000),
    inspection_finished_at: new Date(1_700_000_000_123),
    maintenance: true,
    maintenance_reason: 'x',
    protected: true,
    protected_reason: 'x',
    retired: true,
    retired_reason: 'x',
    last_error: 'x',
    fault: 'power failure',
    traits: ['CUSTOM_A'],
    clean_step: json(step),
    deploy_step: json(step),
    service_step: json(step),
    raid_config: json({ logical_disks: [] }),
    target_raid_config: json({ logical_disks: [] }),
    driver_internal_info: json({ a: 1 }),
    boot_mode: 'uefi',
    secure_boot: true,
    health: 'OK',
  })} where uuid = ${node_uuid}`;
  const portgroup_uuid = await pair(
    'portgroup',
    '/portgroups',
    { node_uuid },
    {
      node_uuid,
      name: 'bond',
      address: '52:54:00:00:00:aa',
      properties: { miimon: 100 },
      category: 'x',
      extra,
    },
  );
  await pair(
    'port',
    '/ports',
    { node_uuid, address: '52:54:00:00:00:01' },
    {
      node_uuid,
      portgroup_uuid,
      address: '52:54:00:00:00:02',
      local_link_connection: { port_id: 'eth1', switch_id: '52:54:00:00:00:ff' },
      name: 'eth0',
      description: 'x',
      vendor: 'x',
      category: 'x',
      extra,
    },
  );
  await pair(
    'connector',
    '/volume/connectors',
    { node_uuid, type: 'ip', connector_id: 'a' },
    {
      node_uuid,
      type: 'iqn',
      connector_id: 'b',
      extra,
    },
  );
  const volume = { node_uuid, volume_type: 'iscsi', volume_id: 'v' };
  await pair(
    'target',
    '/volume/targets',
    { ...volume, boot_index: 0 },
    { ...volume, boot_index: 1, properties: { target_lun: 1 }, extra },
  );
  await pair(
    'template',
    '/deploy_templates',
    { name: 'CUSTOM_A', steps: [{ ...step, priority: 1 }] },
    {
      name: 'CUSTOM_B',
      steps: [{ ...step, priority: 1 }],
      extra,
    },
  );
  await pair(
    'runbook',
    '/runbooks',
    { name: 'CUSTOM_A', steps: [{ ...step, order: 1 }] },
    {
      name: 'CUSTOM_B',
      steps: [{ ...step, order: 1 }],
      owner,
      description: 'x',
      disable_ramdisk: true,
      extra,
    },
  );
  const actions = [{ op: 'log', args: { msg: 'x' } }];
  await pair(
    'rule',
    '/inspection_rules',
    { actions },
    {
      actions,
      conditions: [{ op: 'eq', args: [1, 1] }],
      description: 'x',
      priority: 3,
    },
  );
  await pair(
    'allocation',
    '/allocations',
    { resource_class: 'x' },
    {
      resource_class: 'y',
      name: 'web',
      traits: ['CUSTOM_A'],
      candidate_nodes: [node_uuid],
      owner,
      extra,
    },
  );
  shown.conductor = { bare: '/v1/conductors/worker-1', full: '/v1/conductors/worker-1' };
  shown.driver = { bare: '/v1/drivers/redfish', full: '/v1/drivers/fake-hardware' };
  shown.states = { bare: `${shown.node!.bare}/states`, full: `${shown.node!.full}/states` };
});
afterAll(() => api.close());

const get = (path: string, minor: number) => api.as('operator', 'GET', path, { minor });

/** The first version of a resource, one in the middle, those right before and at each change of its keys, and the newest. */
const versionsOf = ({ shape, since }: { shape: Shape; since: number }): number[] => {
  const changes = Object.values(shape).flatMap(([, at]) => (at !== undefined && at > since ? [at - 1, at] : []));
  return [...new Set([since, ...changes, Math.floor((since + 115) / 2), 115])].sort((a, b) => a - b);
};

const wrong = (shape: Shape, body: Record<string, unknown>): unknown[] =>
  Object.entries(body)
    .filter(([name, value]) => !fits(shape[name]?.[0] ?? 'text', value))
    .map(([name, value]) => ({ name, type: shape[name]?.[0], value }));

const names = Object.keys(wireShapes) as (keyof typeof wireShapes)[];

describe.each(names)('%s', (name) => {
  const row: { shape: Shape; since: number; path: string; key?: string; brief?: string } = wireShapes[name];

  test.each(['bare', 'full'] as const)('%s: every version shows its keys, each with its type', async (kind) => {
    for (const minor of versionsOf(row)) {
      const reply = await get(shown[name]![kind], minor);
      expect([minor, reply.status, reply.headers.get('content-type')]).toEqual([minor, 200, 'application/json']);
      expect({ minor, keys: Object.keys(reply.body).sort() }).toEqual({
        minor,
        keys: namesAt(row.shape, minor).sort(),
      });
      expect({ minor, wrong: wrong(row.shape, reply.body) }).toEqual({ minor, wrong: [] });
    }
  });

  const { key, brief } = row;
  if (key === undefined) return;

  test('a list shows what it shows by default, and everything with detail', async () => {
    for (const minor of versionsOf(row)) {
      const items: Record<string, unknown>[] = (await get(row.path, minor)).body[key];
      expect(items.length).toBeGreaterThan(0);
      const wanted = brief === undefined ? undefined : [...brief.split(' '), 'links'];
      const known = namesAt(row.shape, minor);
      for (const item of items) {
        if (wanted) expect(Object.keys(item).sort()).toEqual(wanted.filter((one) => known.includes(one)).sort());
        expect(wrong(row.shape, item)).toEqual([]);
      }
    }
    if (name === 'allocation') return; // knows no detail: it always shows everything
    const whole = (await get(`${row.path}?detail=true`, 115)).body[key][0];
    expect(Object.keys(whole).sort()).toEqual(namesAt(row.shape, 115).sort());
  });

  test('fields choose what is shown, links stay, and an unknown one is refused', async () => {
    const [one] = Object.keys(row.shape).filter((field) => !['links', 'ports', 'states', 'nodes'].includes(field));
    const [item] = (await get(`${row.path}?fields=${one}`, 115)).body[key];
    expect(Object.keys(item).sort()).toEqual([one, 'links'].sort());
    expect((await get(`${row.path}?fields=colour`, 115)).status).toBe(400);
    if (name !== 'allocation') expect((await get(`${row.path}?fields=${one}&detail=true`, 115)).status).toBe(400);
  });

  test('links are those of the resource, below the version and without it', async () => {
    const { body } = await get(shown[name]!.full, 115);
    const path = shown[name]!.full.replace(/^\/v1/, '');
    expect(body.links).toEqual([
      { href: `${api.url}/v1${path}`, rel: 'self' },
      { href: `${api.url}${path}`, rel: 'bookmark' },
    ]);
  });
});

test('links begin with the public endpoint where one is set', async () => {
  const behind = await startTestApi({ settings: { publicEndpoint: 'https://metal.example.org:6385/base' } });
  try {
    const reply = await behind.as('operator', 'POST', '/v1/chassis', { body: {} });
    const { uuid, links, nodes } = reply.body;
    expect(reply.headers.get('location')).toBe(`https://metal.example.org:6385/base/v1/chassis/${uuid}`);
    for (const { href } of [...links, ...nodes[0]]) expect(href).toMatch(/^https:\/\/metal\.example\.org:6385\/base\//);
    await behind.as('operator', 'POST', '/v1/chassis', { body: {} });
    const { next } = (await behind.as('operator', 'GET', '/v1/chassis?limit=1')).body;
    expect(next).toMatch(/^https:\/\/metal\.example\.org:6385\/base\/v1\/chassis\?limit=1&marker=/);
  } finally {
    await behind.close();
  }
});

test.each([
  ['PUT', '/maintenance', { reason: 'x' }, 202],
  ['DELETE', '/maintenance', undefined, 202],
  ['PUT', '/traits', { traits: [] }, 204],
  ['DELETE', '/traits', undefined, 204],
  ['PUT', '/states/raid', {}, 204],
  ['PUT', '/management/boot_device', { boot_device: 'pxe' }, 204],
  ['DELETE', '/vmedia', undefined, 204],
  ['PUT', '/states/provision', { target: 'manage' }, 202],
] as const)('an empty answer has no content type: %s %s', async (method, part, body, status) => {
  const { uuid } = (
    await api.as('operator', 'POST', '/v1/nodes', {
      body: { driver: 'redfish', driver_info: { redfish_address: 'https://192.0.2.7' } },
    })
  ).body;
  const reply = await api.as('operator', method, `/v1/nodes/${uuid}${part}`, { body });
  expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([status, '', null]);
});
