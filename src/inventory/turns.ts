/** Queries of a run's turn: where only so many may work at once, they go in the order of their acceptance. */
import type { RunUuid } from '../model/ids';
import type { Db } from './database';

export const turns = (sql: Db) => ({
  /**
   * Whether fewer than `max` older runs of the class are at work. Those that wait for a person do no work: they are held,
   * parked, paused or frozen, for days perhaps.
   */
  async come(run: RunUuid, { class: of, max }: { class: string; max: number }): Promise<boolean> {
    const [row] = await sql<{ ahead: number }[]>`
      select count(*)::int as ahead from (
        select 1 from runs older, runs mine
        where mine.id = ${run} and older.limit_class = ${of} and older.finished_at is null
          and (older.created_at, older.id) < (mine.created_at, mine.id)
          and older.state not in ('parked', 'paused')
          and older.waiting_for is distinct from 'unhold' and older.waits_on is distinct from 'freeze'
        limit ${max}) ahead`;
    return (row?.ahead ?? 0) < max;
  },
});
