/** What the console's pages are measured among: a fleet with a past, some of it in trouble, and runs that wait for a person. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from './system';
import { waitingHerd } from './waiting';

const name = 'bench-console-';
/** A group that no worker serves: no power sync and no take-over changes these rows meanwhile. */
const group = 'bench-console';
/** Paused runs with real workflows, because the page of a run queries Temporal. The inbox shows this many of one kind. */
const paused = 20;

/** Runs that go on, as many as a large installation has at once. */
const open = 1_000;

const requester = {
  user_id: 'u',
  user_name: 'bench',
  project_id: null,
  system_scope: 'all',
  strategy: 'keystone',
  request_id: 'req-bench',
};

/** One node of a thousand is the lessee's; one of a hundred is in maintenance, one of five hundred has failed. */
const addNodes = async ({ sql }: System, lessee: string, nodes: number): Promise<void> => {
  await sql`
    insert into nodes (name, driver, conductor_group, provision_state, power_state, resource_class, properties, extra, driver_info, owner,
      lessee, maintenance, maintenance_reason, fault, last_error, provision_updated_at)
    select ${name} || n, 'fake-hardware', ${group},
      case when n % 500 = 499 then 'clean failed' when n % 5 = 0 then 'available' else 'active' end, 'power on', 'class-' || n % 10,
      jsonb_build_object('cpus', 64, 'memory_mb', 262144, 'local_gb', 1787, 'cpu_arch', 'x86_64', 'vendor', 'A vendor', 'rack', 'r' || n / 40, 'power_feed', 'f' || n / 400),
      jsonb_build_object('rack', 'r' || n / 40, 'unit', n % 40, 'note', repeat('lorem ipsum ', 12)),
      '{"redfish_address": "https://10.0.0.1", "redfish_username": "operator"}', 'bench-owner-' || n / 250,
      case when n % 1000 = 500 then ${lessee} when n % 2 = 1 then 'bench-lessee-' || n / 200 end,
      n % 100 = 7, case when n % 100 = 7 then 'broken' end, case when n % 1000 = 7 then 'power failure' end,
      case when n % 500 = 499 then 'The BMC did not answer.' end, now() - n % 9973 * interval '1 minute'
    from generate_series(1, ${nodes}::int) n`;
};

/** A run for each node, most of them ended; those that go on have no workflow, and are kept from the reconciler by their time. */
const addRuns = async ({ sql }: System): Promise<void> => {
  await sql`
    insert into runs (id, node_uuid, node_name, fence, kind, verb, state, cursor, input, owner, lessee, lease_id, requester, rule_set,
      workflow_id, last_error, created_at, started_at, finished_at, updated_at)
    select gen_random_uuid(), uuid, nodes.name, 1, 'clean', 'clean', case when n <= ${open} then 'running' when n % 50 = 0 then 'failed' else 'succeeded' end,
      1, '{}', owner, lessee, lease_id, ${sql.json(requester)}, 'temper', ${name} || n, case when n > ${open} and n % 50 = 0 then 'The BMC did not answer.' end,
      now() - n * interval '10 seconds', now() - n * interval '10 seconds', case when n > ${open} then now() - n * interval '9 seconds' end,
      now() + interval '1 day'
    from (select *, row_number() over (order by id) as n from nodes where nodes.name like ${`${name}%`}) nodes`;
  await sql`
    insert into run_steps (run_id, index, interface, step, state, last_error, attempt, attempts, started_at, finished_at)
    select r.id, i, 'power', 'reboot', case when i = 1 and r.finished_at is null then 'running' else 'done' end,
      case when i = 1 and r.finished_at is null and hashtext(r.id::text) % 10 = 0 then 'The BMC did not answer.' end, 1, 1, r.started_at, r.finished_at
    from runs r, generate_series(0, 1) i where r.workflow_id like ${`${name}%`}`;
};

const addRest = async ({ sql }: System, nodes: number): Promise<void> => {
  await sql`
    insert into audit (requester, action, rule, resource, resource_id, node_uuid, project)
    select ${sql.json(requester)}, 'node.update', 'baremetal:node:update', 'node', uuid, uuid, owner from nodes where name like ${`${name}%`}`;
  await sql`
    insert into allocations (name, resource_class, state, last_error)
    select ${name} || n, 'none', 'error', 'no node' from generate_series(1, ${Math.floor(nodes / 10)}::int) n`;
  await sql`
    insert into runbooks (name, public, steps)
    select 'CUSTOM_BENCH_CONSOLE_' || n, true, '[{"interface": "power", "step": "reboot", "args": {}, "order": 1}]'
    from generate_series(1, 200) n`;
};

/** Deployments that wait for their ramdisk, of which the store says that they are paused: the page shows each with its decision. */
const addPaused = async (system: System): Promise<void> => {
  const { uuids } = await waitingHerd(system, 'bench-console-paused', paused);
  await system.sql`update runs set state = 'paused' where node_uuid = any (${uuids as string[]}::uuid[]) and finished_at is null`;
};

export type Fleet = {
  /** A node near the end of the list, and one in the middle. */
  readonly last: string;
  readonly node: string;
  readonly run: string;
};

/** Fills the store. Takes about a minute for 100,000 nodes. */
export const fillForConsole = async (system: System, lessee: string, nodes: number): Promise<Fleet> => {
  const { sql } = system;
  await addNodes(system, lessee, nodes);
  await addRuns(system);
  await addRest(system, nodes);
  await addPaused(system);
  // As the store's own housekeeping leaves it.
  await sql`vacuum analyze`;
  await sql`checkpoint`;
  await sleep(1_000);
  const nodeAt = async (n: number): Promise<string> =>
    (await sql<{ uuid: string }[]>`select uuid from nodes where name = ${`${name}${n}`}`)[0]!.uuid;
  const node = await nodeAt(Math.floor(nodes / 2));
  const [run] = await sql<{ id: string }[]>`select id from runs where node_uuid = ${node}`;
  return { last: await nodeAt(nodes - 100), node, run: run!.id };
};

/** Takes away what was made by hand; the few runs that wait end with the system. */
export const emptyAfterConsole = async ({ sql }: System): Promise<void> => {
  await sql`delete from runs where workflow_id like ${`${name}%`}`;
  await sql`delete from nodes where name like ${`${name}%`} and conductor_group = ${group}`;
  await sql`delete from allocations where name like ${`${name}%`}`;
  await sql`delete from runbooks where name like 'CUSTOM_BENCH_CONSOLE_%'`;
  await sql`vacuum analyze`;
};
