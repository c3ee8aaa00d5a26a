/** The circuit breaker of each BMC, shared by all workers. */
import type { Db } from '../database';

export type BmcHealthRow = {
  readonly lane: string;
  /** Acts in a row without an answer. */
  readonly failures: number;
  /** No worker calls the BMC before. Null below the threshold. */
  readonly open_until: Date | null;
  readonly last_error: string;
  readonly updated_at: Date;
};

/** Failures in a row that open the breaker. */
const opensAfter = 3;
/** Each further failure doubles it, up to the longest. */
const firstRestMs = 5_000;
const longestRestMs = 120_000;

const longestError = 500;

export const bmcHealth = (sql: Db) => ({
  /**
   * Counts an act without an answer, and may open the breaker.
   * @param error readable, without secrets
   * @param longestMs shortens the longest pause
   * @returns failures in a row, and the pause
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

  async answered(lane: string): Promise<void> {
    await sql`delete from bmc_health where lane = ${lane}`;
  },

  /** BMCs that did not answer last, worst first. */
  async list(): Promise<BmcHealthRow[]> {
    return sql<BmcHealthRow[]>`select * from bmc_health order by failures desc, lane`;
  },
});
