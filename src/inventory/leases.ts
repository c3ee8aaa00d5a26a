/** The row that keeps two workers from speaking to one BMC at once. */
import type { Db } from './database';

export const bmcLeases = (sql: Db) => ({
  /** Takes or renews a lane for some milliseconds; false while somebody else holds it. */
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
