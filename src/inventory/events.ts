/** The append-only record of what happened to nodes and runs. */
import type { ProjectId, RolloutUuid } from '../model/ids';
import type { EventKind } from '../model/resources/event-kinds';
import { recorded } from '../model/resources/recorded';
import { type Db, jsonOf } from './database';

export type EventRow = {
  readonly kind: EventKind;
  readonly node_uuid?: string | null;
  readonly run_id?: string | null;
  readonly project?: ProjectId | null;
  readonly lessee?: ProjectId | null;
  readonly rollout_id?: RolloutUuid | null;
  /** Facts with the wire's field names; never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
};

/**
 * The statement that appends an event; also part of a larger statement, where a change and its record go in one.
 * @param changed name of a part of that statement: the event is appended where it has a row, once for each
 */
export const eventInsert = (sql: Db, row: EventRow, changed?: string) => sql`
  insert into events (kind, node_uuid, run_id, project, lessee, rollout_id, data)
    select ${row.kind}, ${row.node_uuid ?? null}, ${row.run_id ?? null}, ${row.project ?? null}, ${row.lessee ?? null},
      ${row.rollout_id ?? null}, ${jsonOf(sql, recorded(row.data ?? {}))} ${changed === undefined ? sql`` : sql`from ${sql(changed)}`}`;

export const events = (sql: Db) => ({
  async append(row: EventRow): Promise<void> {
    await eventInsert(sql, row);
  },
});
