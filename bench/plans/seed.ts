/** A fleet for looking at plans: the same rows every time, as wide and as unevenly spread as those of a real one. */
import { createHash } from 'node:crypto';
import type { Sql } from '../../src/inventory/database';
import { personas } from '../../src/policy';

/** The projects that the demo personas have. */
export const owner = personas['owner-member'].project_id!;
const lessee = personas['lessee-member'].project_id!;

/** UUID of a seeded row, such as the node of number 17. */
export const seededUuid = (kind: string, number: number): string =>
  createHash('md5')
    .update(`${kind} ${number}`)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** The same as SQL over `n`. */
const uuid = (kind: string): string => `md5('${kind} ' || n)::uuid`;
const text = (literal: string): string => `'${literal.replaceAll("'", "''")}'`;

/** Nodes that one owner has, and one lessee; the persona's lie scattered among those of others. */
const [perOwner, perLessee] = [250, 100];

const driverInfo = `jsonb_build_object('redfish_address', 'https://10.0.' || n / 250 || '.' || n % 250, 'redfish_username',
  'operator', 'redfish_password', jsonb_build_object('$secret', ${uuid('secret')}), 'redfish_system_id', '/redfish/v1/Systems/1')`;
const properties = `jsonb_build_object('cpus', 64, 'memory_mb', 262144, 'local_gb', 1787, 'cpu_arch', 'x86_64',
  'rack', 'r' || n / 40, 'power_feed', 'feed-' || n / 400 || '-' || n % 2, 'serial_number', 'SN' || n,
  'capabilities', 'boot_mode:uefi,secure_boot:true', 'vendor', 'A vendor with a long name', 'root_device', '{"wwn": "0x5000c500a1b2c3d4"}'::jsonb)`;
const extra = `jsonb_build_object('rack', 'r' || n / 40, 'unit', n % 40, 'asset', 'A-' || n, 'note', repeat('lorem ipsum ', 12))`;
const instanceInfo = `jsonb_build_object('image_source', 'https://images.example.org/os-' || n % 7 || '.raw', 'image_checksum', md5(n::text),
  'root_gb', 100, 'capabilities', '{"boot_option": "local"}'::jsonb, 'configdrive', repeat('x', 200))`;

// A row of each table: columns, and their values as SQL over `n`.
const node: Readonly<Record<string, string>> = {
  uuid: uuid('node'),
  name: `'node-' || lpad(n::text, 6, '0')`,
  driver: `case when n % 100 = 0 then 'fake-hardware' when n % 25 = 0 then 'ipmi' else 'redfish' end`,
  driver_info: driverInfo,
  properties,
  extra,
  instance_uuid: `case when n % 5 > 0 then ${uuid('instance')} end`,
  instance_info: `case when n % 5 > 0 then ${instanceInfo} else '{}' end`,
  instance_name: `case when n % 5 > 0 then 'vm-' || n end`,
  chassis_uuid: `case when n % 2 = 0 then md5('chassis ' || n / 40 + 1)::uuid end`,
  allocation_uuid: `case when n % 10 = 1 then ${uuid('allocation')} end`,
  power_state: `case when n % 5 > 0 then 'power on' else 'power off' end`,
  provision_state: `case when n % 500 = 499 then 'clean failed' when n % 5 > 0 then 'active' when n % 50 = 0 then 'manageable' else 'available' end`,
  provision_updated_at: `timestamptz '2026-01-01' + n % 9973 * interval '1 minute'`,
  maintenance: 'n % 100 = 7',
  maintenance_reason: `case when n % 100 = 7 then 'broken' end`,
  maintenance_since: `case when n % 100 = 7 then timestamptz '2026-02-01' + n % 9973 * interval '1 minute' end`,
  fault: `case when n % 1000 = 7 then 'power failure' end`,
  fault_since: `case when n % 1000 = 7 then timestamptz '2026-02-01' + n % 9973 * interval '1 minute' end`,
  last_error: `case when n % 500 = 499 then 'Cleaning failed: ' || repeat('the BMC did not answer ', 5) end`,
  reservation: `case when n % 200 = 3 then ${uuid('run')} end`,
  resource_class: `'class-' || n % 10`,
  traits: `array['CUSTOM_TRAIT_' || n % 20, 'HW_CPU_X86_VMX']`,
  conductor_group: `case when n % 10 < 6 then '' else 'rack-' || n % 10 end`,
  automated_clean: 'case when n % 3 = 0 then false end',
  retired: 'n % 400 = 11',
  owner: `case when n % 20 = 9 then null when n % 1000 = 13 then ${text(owner)} else 'owner-' || n / ${perOwner} end`,
  lessee: `case when n % 1000 = 500 then ${text(lessee)} when n % 2 = 1 then 'lessee-' || n / ${2 * perLessee} end`,
  lease_id: `case when n % 1000 = 500 or n % 2 = 1 then ${uuid('lease')} end`,
  description: `case when n % 20 = 0 then 'In row ' || n / 1000 || ', bought in 2024' end`,
  shard: `case when n % 5 > 1 then 'shard-' || n % 20 end`,
  parent_node: `case when n % 100 = 99 then md5('node ' || n - 9)::uuid end`,
  boot_mode: `'uefi'`,
  secure_boot: 'n % 2 = 0',
  created_at: `timestamptz '2025-01-01' + n * interval '1 minute'`,
  updated_at: `case when n % 10 > 0 then timestamptz '2026-02-01' + n * 7919 % 100003 * interval '1 second' end`,
};

type Seed = {
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
  /** How many, where that is not one for each node. */
  readonly rows?: (nodes: number) => number;
  /** Which of them, as SQL over `n`. */
  readonly where?: string;
};

// Rollout 1 is of every node, in three waves and half done; the others are of 20 nodes each. A target of an even number is the first's.
const rolloutOfMany = `md5('rollout 1')::uuid`;
const targetsNode = '((n + 1) / 2)';
const plannedOf = (column: string): string => node[column]!.replaceAll(/\bn\b/g, targetsNode);
const target: Readonly<Record<string, string>> = {
  rollout: `case when n % 2 = 0 then ${rolloutOfMany} else md5('rollout ' || n / 40 + 2)::uuid end`,
  position: 'case when n % 2 = 0 then n / 2 - 1 else n / 2 % 20 end',
  node_uuid: `md5('node ' || ${targetsNode})::uuid`,
  node_name: plannedOf('name'),
  owner: plannedOf('owner'),
  lessee: plannedOf('lessee'),
  lease_id: plannedOf('lease_id'),
  wave: 'case when n % 2 = 1 or n <= 2000 then 0 when n <= 20000 then 1 else 2 end',
  counters: `case when n % 2 = 0 then array[1, n / 2 % 500 + 2] else '{1}' end`,
  state: `case when n % 2 = 1 then 'done' when n > 30000 then 'pending' when n / 2 % 100 = 7 then 'failed' else 'done' end`,
  code: `case when n % 2 = 0 and n <= 30000 and n / 2 % 100 = 7 then 'run_failed' end`,
};
const rolloutsOf = (nodes: number): number => nodes / 20 + 2;

const mac = `regexp_replace(lpad(to_hex(n), 12, '0'), '(..)(..)(..)(..)(..)(..)', '\\1:\\2:\\3:\\4:\\5:\\6')`;
const requester = `'{"user_id": "u", "user_name": "user", "project_id": "p", "system_scope": null, "strategy": "keystone", "request_id": "req-1"}'::jsonb`;
const began = `timestamptz '2026-03-01' + n * interval '10 seconds'`;

/** Every table that grows with the fleet, and those that do not in the sizes that they have. */
const seeds: readonly Seed[] = [
  { table: 'chassis', columns: { uuid: uuid('chassis'), description: `'row ' || n` }, rows: (nodes) => nodes / 40 + 1 },
  { table: 'nodes', columns: node },
  {
    table: 'leases',
    columns: {
      id: uuid('lease'),
      node_uuid: uuid('node'),
      project: `'lessee-' || n / ${2 * perLessee}`,
      started_at: began,
    },
    where: 'n % 2 = 1 or n % 1000 = 500',
  },
  {
    table: 'portgroups',
    columns: {
      uuid: uuid('portgroup'),
      node_uuid: uuid('node'),
      name: `'bond-' || n`,
      address: mac.replace('to_hex(n)', `to_hex(n + 16777216)`),
    },
  },
  {
    table: 'ports',
    columns: {
      uuid: uuid('port'),
      node_uuid: uuid('node'),
      address: mac,
      name: `case when n % 4 = 0 then 'port-' || n end`,
      local_link_connection: `jsonb_build_object('switch_id', '00:00:5e:00:53:' || lpad(to_hex(n / 40 % 256), 2, '0'), 'port_id', 'eth' || n % 40)`,
      portgroup_uuid: `case when n % 10 = 0 then ${uuid('portgroup')} end`,
      physical_network: `'physnet' || n % 3`,
      description: `case when n % 20 = 0 then 'uplink ' || n end`,
      updated_at: `case when n % 10 = 0 then ${began} end`,
    },
  },
  {
    table: 'volume_connectors',
    columns: {
      uuid: uuid('connector'),
      node_uuid: uuid('node'),
      type: `'iqn'`,
      connector_id: `'iqn.2026-01.org.example:' || n`,
    },
  },
  {
    table: 'volume_targets',
    columns: {
      uuid: uuid('target'),
      node_uuid: uuid('node'),
      volume_type: `'iscsi'`,
      volume_id: uuid('volume'),
      boot_index: '0',
    },
  },
  {
    table: 'allocations',
    columns: {
      uuid: uuid('allocation'),
      name: `'allocation-' || n`,
      resource_class: `'class-' || n % 10`,
      state: `case when n % 10 = 1 then 'active' else 'error' end`,
      node_uuid: `case when n % 10 = 1 then ${uuid('node')} end`,
      last_error: `case when n % 10 <> 1 then 'no node' end`,
      owner: `case when n % 1000 = 11 then ${text(owner)} when n % 3 = 0 then 'owner-' || n / ${perOwner} end`,
    },
    where: 'n % 10 = 1 or n % 200 = 12',
  },
  {
    table: 'runbooks',
    columns: {
      uuid: uuid('runbook'),
      name: `'CUSTOM_RUNBOOK_' || n`,
      steps: `jsonb_build_array(jsonb_build_object('interface', 'power', 'step', 'reboot', 'args', '{}'::jsonb, 'order', 1))`,
      public: 'n % 10 = 0',
      owner: `case when n % 10 = 1 then ${text(owner)} when n % 10 > 1 then 'owner-' || n end`,
    },
    rows: (nodes) => nodes / 50,
  },
  {
    table: 'deploy_templates',
    columns: { uuid: uuid('template'), name: `'CUSTOM_TEMPLATE_' || n`, steps: `'[]'` },
    rows: () => 50,
  },
  { table: 'inspection_rules', columns: { uuid: uuid('rule'), actions: `'[]'` }, rows: () => 30 },
  {
    table: 'workers',
    columns: {
      hostname: `'worker-' || n`,
      conductor_group: `case when n % 2 = 0 then '' else 'rack-' || (6 + n % 4) end`,
      drivers: `array['redfish', 'ipmi', 'fake-hardware']`,
      role: `'bmc'`,
      updated_at: `now() + interval '1 day'`,
    },
    rows: () => 20,
  },
  {
    table: 'runs',
    columns: {
      id: uuid('run'), node_uuid: uuid('node'), node_name: `'node-' || n`, fence: '1', kind: `'clean'`, verb: `'clean'`,
      state: `case when n % 200 = 3 then 'running' else 'succeeded' end`, input: `'{}'`, owner: `'owner-' || n / ${perOwner}`,
      lease_id: `case when n % 2 = 1 then ${uuid('lease')} end`, requester, rule_set: `'temper'`, workflow_id: `'node-' || n`,
      created_at: began, started_at: began, finished_at: `case when n % 200 <> 3 then ${began} + interval '1 minute' end`,
    }, // biome-ignore format: one row of columns
  },
  {
    table: 'run_steps',
    columns: {
      run_id: uuid('run'),
      index: '0',
      interface: `'power'`,
      step: `'reboot'`,
      state: `'done'`,
      started_at: began,
      finished_at: `${began} + interval '1 minute'`,
    },
  },
  {
    table: 'events',
    columns: {
      at: began,
      kind: `case n % 3 when 0 then 'node.created' when 1 then 'run.started' else 'node.state' end`,
      node_uuid: `md5('node ' || n / 3 + 1)::uuid`,
      run_id: `case when n % 3 = 1 then md5('run ' || n / 3 + 1)::uuid end`,
      project: `'owner-' || n / ${perOwner}`,
      data: `case when n % 3 = 2 then '{"from": "available", "to": "active"}'::jsonb else '{}' end`,
    },
    rows: (nodes) => nodes * 2,
  },
  {
    table: 'audit',
    columns: {
      at: `now() + n % 100000 * interval '1 second'`,
      requester: `${requester} || jsonb_build_object('request_id', 'req-' || n)
        || case when n % 5000 = 7 then '{"user_name": "rare"}'::jsonb else '{}' end`,
      action: `case when n % 5000 = 7 then 'node.delete' when n % 5 = 0 then 'node.update' else 'run.start' end`,
      verdict: `case when n % 500 = 0 then 'refused' else 'granted' end`,
      rule: `'baremetal:node:update'`,
      resource: `'node'`,
      resource_id: `md5('node ' || n)`,
      node_uuid: `md5('node ' || n / 5 + 1)::uuid`,
      project: `'owner-' || n / 5 / ${perOwner}`,
      run_id: `case when n % 5 > 0 then ${uuid('run')} end`,
    },
    rows: (nodes) => nodes * 5,
  },
  {
    table: 'fault_acknowledgements',
    columns: { node_uuid: uuid('node'), fault_since: began, note: `'known'`, requester },
    where: 'n % 3 = 0',
  },
  {
    table: 'freezes',
    columns: {
      id: uuid('freeze'),
      node_uuid: uuid('node'),
      reason: `'looked at'`,
      requester,
      created_at: began,
      ended_at: `case when n % 40 <> 1 then ${began} end`,
    },
    where: 'n % 5 = 1',
  },
  {
    table: 'rollouts',
    columns: {
      id: uuid('rollout'),
      project: `case when n % 10 > 0 then 'owner-' || n % 400 end`,
      state: `case when n = 1 or n % 200 = 0 then 'running' when n % 10 = 9 then 'aborted' else 'succeeded' end`,
      verb: `'service'`,
      spec: `'{}'`,
      summary: `'{"waves": [20]}'`,
      plan_hash: 'md5(n::text)',
      seed: `'seed'`,
      requester,
      rule_set: `'temper'`,
      created_at: began,
    },
    rows: rolloutsOf,
  },
  {
    table: 'rollout_waves',
    columns: { rollout: uuid('rollout'), wave: '0', size: 'case when n = 1 then 1000 else 20 end', advance: `'auto'` },
    rows: rolloutsOf,
  },
  {
    table: 'rollout_waves',
    columns: { rollout: rolloutOfMany, wave: 'n', size: 'case when n = 1 then 9000 else 90000 end', advance: `'auto'` },
    rows: () => 2,
  },
  {
    table: 'rollout_counters',
    columns: { rollout: uuid('rollout'), number: '1', scope: `'total'`, value: `''`, most: '10' },
    rows: rolloutsOf,
  },
  {
    table: 'rollout_counters',
    columns: { rollout: rolloutOfMany, number: 'n + 1', scope: `'properties.rack'`, value: `'r' || n`, most: '4' },
    rows: (nodes) => nodes / 40,
  },
  { table: 'rollout_targets', columns: target, rows: (nodes) => 2 * nodes },
  {
    table: 'agents',
    columns: { node_uuid: uuid('node'), token_hash: `md5(n::text)`, token_secret: uuid('secret') },
    where: 'n % 200 = 3',
  },
  { table: 'node_details', columns: { node_uuid: uuid('node'), bios: `'[]'`, firmware: `'[]'` }, where: 'n % 2 = 0' },
  {
    table: 'node_vifs',
    columns: { node_uuid: uuid('node'), vif: `'vif-' || n`, port_uuid: uuid('port') },
    where: 'n % 5 > 0',
  },
  {
    table: 'webhooks',
    columns: { uuid: uuid('webhook'), url: `'https://hooks.example.org/' || n`, kinds: `array['*']` },
    rows: () => 3,
  },
  {
    table: 'webhook_deliveries',
    columns: {
      uuid: uuid('delivery'),
      webhook_uuid: `md5('webhook 1')::uuid`,
      event_seq: 'n',
      kind: `'run.started'`,
      state: `'delivered'`,
    },
    rows: (nodes) => nodes / 10,
  },
];

/** Fills an empty, migrated database as its owner. Takes 15 s for 100,000 nodes. */
export const seed = async (sql: Sql, nodes: number): Promise<void> => {
  await sql.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica'); // triggers and references would double the time
    for (const { table, columns, rows, where } of seeds) {
      const count = Math.floor(rows?.(nodes) ?? nodes);
      await tx.unsafe(`insert into ${table} (${Object.keys(columns).join(', ')}) select ${Object.values(columns).join(', ')}
        from generate_series(1, ${count}) n ${where ? `where ${where}` : ''}`);
    }
  });
  await sql`
    insert into rollout_answers (rollout, position, answer, requester)
    select rollout, position, 'now', '{}'::jsonb from rollout_targets where position % 4 = 0`;
  // As the store's own housekeeping leaves it.
  await sql.unsafe('vacuum analyze');
};
