/** What the worst requests are sent to: one object of each kind, lists of a thousand rows, and a node of the caller who waits meanwhile. */
import type { Signed, System } from './system';
import { ask } from './system';

export type World = {
  /** The identifier of one object by the path in front of it. */
  readonly ids: Readonly<Record<string, string>>;
  readonly bystander: Signed;
  /** The node that the bystander looks at. */
  readonly seen: string;
};

const missing = '11111111-2222-4333-8444-555555555555';
const rows = 1_000;

const step = { interface: 'power', step: 'reboot', args: {}, order: 1 };
const image = { sha256: 'a'.repeat(64), bytes: 2_048, disk_format: 'raw' };
const ramdisk = {
  iso_sha256: 'a'.repeat(64),
  iso_bytes: 2_048,
  arguments_at: 0,
  arguments_bytes: 1_024,
  files_at: 1_024,
  files_bytes: 1_024,
};

/** Lists that are as long as a page may be. */
const fill = async ({ sql }: System): Promise<void> => {
  await sql`
    with enrolled as (
      insert into nodes (name, driver, resource_class, provision_state, power_state, traits, properties, extra)
      select 'worst-' || n, 'fake-hardware', 'worst', 'active', 'power on', array['CUSTOM_WORST', 'CUSTOM_PARAM', 'CUSTOM_PLAN'], '{"cpus": 64, "memory_mb": 262144}', jsonb_build_object('asset', repeat('x', 500))
      from generate_series(1, ${rows}::int) n returning uuid, id)
    insert into ports (node_uuid, address, extra)
    select uuid, regexp_replace(lpad(to_hex(id + (2 << 28)), 12, '0'), '(..)(..)(..)(..)(..)(..)', '\\1:\\2:\\3:\\4:\\5:\\6'), '{}' from enrolled`;
  await sql`
    insert into allocations (name, resource_class, state, last_error)
    select 'worst-' || n, 'none', 'error', 'no node' from generate_series(1, ${rows}::int) n`;
  await sql`analyze nodes, ports, allocations`;
};

const bios = (values: readonly unknown[]) => ({
  interface: 'bios',
  step: 'apply_configuration',
  order: 1,
  args: { settings: values.map((value, at) => ({ name: `A${at}`, value })) },
});

/** What becomes more than it was: runbooks of two revisions and of a parameter, children, templates, and nodes of a megabyte each. */
const expansions = async (system: System): Promise<void> => {
  const { sql } = system;
  const values = (to: string) => Array.from({ length: 2_500 }, (_, at) => `${to}${at}`);
  const send = (method: string, path: string, body: object) => ask(system, method, path, body);
  await send('POST', '/v1/runbooks', { name: 'CUSTOM_DIFF', steps: [bios(values('a'))] });
  await send('PATCH', '/v1/runbooks/CUSTOM_DIFF', [{ op: 'replace', path: '/steps', value: [bios(values('b'))] }]);
  const parameter = { $param: 'p' };
  await send('POST', '/v1/runbooks', { name: 'CUSTOM_PLAN', public: true, steps: [step] });
  await send('POST', '/v1/runbooks', { name: 'CUSTOM_PARAM', public: true, steps: [bios(Array(500).fill(parameter))] });
  const declared = [{ name: 'p', schema: { type: 'string' }, default: 'x'.repeat(60_000) }];
  await send('PUT', '/temper/v1/runbooks/CUSTOM_PARAM/parameters', { parameters: declared });
  for (let at = 0; at < 20; at += 1)
    await send('POST', '/v1/deploy_templates', {
      name: `CUSTOM_L${at}`,
      steps: [{ ...bios(values(`t${at}`)), order: undefined, priority: 1 }],
    });
  const traits = Array.from({ length: 20 }, (_, at) => `CUSTOM_L${at}`);
  await sql`
    insert into nodes (name, driver, provision_state, power_state, traits, instance_info)
    values ('worst-parent', 'fake-hardware', 'manageable', 'power off', ${['CUSTOM_PARAM']}, '{}'),
      ('worst-templates', 'fake-hardware', 'available', 'power off', ${traits}, ${sql.json({ traits, image_source: 'https://images.example.org/x' })})`;
  await sql`
    insert into nodes (name, driver, provision_state, parent_node)
    select 'worst-child-' || n, 'fake-hardware', 'manageable', p.uuid from generate_series(1, 500) n, nodes p where p.name = 'worst-parent'`;
  await sql`
    insert into nodes (name, driver, resource_class, extra)
    select 'worst-heavy-' || n, 'fake-hardware', 'heavy', jsonb_build_object('k', repeat('x', 1000000)) from generate_series(1, 100) n`;
};

const made = async (system: System) => {
  const make = async (path: string, body: object): Promise<string> =>
    JSON.parse(await ask(system, 'POST', path, body)).uuid;
  const node_uuid = await make('/v1/nodes', { name: 'worst-target', driver: 'fake-hardware', resource_class: 'one' });
  const runbook = await make('/v1/runbooks', { name: 'CUSTOM_WORST', public: true, steps: [step] });
  await ask(system, 'PATCH', `/v1/runbooks/${runbook}`, [{ op: 'add', path: '/extra/a', value: 'x' }]);
  const rollout = await make('/temper/v1/rollouts', {
    runbook: 'CUSTOM_WORST',
    select: { query: { resource_class: 'worst' } },
    waves: [{ rest: true }],
    budget: { total: '100%' },
  });
  return {
    nodes: node_uuid,
    heartbeat: node_uuid,
    runbooks: runbook,
    rollouts: rollout,
    ports: await make('/v1/ports', { node_uuid, address: '52:54:00:00:00:01' }),
    portgroups: await make('/v1/portgroups', { node_uuid }),
    'volume/connectors': await make('/v1/volume/connectors', { node_uuid, type: 'ip', connector_id: '192.0.2.1' }),
    'volume/targets': await make('/v1/volume/targets', { node_uuid, volume_type: 'x', volume_id: 'v', boot_index: 0 }),
    chassis: await make('/v1/chassis', {}),
    deploy_templates: await make('/v1/deploy_templates', {
      name: 'CUSTOM_T',
      steps: [{ interface: 'power', step: 'reboot', args: {}, priority: 1 }],
    }),
    inspection_rules: await make('/v1/inspection_rules', { actions: [{ op: 'fail' }] }),
    freezes: await make('/temper/v1/nodes/worst-1/freezes', { reason: 'x' }),
    ramdisks: await make('/temper/v1/ramdisks', { name: 'worst', ...ramdisk }),
    images: await make('/temper/v1/images', { name: 'worst', ...image }),
  };
};

export const worstWorld = async (system: System): Promise<World> => {
  await fill(system);
  await expansions(system);
  const ids = await made(system);
  const bystander = await system.signIn('owner-reader');
  const { uuid } = JSON.parse(
    await ask(system, 'POST', '/v1/nodes', { driver: 'fake-hardware', owner: bystander.project }),
  );
  const [allocation] = await system.sql<{ uuid: string }[]>`select uuid from allocations where name = 'worst-1'`;
  return {
    ids: { ...ids, allocations: allocation!.uuid, drivers: 'fake-hardware', conductors: 'worker-1' },
    bystander,
    seen: uuid,
  };
};

const within: Readonly<Record<string, string>> = {
  indicator: 'led@chassis',
  trait: 'CUSTOM_X',
  revision: '2',
  asset: 'swagger-ui-bundle.js',
};

/** A path of the description with an object of the world in each place. */
export const pathIn = ({ ids }: World, path: string): string => {
  const kind = /^\/(?:temper\/)?v1\/((?:\w+\/)*?[\w-]+)\/\{/.exec(path)?.[1];
  const child = /\/([\w/]+)\/\{child\}$/.exec(path)?.[1]?.replace(/^.*?(volume\/)/, '$1');
  return path
    .replace('{node}/freezes', 'worst-1/freezes')
    .replace('{child}', (child && ids[child]) ?? missing)
    .replace(/\{(\w+)\}/, (_, name: string) => within[name] ?? (kind && ids[kind]) ?? missing)
    .replace(/\{(\w+)\}/g, (_, name: string) => within[name] ?? (name === 'node' ? ids.nodes! : missing));
};
