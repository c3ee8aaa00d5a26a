/** Shows of a route that older versions have no such path or method, and that it answers from the version on that brought it. */
import type { Change } from '../../../tools/gen/version-changes';
import { happened } from '../../support/happenings';
import { type Fill, image, type NodeColumns, step } from '../../support/rule-world';
import { ask, type Bench, expectGood, expectRefused, fresh, sidesOf } from './bench';

type Sample = {
  /** With the version before the path; objects in braces, and what `prepare` makes in angle brackets. */
  readonly path?: string;
  readonly body?: unknown;
  readonly columns?: NodeColumns;
  readonly prepare?: (bench: Bench, fill: Fill) => Promise<string | undefined>;
  /** A refusal that only a version can give which knows the path: what later versions made necessary is missing. */
  readonly refusal?: RegExp;
};

const node = '/v1/nodes/{node}';
const extra = [{ op: 'add', path: '/extra/a', value: 1 }];

const biosOf = async ({ api }: Bench, fill: Fill): Promise<string> => {
  await api.inventory.details.write((await fill('{node}')) as never, { bios: [{ name: 'ProcTurbo', value: 'On' }] });
  return 'ProcTurbo';
};

const eventOf = async (bench: Bench, fill: Fill): Promise<string> => {
  const uuid = await fill('{node}');
  await happened(bench.api, { node: uuid as never, run: null }, 'node.moved', { from: 'a', to: 'b' });
  const { body } = await ask(bench, 115, `GET /v1/nodes/${uuid}/history`);
  return body.history[0].uuid;
};

const allocate = async ({ api }: Bench, fill: Fill): Promise<undefined> => {
  const uuid = await fill('{node}');
  const [made] = await api.sql`
    insert into allocations (resource_class, state, node_uuid) values ('x', 'active', ${uuid}) returning uuid`;
  await api.sql`update nodes set allocation_uuid = ${made!.uuid}, instance_uuid = ${made!.uuid} where uuid = ${uuid}`;
  return undefined;
};

/** The five requests of a collection. */
const collection = (
  path: string,
  [ident, object]: readonly [string, string],
  body: () => unknown,
  changes: unknown = extra,
): Readonly<Record<string, () => Sample>> => ({
  [`GET ${path}`]: () => ({}),
  [`GET ${path}/:${ident}`]: () => ({ path: `${path}/{${object}}` }),
  [`POST ${path}`]: () => ({ body: body() }),
  [`PATCH ${path}/:${ident}`]: () => ({ path: `${path}/{${object}}`, body: changes }),
  [`DELETE ${path}/:${ident}`]: () => ({ path: `${path}/{${object}}` }),
});

const poweredOff = { power_state: 'power off' };
const below =
  (path: string, more: Sample = {}) =>
  () => ({ path: `${node}${path}`, ...more });

const samples: Readonly<Record<string, () => Sample>> = {
  'PUT /v1/nodes/:node_ident/states/raid': below('/states/raid', {
    body: { logical_disks: [{ size_gb: 'MAX', raid_level: '1' }] },
    columns: { raid_interface: 'redfish' },
  }),
  'GET /v1/drivers/:driver_name/raid/logical_disk_properties': () => ({
    path: '/v1/drivers/redfish/raid/logical_disk_properties',
  }),
  'GET /v1/lookup': () => ({
    path: '/v1/lookup?node_uuid={node}',
    columns: { provision_state: 'clean wait', booted: true },
  }),
  'POST /v1/heartbeat/:node_ident': () => ({
    path: '/v1/heartbeat/<made>',
    body: { callback_url: 'https://192.0.2.5:9999', agent_token: 'x' },
    prepare: async (_bench, fill) => fill('{node}'),
    columns: { provision_state: 'clean wait' },
    // No ramdisk has looked the node up; only a path that exists says which node that is.
    refusal: /Node .+ could not be found/,
  }),
  ...collection('/v1/portgroups', ['ident', 'portgroup'], () => ({ node_uuid: '{node}' })),
  'GET /v1/portgroups/detail': () => ({}),
  'GET /v1/nodes/:ident/portgroups': below('/portgroups'),
  'GET /v1/nodes/:ident/portgroups/detail': below('/portgroups/detail'),
  'GET /v1/portgroups/:ident/ports': () => ({ path: '/v1/portgroups/{portgroup}/ports' }),
  'GET /v1/portgroups/:ident/ports/detail': () => ({ path: '/v1/portgroups/{portgroup}/ports/detail' }),
  'GET /v1/nodes/:node_ident/vifs': below('/vifs'),
  'POST /v1/nodes/:node_ident/vifs': below('/vifs', { body: { id: '11111111-2222-4333-8444-555555555555' } }),
  'DELETE /v1/nodes/:node_ident/vifs/:vif': below('/vifs/{vif}'),
  'PUT /v1/nodes/:node_ident/management/inject_nmi': below('/management/inject_nmi', { body: {} }),
  'GET /v1/volume': () => ({}),
  'GET /v1/nodes/:node_ident/volume': below('/volume'),
  'GET /v1/nodes/:ident/volume/connectors': below('/volume/connectors'),
  'GET /v1/nodes/:ident/volume/targets': below('/volume/targets'),
  ...collection('/v1/volume/connectors', ['ident', 'connector'], () => ({
    node_uuid: '{node}',
    type: 'ip',
    connector_id: `c-${fresh()}`,
  })),
  ...collection('/v1/volume/targets', ['ident', 'target'], () => ({
    node_uuid: '{node}',
    volume_type: 'iscsi',
    volume_id: `v-${fresh()}`,
    boot_index: 1,
  })),
  'GET /v1/nodes/:node_ident/traits': below('/traits'),
  'PUT /v1/nodes/:node_ident/traits': below('/traits', { body: { traits: ['CUSTOM_X'] } }),
  'PUT /v1/nodes/:node_ident/traits/:trait': below('/traits/CUSTOM_X'),
  'DELETE /v1/nodes/:node_ident/traits': below('/traits'),
  'DELETE /v1/nodes/:node_ident/traits/:trait': below('/traits/CUSTOM_RULES'),
  'GET /v1/nodes/:node_ident/bios': below('/bios'),
  'GET /v1/nodes/:node_ident/bios/:setting': below('/bios/<made>', { prepare: biosOf }),
  'GET /v1/conductors': () => ({}),
  'GET /v1/conductors/:hostname': () => ({ path: '/v1/conductors/worker-1' }),
  ...collection('/v1/allocations', ['allocation_ident', 'allocation'], () => ({ resource_class: 'none' })),
  'GET /v1/nodes/:node_ident/allocation': below('/allocation', { prepare: allocate }),
  'DELETE /v1/nodes/:node_ident/allocation': below('/allocation', { prepare: allocate }),
  'POST /v1/events': () => ({
    body: {
      events: [
        {
          event: 'network.bind_port',
          port_id: '11111111-2222-4333-8444-555555555555',
          mac_address: '52:54:00:00:00:01',
          status: 'ACTIVE',
        },
      ],
    },
  }),
  ...collection('/v1/deploy_templates', ['ident', 'template'], () => ({
    name: `CUSTOM_V${fresh()}`,
    steps: [{ ...step, priority: 1 }],
  })),
  'PUT /v1/nodes/:node_ident/states/boot_mode': below('/states/boot_mode', { body: { target: 'uefi' } }),
  'PUT /v1/nodes/:node_ident/states/secure_boot': below('/states/secure_boot', { body: { target: true } }),
  'GET /v1/nodes/:node/history': below('/history'),
  'GET /v1/nodes/:node/history/:event': below('/history/<made>', { prepare: eventOf }),
  'GET /v1/nodes/:node_ident/inventory': () => ({ path: '/v1/nodes/{inventory}/inventory' }),
  'GET /v1/shards': () => ({}),
  'GET /v1/nodes/:node_ident/children': below('/children'),
  'GET /v1/nodes/:node_ident/firmware': below('/firmware'),
  'GET /v1/nodes/:node_ident/vmedia': below('/vmedia'),
  'POST /v1/nodes/:node_ident/vmedia': below('/vmedia', {
    body: { device_type: 'cdrom', image_url: image.image_source },
  }),
  'DELETE /v1/nodes/:node_ident/vmedia': below('/vmedia'),
  ...collection('/v1/runbooks', ['runbook_ident', 'runbook'], () => ({
    name: `CUSTOM_V${fresh()}`,
    steps: [{ ...step, order: 1 }],
  })),
  ...collection(
    '/v1/inspection_rules',
    ['ident', 'inspection'],
    () => ({ actions: [{ op: 'fail', args: { msg: 'x' } }] }),
    [{ op: 'add', path: '/description', value: 'x' }],
  ),
  'GET /v1/runbooks/:runbook_ident/traits': () => ({ path: '/v1/runbooks/{runbook}/traits' }),
  'PUT /v1/runbooks/:runbook_ident/traits': () => ({
    path: '/v1/runbooks/{runbook}/traits',
    body: { traits: ['CUSTOM_X'] },
  }),
  'PUT /v1/runbooks/:runbook_ident/traits/:trait': () => ({ path: '/v1/runbooks/{runbook}/traits/CUSTOM_X' }),
  'DELETE /v1/runbooks/:runbook_ident/traits': () => ({ path: '/v1/runbooks/{runbook}/traits' }),
  'DELETE /v1/runbooks/:runbook_ident/traits/:trait': () => ({ path: '/v1/runbooks/{runbook}/traits/CUSTOM_X' }),
  // Without a version of their own.
  'GET /v1/nodes/:node_ident/management/indicators': below('/management/indicators'),
  'GET /v1/nodes/:node_ident/management/indicators/:indicator': below('/management/indicators/led@chassis'),
  'PUT /v1/nodes/:node_ident/management/indicators/:indicator': below('/management/indicators/led@chassis', {
    body: { state: 'on' },
  }),
  'GET /v1/nodes?description_contains=': () => ({ path: '/v1/nodes?description_contains=x' }),
  'GET /v1/nodes?retired=': () => ({ path: '/v1/nodes?retired=true' }),
  'GET /v1/ports?conductor_groups=': () => ({ path: '/v1/ports?conductor_groups=a,b' }),
  'GET /v1/portgroups?conductor_groups=': () => ({ path: '/v1/portgroups?conductor_groups=a,b' }),
};

type Made = { readonly request: string; readonly body: unknown; readonly refusal: RegExp | undefined };

const requestOf = async (bench: Bench, name: string): Promise<Made> => {
  const sample = samples[name]?.();
  if (!sample) throw new Error(`no request is known for ${name}`);
  const [method, plain] = name.split(' ') as [string, string];
  const fill = bench.world({ ...poweredOff, ...sample.columns });
  const path = await fill(sample.path ?? plain);
  const made = await sample.prepare?.(bench, fill);
  return {
    request: `${method} ${path.replace('<made>', made ?? '')}`,
    body: await fill(sample.body),
    refusal: sample.refusal,
  };
};

/** Shows each of the routes on both sides of the version. */
export const showRoutes = async (
  bench: Bench,
  { names, below }: Extract<Change, { is: 'routes' }>,
  minor: number,
): Promise<void> => {
  const { before, from } = sidesOf(minor);
  for (const name of names) {
    const { request, body, refusal } = await requestOf(bench, name);
    const refused = await ask(bench, before, request, body);
    expectRefused(name, refused, below, minor);
    if (refusal) expect(refused.text).not.toMatch(refusal);
    const answered = await ask(bench, from, request, body);
    if (refusal) expect(JSON.parse(answered.body.error_message).faultstring).toMatch(refusal);
    else expectGood(name, answered);
  }
};

/** Shows that what came with this version is answered by the one before as well, and alike. */
export const showUngated = async (
  bench: Bench,
  { names }: Extract<Change, { is: 'ungated' }>,
  minor: number,
): Promise<void> => {
  const { before, from } = sidesOf(minor);
  for (const name of names) {
    const { request, body } = await requestOf(bench, name);
    const [older, newer] = [await ask(bench, before, request, body), await ask(bench, from, request, body)];
    expectGood(name, newer);
    expect([name, older.status, older.body]).toEqual([name, newer.status, newer.body]);
  }
};

/** Shows that the discovery document lists these resources from the version on. */
export const showLinks = async (
  bench: Bench,
  { names }: Extract<Change, { is: 'links' }>,
  minor: number,
): Promise<void> => {
  const { before, from } = sidesOf(minor);
  for (const name of names) {
    const [older, newer] = [await ask(bench, before, 'GET /v1'), await ask(bench, from, 'GET /v1')];
    expect(older.body[name]).toBeUndefined();
    expect(newer.body[name]).toEqual([
      { href: `${bench.api.url}/v1/${name}/`, rel: 'self' },
      { href: `${bench.api.url}/${name}/`, rel: 'bookmark' },
    ]);
  }
};
