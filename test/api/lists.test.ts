/** What every list takes: pages, markers, sort keys and filters, each refused and repeated as the contract has it. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { namesAt, wireShapes } from '../support/wire-shapes';
import { owner } from '../support/world';

let api: TestApi;
const step = { interface: 'power', step: 'reboot', args: {} };

const made = async (path: string, body: object): Promise<string> => {
  const reply = await api.as('operator', 'POST', path, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  return reply.body.uuid;
};

beforeAll(async () => {
  api = await startTestApi({ settings: { maxLimit: 4 } });
  for (const hostname of ['w1', 'w2', 'w3'])
    await api.sql`insert into workers (hostname, conductor_group, drivers, role) values (${hostname}, '', '{redfish}', 'bmc')`;
  for (const nth of [1, 2, 3]) {
    const chassis_uuid = await made('/v1/chassis', { description: `c${nth}` });
    const node_uuid = await made('/v1/nodes', {
      name: `n${nth}`,
      driver: 'redfish',
      owner,
      resource_class: 'gold',
      conductor_group: 'g',
      shard: 's',
      description: 'a node',
      chassis_uuid,
    });
    await made('/v1/ports', { node_uuid, address: `52:54:00:00:00:0${nth}`, description: 'a port' });
    await made('/v1/portgroups', { node_uuid, name: `pg${nth}` });
    await made('/v1/volume/connectors', { node_uuid, type: 'ip', connector_id: String(nth) });
    await made('/v1/volume/targets', { node_uuid, volume_type: 'iscsi', volume_id: String(nth), boot_index: nth });
    await made('/v1/allocations', { name: `a${nth}`, resource_class: 'gold', owner });
    await made('/v1/deploy_templates', { name: `CUSTOM_T${nth}`, steps: [{ ...step, priority: 1 }] });
    await made('/v1/runbooks', { name: `CUSTOM_R${nth}`, steps: [{ ...step, order: 1 }], owner });
    await made('/v1/inspection_rules', { actions: [{ op: 'fail' }], priority: nth });
  }
});
afterAll(() => api.close());

type Row = {
  readonly list: keyof typeof wireShapes;
  /** Fields that are no sort keys. */
  readonly unsortable: string;
  /** A filter that all three fit, as a query. */
  readonly filters: readonly string[];
  /** What a marker that is no UUID is answered; 400 for most. */
  readonly oddMarker?: 404;
};

// openstack/ironic:ironic/api/controllers/v1, invalid_sort_key_list of each collection.
const rows: readonly Row[] = [
  {
    list: 'node',
    unsortable:
      'properties driver_info extra instance_info driver_internal_info clean_step deploy_step service_step raid_config target_raid_config traits network_data',
    filters: [
      'driver=redfish',
      'resource_class=gold',
      'conductor_group=g',
      'shard=s',
      'sharded=true',
      'owner=project-owner',
      'project=project-owner',
      'maintenance=false',
      'associated=false',
      'retired=false',
      'provision_state=enroll',
      'description_contains=node',
      'include_children=true',
    ],
  },
  {
    list: 'port',
    unsortable: 'extra internal_info local_link_connection',
    filters: ['shard=s', 'conductor_groups=g', 'description_contains=port'],
  },
  {
    list: 'portgroup',
    unsortable: 'extra internal_info properties',
    filters: ['shard=s', 'conductor_groups=g'],
  },
  { list: 'connector', unsortable: 'extra', filters: [] },
  { list: 'target', unsortable: 'extra properties', filters: [] },
  { list: 'chassis', unsortable: 'extra', filters: [] },
  {
    list: 'allocation',
    unsortable: 'extra candidate_nodes traits',
    filters: ['resource_class=gold', 'state=allocating', 'owner=project-owner'],
  },
  { list: 'template', unsortable: 'extra steps', filters: [], oddMarker: 404 },
  { list: 'runbook', unsortable: 'extra steps traits', filters: ['project=project-owner'], oddMarker: 404 },
  { list: 'rule', unsortable: 'actions conditions', filters: ['phase=main'] },
  { list: 'conductor', unsortable: 'alive drivers', filters: [], oddMarker: 404 },
];

describe.each(rows)('$list', ({ list, unsortable, filters, oddMarker }) => {
  const { path, key, shape } = wireShapes[list] as { path: string; key: string; shape: Parameters<typeof namesAt>[0] };
  const id = list === 'conductor' ? 'hostname' : 'uuid';
  const get = (query: string, minor?: number) => api.as('operator', 'GET', `${path}?${query}`, { minor });
  const idsOf = async (query: string): Promise<string[]> =>
    (await get(query)).body[key].map((one: Record<string, string>) => one[id]);

  test('pages follow each other by next, in both directions, and end', async () => {
    for (const order of ['', '&sort_dir=desc', '&sort_key=created_at', '&sort_key=updated_at&sort_dir=desc']) {
      const whole = await idsOf(order);
      expect(whole).toHaveLength(3);
      const found: string[] = [];
      let next: string | undefined = `${api.url}${path}?limit=1${order}`;
      while (next !== undefined && found.length < 9) {
        const reply = await api.as('operator', 'GET', next.replace(api.url, ''));
        found.push(...reply.body[key].map((one: Record<string, string>) => one[id]));
        next = reply.body.next;
      }
      expect([order, found]).toEqual([order, whole]);
    }
  });

  test('a page that is full has a next, though nothing follows; a shorter one has none', async () => {
    expect((await get('limit=3')).body.next).toContain('limit=3');
    expect((await get('limit=4')).body.next).toBeUndefined();
    expect((await get('limit=4000')).body[key]).toHaveLength(3);
  });

  test.each(['limit=0', 'limit=-1', 'limit=many', 'sort_dir=up', 'sort_key=colour', 'sort_key=links', 'colour=red'])(
    '%s is refused',
    async (query) => expect((await get(query)).status).toBe(400),
  );

  test('a marker must be known', async () => {
    expect((await get('marker=99999999-9999-4999-8999-999999999999')).status).toBe(404);
    expect((await get('marker=no-such')).status).toBe(oddMarker ?? 400);
  });

  test('every plain field is a sort key, and no document is', async () => {
    const never = [
      ...unsortable.split(' '),
      'links',
      'ports',
      'states',
      'portgroups',
      'volume',
      'nodes',
      'allocation_uuid',
      'conductor',
    ];
    for (const name of namesAt(shape, 115).filter((one) => !never.includes(one)))
      expect([name, (await get(`sort_key=${name}`)).status]).toEqual([name, 200]);
    for (const name of unsortable.split(' '))
      expect([name, (await get(`sort_key=${name}`)).status]).toEqual([name, 400]);
  });

  test('next repeats every parameter', async () => {
    for (const filter of filters) {
      const { next } = (await get(`limit=1&sort_key=created_at&sort_dir=desc&fields=created_at,${id}&${filter}`)).body;
      expect([filter, next]).toEqual([filter, expect.any(String)]);
      const asked = Object.fromEntries(new URL(next).searchParams);
      const [name, value] = filter.split('=') as [string, string];
      expect(asked).toMatchObject({ [name]: value, limit: '1', sort_key: 'created_at', sort_dir: 'desc' });
      expect(asked.fields?.split(',').sort()).toEqual(['created_at', id].sort());
      expect(asked.marker).toEqual(expect.any(String));
    }
  });
});

test.each([
  ['/v1/nodes', 'fields=uuid', 7, 406],
  ['/v1/nodes', 'detail=true', 42, 400],
  ['/v1/ports', 'detail=true', 42, 400],
  ['/v1/nodes', 'sort_key=owner', 49, 406],
  ['/v1/nodes', 'fields=owner', 49, 406],
  ['/v1/nodes', 'owner=x', 49, 406],
  ['/v1/portgroups', 'shard=x', 105, 406],
] as const)('%s?%s at 1.%i answers %i, and the next version takes it', async (path, query, minor, status) => {
  expect((await api.as('operator', 'GET', `${path}?${query}`, { minor })).status).toBe(status);
  expect((await api.as('operator', 'GET', `${path}?${query}`, { minor: minor + 1 })).status).toBe(200);
});

test('a refusal of a sort key says which there are', async () => {
  const reply = await api.as('operator', 'GET', '/v1/nodes?sort_key=colour');
  expect(faultOf(reply)).toMatch(/sort keys are: id, uuid, /);
});
