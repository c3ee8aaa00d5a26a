/** Messages to runs, kept until Temporal has taken them. */
import type { RunUuid } from '../../model/ids';
import type { RunState } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';

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
