/** Events in an order that never gets a row in its past. */
import type { NodeUuid, ProjectId, RunUuid } from '../model/ids';
import type { EventKind } from '../model/resources/event-kinds';
import type { Db } from './database';

/** `tx` is the writing transaction, in decimal digits. */
export type FeedPlace = { readonly tx: string; readonly seq: number };

export type FeedEvent = FeedPlace & {
  readonly at: Date;
  readonly kind: EventKind;
  readonly node_uuid: NodeUuid | null;
  readonly run_id: RunUuid | null;
  readonly project: ProjectId | null;
  readonly lessee: ProjectId | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/** For metrics. */
export type CountedEvent = FeedEvent & { readonly verb: string | null; readonly run_ms: number | null };

export const feedStart: FeedPlace = { tx: '0', seq: 0 };

/** Events behind a place, over `e`. Those of transactions under way may still get others before them. */
export const eventsBehind = (sql: Db, { tx, seq }: FeedPlace) =>
  sql`(e.tx, e.seq) > (${tx}::xid8, ${seq}) and e.tx < pg_snapshot_xmin(pg_current_snapshot())`;

export const feed = (sql: Db) => ({
  /** Call it in the transaction that writes the events' effects. Undefined while another process does. */
  async take(limit: number): Promise<CountedEvent[] | undefined> {
    const [cursor] = await sql<FeedPlace[]>`select tx, seq from event_cursor for update skip locked`;
    if (!cursor) return undefined;
    const rows = await sql<CountedEvent[]>`
      select e.tx, e.seq, e.at, e.kind, e.node_uuid, e.run_id, e.project, e.lessee, e.data, r.verb,
        (extract(epoch from e.at - r.created_at) * 1000)::float8 as run_ms
      from events e left join runs r on r.id = e.run_id
      where ${eventsBehind(sql, cursor)}
      order by e.tx, e.seq limit ${limit}`;
    const last = rows.at(-1);
    if (last) await sql`update event_cursor set tx = ${last.tx}::xid8, seq = ${last.seq}`;
    return rows;
  },
});
