/** What chaos asks the store about rollouts, because no client can: what could be begun now, when it was, and by how many runs. */
import type { Sql } from 'postgres';

export const rolloutStore = (sql: Sql) => ({
  /** Running rollouts of these of which a target has room in every bound; those of the tenant wait for its budget as well. */
  async able(rollouts: readonly string[]): Promise<string[]> {
    if (rollouts.length === 0) return [];
    const rows = await sql<{ id: string }[]>`
      select r.id from rollouts r where r.id in ${sql(rollouts)} and r.state = 'running' and exists (
        select from rollout_targets t where t.rollout = r.id and t.wave = r.wave and t.state = 'pending' and t.owner is null
          and not t.counters && array(
            select number from rollout_counters c where c.rollout = r.id
              and (c.in_flight >= c.most or c.failed + c.parked + c.in_flight >= c.budget)))`;
    return rows.map(({ id }) => id);
  },

  /** When the first target of these rollouts was begun after a time, epoch milliseconds. */
  async begunAfter(rollouts: readonly string[], after: number): Promise<number | undefined> {
    const [row] = await sql<{ at: Date | null }[]>`
      select min(admitted_at) as at from rollout_targets where rollout in ${sql(rollouts)} and admitted_at > ${new Date(after)}`;
    return row?.at?.getTime();
  },

  /** How many runs of a rollout each node had. */
  async runsOf(rollout: string): Promise<Map<string, number>> {
    const rows = await sql<{ node_uuid: string; runs: number }[]>`
      select node_uuid, count(*)::int as runs from runs where batch = ${rollout} group by 1`;
    return new Map(rows.map(({ node_uuid, runs }) => [node_uuid, runs]));
  },
});
