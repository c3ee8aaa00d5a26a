/** Shows of what may come with a request that older versions refuse it, and only it, and that it is taken from then on. */
import { generate } from 'selfsigned';
import type { Change } from '../../../tools/gen/version-changes';
import { type Fill, type NodeColumns, step } from '../../support/rule-world';
import { ask, type Bench, expectGood, expectRefused, freshMac, sidesOf } from './bench';

type Body = Readonly<Record<string, unknown>>;

type Sample = {
  /** Objects in braces. */
  readonly path: string;
  readonly body?: unknown;
  /** The same request without the argument, which the older version takes: path and body. Null where it takes none. */
  readonly without: readonly [path: string, body?: unknown] | null;
  readonly columns?: NodeColumns;
  readonly prepare?: (bench: Bench, fill: Fill) => Promise<Body | undefined>;
};

const node = '/v1/nodes/{node}';

const query = (path: string, name: string, value: string): Sample => ({
  path: `${path}?${name}=${value}`,
  without: [path],
});

const provision = (provision_state: string, plain: Body, more: Body): Sample => ({
  path: `${node}/states/provision`,
  body: { ...plain, ...more },
  without: [`${node}/states/provision`, plain],
  columns: { provision_state },
});

const power = (body: Body): Sample => ({
  path: `${node}/states/power`,
  body,
  without: [`${node}/states/power`, { target: 'power on' }],
});

const cleaning = { target: 'clean', clean_steps: [step] };
const service = { target: 'service', service_steps: [step] };
const deploySteps = {
  deploy_steps: [
    {
      interface: 'firmware',
      step: 'update',
      args: { settings: [{ component: 'bmc', url: 'https://images.example.org/bmc.bin' }] },
      priority: 70,
    },
  ],
};

/** A portgroup that a network without a wish takes, before the one that is named. */
const spareCard = async ({ api }: Bench, fill: Fill): Promise<undefined> => {
  const node_uuid = await fill('{node}');
  const [spare] = await api.sql<{ uuid: string }[]>`insert into portgroups ${api.sql({ node_uuid })} returning uuid`;
  for (const portgroup_uuid of [spare!.uuid, await fill('{portgroup}')])
    await api.sql`insert into ports ${api.sql({ node_uuid, portgroup_uuid, address: freshMac() })}`;
  return undefined;
};

/** A runbook that is approved for its node in the way of any version: its name is a trait of both. */
const approved = async ({ api }: Bench, fill: Fill): Promise<undefined> => {
  const [uuid, runbook] = [await fill('{node}'), await fill('{runbook}')];
  const [{ name }] = (await api.sql`select name from runbooks where uuid = ${runbook}`) as unknown as [
    { name: string },
  ];
  await api.sql`update nodes set traits = array[${name}] where uuid = ${uuid}`;
  return undefined;
};

const byRunbook = (provision_state: string, target: string): Sample => ({
  path: `${node}/states/provision`,
  body: { target, runbook: '{runbook}' },
  without: null,
  columns: { provision_state },
  prepare: approved,
});

const certificate = async (): Promise<string> =>
  (await generate([{ name: 'commonName', value: 'ramdisk' }], { keyType: 'ec' })).cert;

/** A heartbeat of the ramdisk that has just looked its node up. */
const beat = (plain: Body, more: () => Body | Promise<Body>): Sample => ({
  path: '/v1/heartbeat/{node}',
  without: null,
  columns: { provision_state: 'clean wait', booted: true },
  prepare: async (bench, fill) => {
    const found = await ask(bench, 115, `GET /v1/lookup?node_uuid=${await fill('{node}')}`);
    const { agent_token } = found.body.config;
    return { callback_url: 'https://127.0.0.1:9999', agent_token, ...plain, ...(await more()) };
  },
});

const port = (): Body => ({ address: freshMac() });

const samples: Readonly<Record<string, () => Sample>> = {
  'GET /v1/nodes fields': () => query('/v1/nodes', 'fields', 'uuid'),
  'GET /v1/nodes/:node_ident fields': () => query(node, 'fields', 'uuid'),
  'GET /v1/ports fields': () => query('/v1/ports', 'fields', 'uuid'),
  'GET /v1/ports/:port_ident fields': () => query('/v1/ports/{port}', 'fields', 'uuid'),
  'GET /v1/chassis fields': () => query('/v1/chassis', 'fields', 'uuid'),
  'GET /v1/chassis/:ident fields': () => query('/v1/chassis/{chassis}', 'fields', 'uuid'),
  'PUT /v1/nodes/:node_ident/states/power soft power off': () => power({ target: 'soft power off' }),
  'PUT /v1/nodes/:node_ident/states/power soft rebooting': () => power({ target: 'soft rebooting' }),
  'PUT /v1/nodes/:node_ident/states/power timeout': () => power({ target: 'power on', timeout: 30 }),
  'GET /v1/drivers type': () => query('/v1/drivers', 'type', 'dynamic'),
  'GET /v1/drivers detail': () => query('/v1/drivers', 'detail', 'true'),
  'PUT /v1/nodes/:node_ident/states/provision configdrive of a rebuild': () =>
    provision('active', { target: 'rebuild' }, { configdrive: 'H4sIAA==' }),
  'POST /v1/heartbeat/:node_ident agent_version': () => beat({}, () => ({ agent_version: '10.0.0' })),
  'GET /v1/nodes detail': () => query('/v1/nodes', 'detail', 'true'),
  'GET /v1/ports detail': () => query('/v1/ports', 'detail', 'true'),
  'GET /v1/portgroups detail': () => query('/v1/portgroups', 'detail', 'true'),
  'GET /v1/chassis detail': () => query('/v1/chassis', 'detail', 'true'),
  'PATCH /v1/nodes/:node_ident reset_interfaces': () => {
    const body = [{ op: 'replace', path: '/driver', value: 'redfish' }];
    return { path: `${node}?reset_interfaces=true`, body, without: [node, body] };
  },
  'PUT /v1/nodes/:node_ident/states/provision configdrive as an object': () =>
    provision('available', { target: 'active' }, { configdrive: { meta_data: { name: 'a' }, user_data: 'b' } }),
  'POST /v1/allocations node': () => ({
    path: '/v1/allocations',
    body: { node: '{node}', resource_class: 'gold' },
    without: ['/v1/allocations', { resource_class: 'gold' }],
    columns: { provision_state: 'active', resource_class: 'gold' },
  }),
  'PUT /v1/nodes/:node_ident/states/provision configdrive with vendor_data': () =>
    provision(
      'available',
      { target: 'active', configdrive: { meta_data: {} } },
      { configdrive: { meta_data: {}, vendor_data: { a: 1 } } },
    ),
  'POST /v1/nodes/:node_ident/vifs port_uuid': () => ({
    path: `${node}/vifs`,
    body: { id: 'net-1', port_uuid: '{port}' },
    without: [`${node}/vifs`, { id: 'net-2' }],
    prepare: spareCard,
  }),
  'POST /v1/nodes/:node_ident/vifs portgroup_uuid': () => ({
    path: `${node}/vifs`,
    body: { id: 'net-1', portgroup_uuid: '{portgroup}' },
    without: [`${node}/vifs`, { id: 'net-2' }],
    prepare: spareCard,
  }),
  'POST /v1/heartbeat/:node_ident agent_verify_ca': () =>
    beat({ agent_version: '10.0.0' }, async () => ({ agent_verify_ca: await certificate() })),
  'PUT /v1/nodes/:node_ident/states/provision deploy_steps of a deployment': () =>
    provision('available', { target: 'active' }, deploySteps),
  'PUT /v1/nodes/:node_ident/states/provision deploy_steps of a rebuild': () =>
    provision('active', { target: 'rebuild' }, deploySteps),
  'PUT /v1/nodes/:node_ident/states/provision disable_ramdisk of a cleaning': () =>
    provision('manageable', cleaning, { disable_ramdisk: true }),
  'POST /v1/heartbeat/:node_ident agent_status': () =>
    beat({ agent_version: '10.0.0' }, () => ({ agent_status: 'start' })),
  'POST /v1/heartbeat/:node_ident agent_status_message': () =>
    beat({ agent_version: '10.0.0' }, () => ({ agent_status_message: 'begun' })),
  'GET /v1/nodes/:node_ident/bios fields': () => query(`${node}/bios`, 'fields', 'name'),
  'GET /v1/nodes/:node_ident/bios detail': () => query(`${node}/bios`, 'detail', 'true'),
  'GET /v1/drivers fields': () => query('/v1/drivers', 'fields', 'name'),
  'GET /v1/drivers/:driver_name fields': () => query('/v1/drivers/redfish', 'fields', 'name'),
  'PUT /v1/nodes/:node_ident/states/provision runbook of a cleaning': () => byRunbook('manageable', 'clean'),
  'PUT /v1/nodes/:node_ident/states/provision runbook of a service': () => byRunbook('active', 'service'),
  'POST /v1/ports node_ident': () => ({
    path: '/v1/ports',
    body: { ...port(), node_ident: '{node}' },
    without: ['/v1/ports', { ...port(), node_uuid: '{node}' }],
  }),
  'PATCH /v1/ports/:port_ident node_ident': () => ({
    path: '/v1/ports/{port}',
    body: [{ op: 'replace', path: '/node_ident', value: '{node}' }],
    without: ['/v1/ports/{port}', [{ op: 'replace', path: '/node_uuid', value: '{node}' }]],
  }),
  'PUT /v1/nodes/:node_ident/states/provision disable_ramdisk of a service': () =>
    provision('active', service, { disable_ramdisk: true }),
};

/** Shows each of the arguments on both sides of the version. */
export const showArguments = async (
  bench: Bench,
  { of, names, below }: Extract<Change, { is: 'arguments' }>,
  minor: number,
): Promise<void> => {
  const { before, from } = sidesOf(minor);
  const method = of.split(' ')[0]!;
  for (const name of names) {
    const what = `${of} ${name}`;
    const sample = samples[what]?.();
    if (!sample) throw new Error(`no request is known for ${what}`);
    const fill = bench.world(sample.columns);
    const given = await sample.prepare?.(bench, fill);
    const [request, body] = [`${method} ${await fill(sample.path)}`, given ?? (await fill(sample.body))];
    const refused = await ask(bench, before, request, body);
    expectRefused(what, refused, below, minor);
    expect([what, refused.text]).toEqual([what, expect.stringContaining(`1.${minor}`)]);
    if (sample.without) {
      const [path, plain] = await fill(sample.without);
      expectGood(`${what}, left out`, await ask(bench, before, `${method} ${path}`, plain));
    }
    expectGood(what, await ask(bench, from, request, body));
  }
};
