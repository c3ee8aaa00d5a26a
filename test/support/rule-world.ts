/** Objects for the walk over the rules: each row of its table gets new ones, made as it names them in a path or a body. */
import { randomUUID } from 'node:crypto';
import type { GlanceImage } from '../../src/model/boot/glance-images';
import type { RunUuid } from '../../src/model/ids';
import { planSteps } from '../../src/model/lifecycle/plan-steps';
import type { TestApi } from './api';
import { discoveredMachine } from './discovered-machines';
import { bootRamdisks } from './ramdisk-boots';
import { lessee, owner, stranger } from './world';

/** Columns that differ from those of a node that `owner` owns and `lessee` leases; `booted`: its run has booted a ramdisk. */
export type NodeColumns = Readonly<Record<string, unknown>>;

export const step = { interface: 'power', step: 'reboot', args: {} } as const;
export const image = { image_source: 'https://images.example.org/os.img', image_checksum: 'a'.repeat(64) };

/** An image of Glance that belongs to a project without a share in the nodes. */
export const privateImage: GlanceImage = {
  id: '11111111-2222-4333-8444-555555555555',
  status: 'active',
  visibility: 'private',
  owner: stranger,
  size: 1,
  os_hash_algo: 'sha512',
  os_hash_value: 'a'.repeat(128),
  disk_format: 'raw',
  container_format: 'bare',
  img_type: null,
  kernel_id: null,
  ramdisk_id: null,
};

let made = 0;
/** A name that nothing else has. */
const fresh = (prefix: string): string => `${prefix}${++made}`;

const posted = async (api: TestApi, path: string, body: object): Promise<string> => {
  const reply = await api.as('operator', 'POST', path, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  return String(reply.body.uuid);
};

const isPlain = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const nodeOf = async (api: TestApi, { booted, ...columns }: NodeColumns): Promise<string> => {
  const values = {
    name: fresh('rule-node-'),
    driver: 'redfish',
    driver_info: { redfish_address: 'https://192.0.2.7', deploy_iso: 'https://images.example.org/r.iso' },
    instance_info: image,
    last_error: 'told',
    owner,
    lessee,
    provision_state: 'available',
    network_interface: 'noop',
    deploy_interface: 'direct',
    traits: ['CUSTOM_RULES'],
    power_state: 'power off',
    ...columns,
  };
  const written = Object.entries(values).map(([key, value]) => [
    key,
    isPlain(value) ? api.sql.json(value as never) : value,
  ]);
  const [row] = await api.sql<{ uuid: string }[]>`
    insert into nodes ${api.sql(Object.fromEntries(written))} returning uuid`;
  if (booted) await bootRamdisks(api.sql, row!.uuid);
  return row!.uuid;
};

/** A run of a service that stands in its first step, in this state. */
const runOf = async (api: TestApi, node: string, state: string): Promise<string> => {
  const id = randomUUID() as RunUuid;
  const steps = planSteps([step], 'service', { driver: 'redfish' });
  const input = { steps, kind: 'service', verb: 'service' };
  const row = { id, node_uuid: node, fence: 1, kind: 'service', verb: 'service', owner, state, cursor: 0 };
  const rest = { requester: api.sql.json({}), input: api.sql.json(input as never), rule_set: 'x', workflow_id: 'w' };
  const finished_at = state === 'failed' ? new Date() : null;
  await api.sql`insert into runs ${api.sql({ ...row, ...rest, finished_at } as never)}`;
  await api.inventory.runSteps.insert(id, steps);
  return id;
};

/** A rollout of `owner`'s on this node, in this state; a paused one waits at the end of its first wave. */
export const rolloutOf = async (api: TestApi, node: string, state: string): Promise<string> => {
  const row = {
    project: owner,
    state,
    code: state === 'paused' ? 'wave_gate' : null,
    verb: 'service',
    plan_hash: '0'.repeat(64),
  };
  const spec = { verb: 'service', runbook: null, select: { nodes: [node] } };
  const documents = {
    spec: api.sql.json(spec),
    summary: api.sql.json({ waves: [1, 1], refused: [] }),
    requester: api.sql.json({}),
  };
  const [made] = await api.sql<{ id: string }[]>`
    insert into rollouts ${api.sql({ ...row, ...documents, seed: 's', rule_set: 'x' })} returning id`;
  for (const wave of [0, 1])
    await api.sql`insert into rollout_waves (rollout, wave, size, advance) values (${made!.id}, ${wave}, 1, 'manual')`;
  await api.sql`
    insert into rollout_targets (rollout, position, node_uuid, owner, lessee, lease_id, wave, state)
    select ${made!.id}, 0, uuid, owner, lessee, lease_id, 0, 'done' from nodes where uuid = ${node}`;
  return made!.id;
};

const runbookOf = (api: TestApi, more: object): Promise<string> =>
  posted(api, '/v1/runbooks', { name: fresh('CUSTOM_R'), owner, steps: [{ ...step, order: 1 }], ...more });

/** A deploy template whose trait the node has and its instance asks for; `vouched` where a system caller wrote it. */
const templateOf = async (api: TestApi, the: The, vouched: boolean): Promise<string> => {
  const [name, node] = [fresh('CUSTOM_D'), await the('node')];
  const settings = [{ component: 'bmc', url: 'https://images.example.org/bmc.bin' }];
  const steps = [{ interface: 'firmware', step: 'update', args: { settings }, priority: 70 }];
  const uuid = await posted(api, '/v1/deploy_templates', { name, steps });
  await api.sql`update deploy_templates set vouched = ${vouched} where uuid = ${uuid}`;
  const info = api.sql.json({ ...image, traits: [name] });
  await api.sql`update nodes set traits = traits || ${name}::text, instance_info = ${info} where uuid = ${node}`;
  return uuid;
};

type The = (name: string) => Promise<string>;
type Make = (api: TestApi, the: The) => Promise<string>;

/** What a row may name in braces. `the` gives another object of the same row. */
const makes: Readonly<Record<string, Make>> = {
  port: async (api, the) => posted(api, '/v1/ports', { node_uuid: await the('node'), address: macOf(++made) }),
  portgroup: async (api, the) => posted(api, '/v1/portgroups', { node_uuid: await the('node') }),
  connector: async (api, the) =>
    posted(api, '/v1/volume/connectors', { node_uuid: await the('node'), type: 'ip', connector_id: fresh('c') }),
  target: async (api, the) =>
    posted(api, '/v1/volume/targets', {
      node_uuid: await the('node'),
      volume_type: 'iscsi',
      volume_id: fresh('v'),
      boot_index: 0,
      properties: { target_lun: 1 },
    }),
  allocation: async (api) => {
    const [row] = await api.sql`
      insert into allocations (name, resource_class, owner) values (${fresh('a')}, 'x', ${owner}) returning uuid`;
    return row!.uuid;
  },
  chassis: async (api) => posted(api, '/v1/chassis', {}),
  runbook: (api) => runbookOf(api, {}),
  approved: async (api) => {
    const uuid = await runbookOf(api, {});
    await api.sql`update runbooks set traits = '{CUSTOM_RULES}' where uuid = ${uuid}`;
    return uuid;
  },
  public: async (api) => {
    const uuid = await runbookOf(api, { owner: null, public: true });
    await api.sql`update runbooks set traits = '{CUSTOM_RULES}' where uuid = ${uuid}`;
    return uuid;
  },
  template: async (api) =>
    posted(api, '/v1/deploy_templates', { name: fresh('CUSTOM_T'), steps: [{ ...step, priority: 1 }] }),
  // Of a deployment, for an instance that asks for the trait of its name.
  vouched: (api, the) => templateOf(api, the, true),
  unvouched: (api, the) => templateOf(api, the, false),
  theirs: (api) => runbookOf(api, { owner: lessee }),
  foreign: async (api) => {
    const uuid = await runbookOf(api, { owner: lessee });
    await api.sql`update runbooks set traits = '{CUSTOM_RULES}' where uuid = ${uuid}`;
    return uuid;
  },
  claimed: async (api) => {
    const uuid = await runbookOf(api, { owner: lessee });
    await api.sql`update runbooks set traits = '{CUSTOM_SHARED}' where uuid = ${uuid}`;
    return uuid;
  },
  named: async (api, the) => {
    const uuid = await runbookOf(api, {});
    const node = await the('node');
    await api.sql`
      update nodes set traits = (select array[name] from runbooks where uuid = ${uuid}) where uuid = ${node}`;
    return uuid;
  },
  inspection: async (api) => posted(api, '/v1/inspection_rules', { actions: [{ op: 'fail' }] }),
  freeze: async (api, the) => posted(api, `/temper/v1/nodes/${await the('node')}/freezes`, { reason: 'x' }),
  webhook: async (api) =>
    posted(api, '/temper/v1/webhooks', {
      project: 'project-owner',
      url: 'https://hooks.example.org/x',
      kinds: ['*'],
      secret: `whsec_${'x'.repeat(32)}`,
    }),
  ramdisk: async (api) => {
    const name = fresh('ramdisk');
    const area = { arguments_at: 0, arguments_bytes: 1_024, files_at: 1_024, files_bytes: 1_024 };
    await posted(api, '/temper/v1/ramdisks', { name, iso_sha256: 'a'.repeat(64), iso_bytes: 2_048, ...area });
    return name;
  },
  image: async (api) => {
    const name = fresh('image');
    await posted(api, '/temper/v1/images', { name, sha256: 'a'.repeat(64), bytes: 2_048, disk_format: 'raw' });
    return name;
  },
  discovered: async (api) => discoveredMachine(api.sql),
  budget: async (api) => {
    const [row] = await api.sql`
      insert into disruption_budgets (project, max_unavailable) values (${owner}, '1') returning uuid`;
    return row!.uuid;
  },
  window: async (api) => {
    const [row] = await api.sql`
      insert into project_windows (project, name, days, "from", minutes, zone)
      values (${owner}, ${fresh('w')}, '{sat}', '22:00', 60, 'UTC') returning uuid`;
    return row!.uuid;
  },
  rollout: async (api, the) => rolloutOf(api, await the('node'), 'planned'),
  rolling: async (api, the) => rolloutOf(api, await the('node'), 'running'),
  asked: async (api, the) => {
    const id = await rolloutOf(api, await the('node'), 'running');
    await api.sql`update rollout_targets set state = 'asked', owner = ${owner}, lessee = ${lessee} where rollout = ${id}`;
    return id;
  },
  harmed: async (api, the) => {
    const id = await rolloutOf(api, await the('node'), 'running');
    await api.sql`update rollout_targets set state = 'failed', ended_at = now() where rollout = ${id}`;
    return id;
  },
  gated: async (api, the) => rolloutOf(api, await the('node'), 'paused'),
  stopped: async (api, the) => {
    const id = await rolloutOf(api, await the('node'), 'paused');
    await api.sql`update rollouts set code = 'operator' where id = ${id}`;
    return id;
  },
  running: async (api, the) => runOf(api, await the('node'), 'running'),
  parked: async (api, the) => runOf(api, await the('node'), 'parked'),
  failed: async (api, the) => runOf(api, await the('node'), 'failed'),
  vif: async (api, the) => {
    const vif = randomUUID();
    await the('port');
    await api.inventory.vifs.attach((await the('node')) as never, { vif, port_uuid: null, portgroup_uuid: null });
    return vif;
  },
  inventory: async (api, the) => {
    const node = await the('node');
    await api.inventory.details.write(node as never, { inventory: { cpu: {} } as never });
    return node;
  },
  token: async (api, the) => {
    const { body } = await api.as(null, 'GET', `/v1/lookup?node_uuid=${await the('node')}`);
    return body.config.agent_token;
  },
  other: async (api) => nodeOf(api, {}),
};

const macOf = (number: number): string =>
  number.toString(16).padStart(12, '0').match(/../g)!.join(':').replace(/^00/, '52');

/** Fills in a path or a body: `{port}` becomes the UUID of a port that is there, one per row. */
export type Fill = <Value>(value: Value) => Promise<Value>;

/** New objects for one row. */
export const worldOf = (api: TestApi, columns: NodeColumns): Fill => {
  const known = new Map<string, Promise<string>>();
  const the = (name: string): Promise<string> => {
    const make: Make | undefined = name === 'node' ? (given) => nodeOf(given, columns) : makes[name];
    if (!make) throw new Error(`nothing is known of {${name}}`);
    const there = known.get(name) ?? make(api, the);
    known.set(name, there);
    return there;
  };
  return async (value) => {
    if (value === undefined) return value;
    let text = JSON.stringify(value);
    for (const [whole, name] of text.matchAll(/\{(\w+)\}/g)) text = text.replace(whole, await the(name!));
    return JSON.parse(text);
  };
};
