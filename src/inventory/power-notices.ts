/** Queries of power notices for Nova, about nodes with an instance. They are deliveries without a webhook. */
import { type Db, numberArray } from './database';
import type { FeedEvent } from './feed';
import type { Attempted } from './webhooks';

/** The node's present power, not that of the event, so that a late notice is not outdated. */
export type PowerNotice = {
  readonly id: number;
  readonly attempts: number;
  readonly server: string;
  readonly power: 'power on' | 'power off';
};

const sendable = ['power on', 'power off'] as const;

/** Its power changed: acts of runs say so in `data`. */
const changesPower = ({ kind, data }: FeedEvent): boolean => kind === 'node.power' || data.power_state !== undefined;

export const powerNotices = (sql: Db) => ({
  /** Call it in the transaction that reads the events. Idempotent. */
  async enqueue(events: readonly FeedEvent[]): Promise<void> {
    const changed = events.filter(changesPower).map(({ seq }) => seq);
    if (changed.length === 0) return;
    await sql`
      insert into webhook_deliveries (event_seq, kind)
      select max(e.seq), 'node.power' from events e join nodes n on n.uuid = e.node_uuid and n.instance_uuid is not null
      where e.seq = any (${numberArray(sql, changed)}) group by n.uuid
      on conflict do nothing`;
  },

  /** Leases due notices for `leaseMs`. Deletes those of nodes without an instance or a known power state. */
  async takeDue({ limit, leaseMs }: { limit: number; leaseMs: number }): Promise<PowerNotice[]> {
    return sql<PowerNotice[]>`
      with due as (
        select d.id, d.event_seq from webhook_deliveries d
        where d.webhook_uuid is null and d.state = 'pending' and d.next_at <= now()
        order by d.next_at limit ${limit} for update skip locked
      ), present as (
        select due.id, n.instance_uuid as server, n.power_state as power
        from due join events e on e.seq = due.event_seq join nodes n on n.uuid = e.node_uuid
        where n.instance_uuid is not null and n.power_state in ${sql([...sendable])}
      ), gone as (
        delete from webhook_deliveries where id in (select id from due except select id from present)
      )
      update webhook_deliveries d set attempts = attempts + 1, next_at = now() + ${leaseMs} * interval '1 millisecond'
      from present where d.id = present.id returning d.id, d.attempts, present.server, present.power`;
  },

  /**
   * Ends an attempt that sent `power`. It is due again if the node has another power by now, even after a newer attempt. A process
   * that stood still may have sent last.
   */
  async attempted(id: number, power: PowerNotice['power'], outcome: Attempted): Promise<void> {
    const { state, status, error, waitMs } = outcome;
    await sql`
      update webhook_deliveries d set status = ${status}, error = ${error}, next_at = now() + ${waitMs} * interval '1 millisecond',
        state = case when ${state} = 'delivered' and changed.since then 'pending' else ${state} end,
        finished_at = case when ${state} = 'pending' or ${state} = 'delivered' and changed.since then null else now() end
      from (
        select exists (
          select from webhook_deliveries own join events e on e.seq = own.event_seq join nodes n on n.uuid = e.node_uuid
          where own.id = ${id} and n.instance_uuid is not null and n.power_state <> ${power}
        ) as since
      ) changed
      where d.id = ${id} and (d.state = 'pending' or ${state} = 'delivered' and changed.since)`;
  },

  /** Counts for `temper doctor`. A server that Nova does not know is no failure. */
  async standing(): Promise<{ readonly waiting: number; readonly failed: number; readonly error: string | null }> {
    const [row] = await sql<{ waiting: number; failed: number; error: string | null }[]>`
      select count(*) filter (where state = 'pending')::int as waiting, count(*) filter (where state = 'failed' and status is distinct from 404)::int as failed,
        (array_agg(error order by id desc) filter (where error is not null))[1] as error
      from webhook_deliveries where webhook_uuid is null and state <> 'delivered'`;
    return row!;
  },
});
