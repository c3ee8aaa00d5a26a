/** Leases of lanes, so that no two workers call one BMC at once. */

import { type Db, textArray } from './database';
import { bmcHealth } from './nodes/bmc-health';

export type LaneEntry =
  /** `failures`: acts before this one without an answer. */
  | { readonly is: 'taken'; readonly failures: number }
  | { readonly is: 'held' }
  /** The BMC is left alone for `restMs`, because it did not answer. */
  | { readonly is: 'resting'; readonly failures: number; readonly restMs: number; readonly last_error: string };

type LeaseFound = { lane: string; taken: boolean; failures: number | null; rest_ms: number; last_error: string | null };

const entryOf = ({ taken, rest_ms, last_error, ...row }: LeaseFound): LaneEntry => {
  const failures = row.failures ?? 0;
  if (rest_ms > 0) return { is: 'resting', failures, restMs: rest_ms, last_error: last_error! };
  return taken ? { is: 'taken', failures } : { is: 'held' };
};

/** In one order of lanes, which prevents deadlocks. */
const enterAll = async (
  sql: Db,
  lanes: readonly string[],
  holder: string,
  ms: number,
): Promise<Map<string, LaneEntry>> => {
  const found = await sql<LeaseFound[]>`
    with asked as (
      select distinct lane from unnest(${textArray(sql, lanes)}) lane
    ), health as (
      select lane, failures, last_error, greatest(ceil(extract(epoch from open_until - now()) * 1000), 0)::int as rest_ms
      from bmc_health where lane = any (${textArray(sql, lanes)})
    ), lease as (
      insert into bmc_leases (lane, holder, expires_at)
      select lane, ${holder}, now() + ${ms} * interval '1 millisecond' from asked
      where not exists (select from health where health.lane = asked.lane and rest_ms > 0) order by lane
      on conflict (lane) do update set holder = excluded.holder, expires_at = excluded.expires_at
      where bmc_leases.holder = excluded.holder or bmc_leases.expires_at < now()
      returning lane
    )
    select asked.lane, lease.lane is not null as taken, failures, coalesce(rest_ms, 0) as rest_ms, last_error
    from asked left join lease using (lane) left join health using (lane)`;
  return new Map(found.map((row) => [row.lane, entryOf(row)]));
};

export const bmcLeases = (sql: Db) => ({
  health: bmcHealth(sql),

  /** Takes a lane, unless another worker holds it or the breaker is open. One statement. */
  async enter(lane: string, holder: string, ms: number): Promise<LaneEntry> {
    return (await enterAll(sql, [lane], holder, ms)).get(lane)!;
  },

  /** In the order of the lanes. */
  async enterAll(lanes: readonly string[], holder: string, ms: number): Promise<LaneEntry[]> {
    const entries = await enterAll(sql, lanes, holder, ms);
    return lanes.map((lane) => entries.get(lane)!);
  },

  /** Keeps the rows, so that no index is written. */
  async leaveAll(lanes: readonly string[], holder: string): Promise<void> {
    await sql`
      with mine as (
        select lane from bmc_leases where lane = any (${textArray(sql, lanes)}) and holder = ${holder} order by lane for update
      )
      update bmc_leases set expires_at = '-infinity' where lane = any (array(select lane from mine))`;
  },

  /** Deletes lanes that were unused for a day. */
  async sweep(): Promise<void> {
    await sql`
      delete from bmc_leases where lane in (
        select lane from bmc_leases where expires_at < now() - interval '1 day' order by lane for update skip locked
      )`;
  },

  /** Takes or renews a lane. */
  async take(lane: string, holder: string, ms: number): Promise<boolean> {
    const taken = await sql`
      insert into bmc_leases (lane, holder, expires_at) values (${lane}, ${holder}, now() + ${ms} * interval '1 millisecond')
      on conflict (lane) do update set holder = excluded.holder, expires_at = excluded.expires_at
      where bmc_leases.holder = excluded.holder or bmc_leases.expires_at < now()
      returning 1`;
    return taken.length === 1;
  },

  async release(lane: string, holder: string): Promise<void> {
    await sql`delete from bmc_leases where lane = ${lane} and holder = ${holder}`;
  },
});
