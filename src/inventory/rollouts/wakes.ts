/** Wake-ups of rollout workflows, after events and after a quiet time. */
import type { RolloutUuid } from '../../model/ids';
import { type Db, passedSince } from '../database';

export type Wake = { readonly rollout: RolloutUuid; readonly wanted: number };

// Ends of runs or soaks, or admissions, may be pending.
const advancedStates = ['running', 'paused', 'aborted', 'stopped'];
const dueAgainMs = 30_000;

export const rolloutWakes = (sql: Db) => ({
  async want(rollout: RolloutUuid): Promise<void> {
    await sql`select wake_rollout(${rollout})`;
  },

  /** At most one per rollout in `everyMs`. */
  unsent: (everyMs: number, limit = 50): Promise<Wake[]> => sql<Wake[]>`
    select w.rollout, w.wanted from rollout_wakes w join rollouts r on r.id = w.rollout
    where w.wanted > w.sent and (r.started_at is not null or r.start_at is not null)
      and (w.sent_at is null or ${passedSince(sql, 'w.sent_at', everyMs)})
    order by w.sent_at nulls first limit ${limit}`,

  /** The workflow was woken for everything up to `wanted`. */
  async sent({ rollout, wanted }: Wake): Promise<void> {
    await sql`update rollout_wakes set sent = greatest(sent, ${wanted}), sent_at = now() where rollout = ${rollout}`;
  },

  /** Each rollout returns again after a while, because its workflow may be lost. */
  due: (limit = 50): Promise<RolloutUuid[]> =>
    sql<{ id: RolloutUuid }[]>`
      select id from rollouts where state = 'scheduled' and start_at <= now()
        and (advanced_at is null or advanced_at < start_at or ${passedSince(sql, 'advanced_at', dueAgainMs)})
      order by start_at limit ${limit}`.then((rows) => rows.map(({ id }) => id)),

  /** Time since the last wake-up or change. Negative if the clock was set back. */
  async quietMs(rollout: RolloutUuid): Promise<number> {
    const [row] = await sql<{ ms: number }[]>`
      select (extract(epoch from now() - greatest(r.updated_at, r.started_at, w.sent_at)) * 1000)::float8 as ms
      from rollouts r left join rollout_wakes w on w.rollout = r.id where r.id = ${rollout}`;
    return row?.ms ?? 0;
  },

  /** The workflow has worked on the rollout. */
  async advanced(rollout: RolloutUuid): Promise<void> {
    await sql`update rollouts set advanced_at = now() where id = ${rollout}`;
  },

  /** Started rollouts whose workflow was quiet and may be lost. If not running, only those with targets under way. */
  silent: (olderThanMs: number, limit = 200): Promise<RolloutUuid[]> =>
    sql<{ id: RolloutUuid }[]>`
      select id from rollouts r where state in ${sql(advancedStates)} and started_at is not null
        and (advanced_at is null or ${passedSince(sql, 'advanced_at', olderThanMs)})
        and (state = 'running' or exists (
          select from rollout_targets t where t.rollout = r.id and t.state in ('admitted', 'soaking', 'parked')))
      order by advanced_at nulls first limit ${limit}`.then((rows) => rows.map(({ id }) => id)),
});
