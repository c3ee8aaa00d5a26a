/** The row that keeps two workers from speaking to one BMC at once. */

import type { Db } from './database';
import { bmcHealth } from './nodes/bmc-health';

/** What a worker finds that wants to call a BMC. */
export type LaneEntry =
  /** The lane is theirs; so many acts before this one got no answer. */
  | { readonly is: 'taken'; readonly failures: number }
  | { readonly is: 'held' }
  /** The BMC did not answer so often that it is left alone for so long. */
  | { readonly is: 'resting'; readonly failures: number; readonly restMs: number; readonly last_error: string };

type LeaseFound = { taken: boolean; failures: number | null; rest_ms: number; last_error: string | null };

export const bmcLeases = (sql: Db) => ({
  health: bmcHealth(sql),

  /** Takes a lane for some milliseconds, unless another worker holds it or the BMC's breaker is open; one statement. */
  async enter(lane: string, holder: string, ms: number): Promise<LaneEntry> {
    const [found] = await sql<LeaseFound[]>`
      with health as (
        select failures, last_error, greatest(ceil(extract(epoch from open_until - now()) * 1000), 0)::int as rest_ms
        from bmc_health where lane = ${lane}
      ), lease as (
        insert into bmc_leases (lane, holder, expires_at)
        select ${lane}, ${holder}, now() + ${ms} * interval '1 millisecond'
        where not exists (select from health where rest_ms > 0)
        on conflict (lane) do update set holder = excluded.holder, expires_at = excluded.expires_at
        where bmc_leases.holder = excluded.holder or bmc_leases.expires_at < now()
        returning 1
      )
      select exists (select from lease) as taken, health.failures, coalesce(health.rest_ms, 0) as rest_ms, health.last_error
      from (values (1)) as one left join health on true`;
    const { taken, rest_ms, last_error } = found!;
    const failures = found!.failures ?? 0;
    if (rest_ms > 0) return { is: 'resting', failures, restMs: rest_ms, last_error: last_error! };
    return taken ? { is: 'taken', failures } : { is: 'held' };
  },

  /** Takes or renews a lane for some milliseconds; false while another worker holds it. */
  async take(lane: string, holder: string, ms: number): Promise<boolean> {
    const taken = await sql`
      insert into bmc_leases (lane, holder, expires_at) values (${lane}, ${holder}, now() + ${ms} * interval '1 millisecond')
      on conflict (lane) do update set holder = excluded.holder, expires_at = excluded.expires_at
      where bmc_leases.holder = excluded.holder or bmc_leases.expires_at < now()
      returning 1`;
    return taken.length === 1;
  },

  /** Gives a lane back. */
  async release(lane: string, holder: string): Promise<void> {
    await sql`delete from bmc_leases where lane = ${lane} and holder = ${holder}`;
  },
});
