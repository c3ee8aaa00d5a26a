/** The circuit breaker of each BMC, shared by all workers: silence is counted, and a silent BMC is left alone for a while. */
import type { Db } from '../database';

export type BmcHealthRow = {
  readonly lane: string;
  /** Acts in a row that got no answer. */
  readonly failures: number;
  /** No worker calls the BMC before; null while the failures are too few. */
  readonly open_until: Date | null;
  readonly last_error: string;
  readonly updated_at: Date;
};

/** So many acts in a row without an answer open the breaker. */
const opensAfter = 3;
/** How long it stays open then, in milliseconds; every further failure doubles it up to the longest. */
const firstRestMs = 5_000;
const longestRestMs = 120_000;

const longestError = 500;

export const bmcHealth = (sql: Db) => ({
  /**
   * Counts an act that got no answer, and opens the breaker when there are too many in a row.
   * @param error what the act ended with: readable, without secrets
   * @param longestMs the longest rest that this act asks for, where that is less than what others do
   * @returns failures in a row, and for how long the BMC is left alone
   */
  async failed(lane: string, error: string, longestMs = longestRestMs): Promise<{ failures: number; restMs: number }> {
    const last_error = error.slice(0, longestError);
    const [row] = await sql<{ failures: number; rest_ms: number }[]>`
      insert into bmc_health (lane, failures, last_error) values (${lane}, 1, ${last_error})
      on conflict (lane) do update set
        failures = bmc_health.failures + 1,
        open_until = case when bmc_health.failures + 1 >= ${opensAfter} then
          now() + least(${firstRestMs} * power(2, least(bmc_health.failures + 1 - ${opensAfter}, 10)), ${Math.min(longestMs, longestRestMs)})
            * interval '1 millisecond' end,
        last_error = excluded.last_error,
        updated_at = now()
      returning failures, coalesce(round(extract(epoch from open_until - now()) * 1000), 0)::int as rest_ms`;
    return { failures: row!.failures, restMs: row!.rest_ms };
  },

  /** Forgets the failures of a BMC that has answered. */
  async answered(lane: string): Promise<void> {
    await sql`delete from bmc_health where lane = ${lane}`;
  },

  /** All BMCs that did not answer last, the worst first. */
  async list(): Promise<BmcHealthRow[]> {
    return sql<BmcHealthRow[]>`select * from bmc_health order by failures desc, lane`;
  },
});
