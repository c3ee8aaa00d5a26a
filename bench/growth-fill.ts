/** A year of a fleet written into the schema: runs with steps and events in the order of their times, and the audit beside them. */
import type { Sql } from '../src/inventory/database';

export const runsAMonth = 4;
/** Each fourth is of a kind that a node's history shows. */
export const eventsARun = 20;
const stepsARun = 4;

/** All nodes are made by their number, so that what a page shows is the same in each database. */
const uuidOf = (sql: Sql, number: string) =>
  sql`('00000000-0000-4000-8000-' || lpad((${sql.unsafe(number)})::text, 12, '0'))::uuid`;

/** Its history is what is paged. */
export const firstNode = '00000000-0000-4000-8000-000000000001';

/** The fleet, and a feed that has been read to its end. */
export const addFleet = async (sql: Sql, nodes: number): Promise<void> => {
  await sql`
    insert into nodes (uuid, name, driver)
    select ${uuidOf(sql, 'n')}, 'growth-' || n, 'fake-hardware' from generate_series(1, ${nodes}::int) n`;
  await sql`update event_cursor set tx = '9000000000000000'`;
};

/** One month, so many before the present one; its runs are spread evenly over 28 days. */
export const addMonth = async (sql: Sql, nodes: number, ago: number): Promise<void> => {
  await sql`select audit_make_month(audit_month(now()) - ${ago} * interval '1 month')`;
  await sql.begin(async (tx) => {
    // Triggers would look once for a watcher of each event.
    await tx`set local session_replication_role = replica`;
    await tx`
      create temp table made on commit drop as
      select gen_random_uuid() as id, ${uuidOf(sql, `1 + n % ${nodes}`)} as node,
        date_trunc('month', now()) - ${ago} * interval '1 month' + n * interval '28 days' / ${nodes * runsAMonth}::int as at
      from generate_series(0, ${nodes * runsAMonth - 1}::int) n`;
    await tx`
      insert into runs (id, node_uuid, fence, kind, verb, state, input, requester, rule_set, workflow_id, created_at, finished_at)
      select id, node, 1, 'clean', 'clean', 'succeeded', '{}', '{"user_id": "operator"}', 'temper', id::text, at, at + interval '1 hour'
      from made order by at`;
    await tx`
      insert into run_steps (run_id, index, interface, step, state)
      select id, index, 'deploy', 'erase_devices', 'done' from made, generate_series(1, ${stepsARun}::int) index order by at, index`;
    await tx`
      insert into events (at, kind, node_uuid, run_id, data)
      select at + number * interval '3 minutes', case when number % 4 = 3 then 'run.succeeded' else 'run.step' end, node, id,
        case when number % 4 = 3 then '{"from": "cleaning", "to": "available"}'
          else '{"step": "deploy.erase_devices", "state": "done"}' end::jsonb
      from made, generate_series(0, ${eventsARun - 1}::int) number order by 1`;
    await tx`
      insert into audit (at, requester, action, rule, resource, resource_id, node_uuid, run_id)
      select at, '{"user_id": "operator"}', 'node.provision', 'baremetal:node:set_provision_state', 'node', node::text, node, id
      from made order by at`;
  });
};

/** Names of the tables that a fleet's work fills. */
export const growing = ['events', 'runs', 'run_steps', 'audit'] as const;

/** Bytes on disk of each of them with its indexes; of the audit, of all its months. */
export const sizesOf = async (sql: Sql): Promise<Record<(typeof growing)[number], number>> => {
  const [row] = await sql<Record<(typeof growing)[number], string>[]>`
    select pg_total_relation_size('events') as events, pg_total_relation_size('runs') as runs,
      pg_total_relation_size('run_steps') as run_steps,
      (select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = 'audit'::regclass) as audit`;
  return {
    events: Number(row!.events),
    runs: Number(row!.runs),
    run_steps: Number(row!.run_steps),
    audit: Number(row!.audit),
  };
};
