/** The append-only record of events of nodes, runs and rollouts. */
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
  /** Field names as in the API; never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
};

/** The INSERT of an event, also as part of a larger statement. @param changed a part of that statement: one event per row of it */
export const eventInsert = (sql: Db, row: EventRow, changed?: string) => sql`
  insert into events (kind, node_uuid, run_id, project, lessee, rollout_id, data)
    select ${row.kind}, ${row.node_uuid ?? null}, ${row.run_id ?? null}, ${row.project ?? null}, ${row.lessee ?? null},
      ${row.rollout_id ?? null}, ${jsonOf(sql, recorded(row.data ?? {}))} ${changed === undefined ? sql`` : sql`from ${sql(changed)}`}`;

export const events = (sql: Db) => ({
  async append(row: EventRow): Promise<void> {
    await eventInsert(sql, row);
  },
});
