/** Queries of the mark that PostgreSQL and Temporal share, and of the recovery if they differ. */
import type { RunUuid } from '../../model/ids';
import type { Cluster, OlderSide, StoreMark, Suspicion } from '../../model/runs/recovery';
import type { Db } from '../database';

export type Recovery = { readonly side: OlderSide; readonly reason: string; readonly since: Date };

const cluster = (sql: Db) => sql`
    select s.system_identifier::text as system_id, c.timeline_id as timeline from pg_control_system() s, pg_control_checkpoint() c`;

/** Detects a database in another cluster, before a control worker compares marks. */
export const recoveries = (sql: Db) => sql`
        select side, reason, since from recovery
        union all
        select 'store', 'the database is in another PostgreSQL cluster than before', now()
        from store_mark m, (${cluster(sql)}) c where m.system_id is distinct from c.system_id and m.system_id is not null`;

export const recovery = (sql: Db) => {
  return {
    /** Nothing may be written to BMCs while there is one. */
    async current(): Promise<Recovery | undefined> {
      const [row] = await sql<Recovery[]>`${recoveries(sql)} limit 1`;
      return row;
    },

    async cluster(): Promise<Cluster> {
      const [row] = await sql<Cluster[]>`${cluster(sql)}`;
      return row!;
    },

    async mark(): Promise<StoreMark> {
      const [row] = await sql<StoreMark[]>`select system_id, timeline, count, mark, seen from store_mark`;
      return row!;
    },

    /** False if a recovery is in force. */
    async enter({ side, reason }: Suspicion): Promise<boolean> {
      const made = await sql`insert into recovery ${sql({ side, reason })} on conflict (single) do nothing returning 1`;
      return made.length === 1;
    },

    /** Accepts PostgreSQL and Temporal as they are; the next comparison begins a new mark. False if no recovery was in force. */
    async leave(): Promise<boolean> {
      // Pending work of a restored database may have begun since. An operator must look first.
      await sql`
        update rollouts set state = 'paused', code = 'restored', reason = 'The database was set back; look at the nodes, then resume.', updated_at = now()
        where state = 'running' and exists (select from recovery where side <> 'engine')`;
      await sql`
        update rollouts set start_at = null, updated_at = now(),
          reason = 'The database was set back, and this may have begun since; look at the nodes, then start it.'
        where state = 'scheduled' and start_at is not null and exists (select from recovery where side <> 'engine')`;
      // Power states may be outdated, too. Power sync would impose them on the machines.
      await sql`
        update nodes set power_state = null
        where power_state is not null and reservation is null and exists (select from recovery where side <> 'engine')`;
      const left = await sql`delete from recovery returning 1`;
      await sql`update store_mark set system_id = null, timeline = null, mark = null, seen = null`;
      return left.length === 1;
    },

    /** Call it before Temporal gets the mark. */
    async advance({ system_id, timeline, count, mark, seen }: StoreMark): Promise<void> {
      await sql`update store_mark set ${sql({ system_id, timeline, count, mark, seen })}`;
    },

    /** Time of the last event. */
    async newest(): Promise<Date | undefined> {
      const [row] = await sql<{ at: Date }[]>`select at from events order by seq desc limit 1`;
      return row?.at;
    },

    /** Commands of these acts may have left without a record in this database. See `doubted` in a run's input. */
    async doubt(run: RunUuid, acts: readonly string[]): Promise<void> {
      await sql`
        update runs set input = jsonb_set(input, '{doubted}', coalesce(input->'doubted', '[]') || ${sql.json([...acts])})
        where id = ${run} and finished_at is null`;
    },

    /** Temporal has this mark. */
    async seen(mark: string): Promise<void> {
      await sql`update store_mark set seen = ${mark} where mark = ${mark}`;
    },
  };
};
