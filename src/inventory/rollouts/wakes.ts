/** Which rollouts' workflows are to be woken: something has happened, or nothing for a while. */
import type { RolloutUuid } from '../../model/ids';
import { type Db, passedSince } from '../database';

export type Wake = { readonly rollout: RolloutUuid; readonly wanted: number };

// In these there is still something to see to: ends of runs, soaks, or admissions.
const advancedStates = ['running', 'paused', 'aborted', 'stopped'];
const dueAgainMs = 30_000;

export const rolloutWakes = (sql: Db) => ({
  /** Has the rollout's workflow look at it. */
  async want(rollout: RolloutUuid): Promise<void> {
    await sql`select wake_rollout(${rollout})`;
  },

  /** Wakes that were not sent, of each rollout at most one in `everyMs`. */
  unsent: (everyMs: number, limit = 50): Promise<Wake[]> => sql<Wake[]>`
    select w.rollout, w.wanted from rollout_wakes w join rollouts r on r.id = w.rollout
    where w.wanted > w.sent and (r.started_at is not null or r.start_at is not null)
      and (w.sent_at is null or ${passedSince(sql, 'w.sent_at', everyMs)})
    order by w.sent_at nulls first limit ${limit}`,

  /** The workflow was woken for all that had happened by then. */
  async sent({ rollout, wanted }: Wake): Promise<void> {
    await sql`update rollout_wakes set sent = greatest(sent, ${wanted}), sent_at = now() where rollout = ${rollout}`;
  },

  /** Those whose time to begin has come; each is named again after a while, for its workflow may be lost. */
  due: (limit = 50): Promise<RolloutUuid[]> =>
    sql<{ id: RolloutUuid }[]>`
      select id from rollouts where state = 'scheduled' and start_at <= now()
        and (tended_at is null or tended_at < start_at or ${passedSince(sql, 'tended_at', dueAgainMs)})
      order by start_at limit ${limit}`.then((rows) => rows.map(({ id }) => id)),

  /** For how long nothing has woken or changed the rollout; less than 0 where the clock was set back. */
  async quietMs(rollout: RolloutUuid): Promise<number> {
    const [row] = await sql<{ ms: number }[]>`
      select (extract(epoch from now() - greatest(r.updated_at, r.started_at, w.sent_at)) * 1000)::float8 as ms
      from rollouts r left join rollout_wakes w on w.rollout = r.id where r.id = ${rollout}`;
    return row?.ms ?? 0;
  },

  /** Notes that the rollout was looked at. */
  async tended(rollout: RolloutUuid): Promise<void> {
    await sql`update rollouts set tended_at = now() where id = ${rollout}`;
  },

  /** Begun rollouts that were not looked at for so long: their workflow may be gone. Those that begin nothing only while targets are under way. */
  silent: (olderThanMs: number, limit = 200): Promise<RolloutUuid[]> =>
    sql<{ id: RolloutUuid }[]>`
      select id from rollouts r where state in ${sql(advancedStates)} and started_at is not null
        and (tended_at is null or ${passedSince(sql, 'tended_at', olderThanMs)})
        and (state = 'running' or exists (
          select from rollout_targets t where t.rollout = r.id and t.state in ('admitted', 'soaking', 'parked')))
      order by tended_at nulls first limit ${limit}`.then((rows) => rows.map(({ id }) => id)),
});
