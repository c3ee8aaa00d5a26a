/** Each text of the store that others write, replaced by markup that names it: what a page shows of it, and how, is seen by that. */
import type { TestApi } from './api';
import type { ConsoleWorld } from './console-world';

/** A marked text as a page shows it. */
export const marked = /&lt;script>[a-z_.]+&lt;\/script>/g;
const markOf = (field: string): string => `<script>${field}</script>`;
/** The same text as it stands in a page. */
const shownOf = (field: string): string => `&lt;script>${field}&lt;/script>`;

/** Tables of which pages show rows. */
const tables = ['allocations', 'freezes', 'nodes', 'ports', 'ramdisks', 'rollout_counters', 'rollout_targets', 'rollouts', 'run_steps', 'runbooks', 'runs', 'webhooks', 'workers', 'project_windows']; // biome-ignore format: one list

/** Texts that no tenant, BMC or ramdisk chooses: words of closed lists, keys, and whose a thing is. */
const closed: Readonly<Record<string, string>> = {
  allocations: 'state owner',
  freezes: '',
  nodes:
    'driver provision_state target_provision_state power_state target_power_state fault conductor_group owner lessee name health instance_name boot_mode',
  ports: '',
  ramdisks: 'kernel_sha256 initrd_sha256 iso_sha256',
  rollout_counters: '',
  rollout_targets: 'owner lessee state rule',
  rollouts: 'project state code verb plan_hash seed rule_set ending',
  run_steps: 'state act outcomes last_code',
  runbooks: 'name owner',
  runs: 'kind verb state owner lessee rule_set workflow_id workflow_run_id provision_state_before target limit_class act_id waits_on awaits error_code',
  webhooks: 'project',
  workers: 'role conductor_group',
  project_windows: 'project from zone',
};

/** Stored, and on no page. */
const unshown = ['nodes.protected_reason', 'nodes.retired_reason', 'nodes.shard', 'ports.description', 'ports.vendor', 'ports.category', 'ramdisks.args', 'runs.abort_by', 'project_windows.name', 'workers.console_url'] as const; // biome-ignore format: one list

const columnsOf = async (api: TestApi): Promise<readonly { table: string; column: string }[]> => {
  const rows = await api.sql<{ table: string; column: string }[]>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type = 'text' and is_generated = 'NEVER' and table_name in ${api.sql(tables)}`;
  return rows.filter(({ table, column }) => !closed[table]!.split(' ').includes(column) && !column.endsWith('_interface'));
}; // biome-ignore format: short lines

/** A row of each kind that the world has none of. */
const fill = async (api: TestApi, { parked, failed, rollout }: ConsoleWorld): Promise<void> => {
  const { sql } = api;
  await sql`insert into ports (node_uuid, address) values (${parked.node}, '52:54:00:00:00:01')`;
  await sql`insert into freezes (node_uuid, reason, requester) values (${failed.node}, 'x', '{}')`;
  await sql`insert into allocations (uuid, state, owner) values (gen_random_uuid(), 'error', 'project-owner')`;
  await sql`
    insert into ramdisks (name, arch, args, iso_sha256, iso_bytes, arguments_at, arguments_bytes, files_at, files_bytes)
    values ('r', 'x86_64', '', 'x', 1, 1, 1, 1, 1)`;
  await sql`
    insert into workers (hostname, role, updated_at) values ('w', 'bmc', now() - interval '1 day')`;
  // A node that is passed over shows its reason, and a rollout of a runbook that runbook's name.
  await sql`
    insert into rollout_targets (rollout, position, node_uuid, owner, lessee, wave, state)
    select ${rollout}, 1, uuid, owner, lessee, 0, 'skipped' from nodes where uuid = ${parked.node}`;
  await sql`update rollouts set runbook_uuid = ${parked.node}, runbook_revision = 1`;
  const asked = {
    requester: sql.json({ user_name: markOf('audit.requester') }),
    data: sql.json({ name: markOf('audit.data') }),
  };
  const texts = { action: markOf('audit.action'), rule: markOf('audit.rule'), resource: markOf('audit.resource') };
  await sql`insert into audit ${sql({ ...asked, ...texts, resource_id: markOf('audit.id') })}`;
  const at = new Date().toISOString();
  const seen = { created_at: at, updated_at: at };
  const bios = [{ name: markOf('bios.name'), value: markOf('bios.value'), ...seen }];
  const versions = { current_version: markOf('firmware.version'), initial_version: '1', last_version_flashed: '1' };
  const firmware = [{ component: markOf('firmware.component'), ...versions, ...seen }];
  await sql`
    insert into node_details (node_uuid, bios, bios_at, firmware, firmware_at)
    values (${parked.node}, ${sql.json(bios)}, now(), ${sql.json(firmware)}, now())`;
};

const documents = ['bios.name', 'bios.value', 'firmware.version', 'firmware.component', 'run_steps.args', 'requester', 'audit.requester', 'audit.data', 'audit.action', 'audit.rule', 'audit.resource'] as const; // biome-ignore format: one list

const markDocuments = async ({ sql }: TestApi): Promise<void> => {
  await sql`update run_steps set args = ${sql.json({ note: markOf('run_steps.args') })}`;
  const requester = sql.json({ user_id: 'u', user_name: markOf('requester') });
  await sql`update runs set requester = ${requester}`;
  await sql`update rollouts set requester = ${requester}`;
};

/** @returns the marks, as pages show them, that a page has for a caller who sees everything */
export const markTexts = async (api: TestApi, world: ConsoleWorld): Promise<string[]> => {
  const { sql } = api;
  await fill(api, world);
  const columns = await columnsOf(api);
  for (const { table, column } of columns)
    await sql`update ${sql(table)} set ${sql(column)} = ${markOf(`${table}.${column}`)}`;
  await markDocuments(api);
  const fields = [...columns.map(({ table, column }) => `${table}.${column}`), ...documents];
  return fields.filter((field) => !unshown.some((one) => one === field)).map(shownOf);
};
