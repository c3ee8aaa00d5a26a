/** Runs that Temporal has yet to start or may have lost, and messages that it has yet to take. */
import type { RunUuid } from '../../model/ids';
import type { RunState } from '../../model/runs/runs';
import { aheadOfClock, type Db, jsonOf, passedSince } from '../database';
import { type RunRow, runColumns } from './read';

export const startingRuns = (sql: Db) => ({
  /** Of the node at acceptance, and of its steps' other nodes. */
  async groupsOf(run: RunUuid): Promise<string[]> {
    const [row] = await sql<{ groups: string[] }[]>`
      select array(select distinct jsonb_array_elements_text(
        jsonb_path_query_array(input, '$.conductor_group') || jsonb_path_query_array(input, '$.steps[*].on.conductor_group'))) as groups
      from runs where id = ${run}`;
    return row?.groups ?? [];
  },

  /** Oldest first. The pause doubles with each refused start, up to 24 times `olderThanMs`. */
  async unstarted(olderThanMs: number, limit = 50): Promise<{ id: RunUuid; workflow_id: string }[]> {
    return sql`
      select id, workflow_id from runs
      where (restart_at is not null or (state = 'accepted' and ${passedSince(sql, 'created_at', olderThanMs)}))
        and finished_at is null
        and (attempts_to_start = 0 or ${aheadOfClock(sql, 'updated_at')}
          or updated_at <= now() - least(24, power(2, least(attempts_to_start, 10) - 1)) * ${olderThanMs} * interval '1 millisecond')
      order by created_at limit ${limit}`;
  },

  /** Runs without a workflow, according to PostgreSQL. */
  async accepted(): Promise<RunRow[]> {
    return sql<
      RunRow[]
    >`select ${sql(runColumns)} from runs where state = 'accepted' and finished_at is null order by created_at`;
  },

  /** Locks a run that has not begun. */
  async lockAccepted(id: RunUuid): Promise<boolean> {
    const locked = await sql`select 1 from runs where id = ${id} and state = 'accepted' for update`;
    return locked.length === 1;
  },

  /** @returns the number of refused starts */
  async startFailed(id: RunUuid, waiting_for: string): Promise<number> {
    const [row] = await sql<{ attempts_to_start: number }[]>`
      update runs set attempts_to_start = attempts_to_start + 1, waiting_for = ${waiting_for}, updated_at = now()
      where id = ${id} and finished_at is null returning attempts_to_start`;
    return row?.attempts_to_start ?? 0;
  },

  /** Open runs without a recent change. */
  async quiet(olderThanMs: number, limit = 2_500): Promise<RunRow[]> {
    return sql<RunRow[]>`
      select ${sql(runColumns)} from runs
      where finished_at is null and state <> 'accepted' and restart_at is null and ${passedSince(sql, 'updated_at', olderThanMs)}
      order by updated_at limit ${limit}`;
  },

  /** If true, Temporal's state of the old workflow does not count. */
  async isRestarting(id: RunUuid): Promise<boolean> {
    return (
      (await sql`select 1 from runs where id = ${id} and restart_at is not null and finished_at is null`).length > 0
    );
  },

  /** True if there is no such run, or it ended long enough ago. */
  async isOver(id: RunUuid, forMs: number): Promise<boolean> {
    const open = await sql`
      select 1 from runs where id = ${id}
        and (finished_at is null or finished_at > now() - ${forMs} * interval '1 millisecond')`;
    return open.length === 0;
  },

  /** Marks runs as checked, so that the next check of quiet runs begins with others. */
  async touch(ids: readonly RunUuid[]): Promise<void> {
    if (ids.length > 0) await sql`update runs set updated_at = now() where id in ${sql(ids)} and finished_at is null`;
  },
});

/** Messages, kept until Temporal has taken them. */
export const runMessages = (sql: Db) => ({
  /** The first caller counts. */
  async abortAsked(id: RunUuid, by: string): Promise<void> {
    await sql`
      update runs set abort_by = ${by}, abort_at = now(), updated_at = now()
      where id = ${id} and abort_at is null and finished_at is null`;
  },

  async queueMessage(run: RunUuid, kind: string, payload: Readonly<Record<string, unknown>>): Promise<string> {
    const [row] = await sql<{ id: string }[]>`
      insert into run_messages (run_id, kind, payload) values (${run}, ${kind}, ${jsonOf(sql, payload)}) returning id`;
    return row!.id;
  },

  async unsentMessages(limit = 50): Promise<
    {
      id: string;
      run_id: RunUuid;
      workflow_id: string;
      kind: string;
      payload: Record<string, unknown>;
      run_state: RunState;
    }[]
  > {
    return sql`
      select m.id, m.run_id, r.workflow_id, m.kind, m.payload,
        case when r.restart_at is not null and r.finished_at is null then 'accepted' else r.state end as run_state from run_messages m join runs r on r.id = m.run_id
      where m.sent_at is null order by m.created_at limit ${limit}`;
  },

  async messageSent(id: string): Promise<void> {
    await sql`update run_messages set sent_at = now() where id = ${id}`;
  },
});
