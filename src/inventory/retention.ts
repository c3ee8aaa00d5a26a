/** What is old goes in batches: events, and then the ended runs that no event names any longer. */
import type { RunUuid } from '../model/ids';
import type { Db } from './database';

/** Where the next batch begins; `next` is undefined when no older rows follow. */
export type Forgotten<Place> = { readonly forgotten: number; readonly next?: Place };
/** A run's place in the order in which runs were accepted; `at` as PostgreSQL writes it, to the microsecond. */
export type RunPlace = { readonly at: string; readonly id: RunUuid };

// Before every run: ids of one moment are read from the highest.
const firstRun = { at: '-infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** For the role of control workers. Whole months beside the present one are kept: 0 for all, else never fewer than two. */
export const retention = (sql: Db) => ({
  /** Looks at the next `most` events, the oldest first. */
  async events(months: number, most: number, past = 0): Promise<Forgotten<number>> {
    const [row] = await sql<{ forgotten: number; next: number | null }[]>`
      select forgotten, next from forget_events(${months}, ${past}, ${most})`;
    return { forgotten: row!.forgotten, ...(row!.next !== null && { next: Number(row!.next) }) };
  },

  /** Looks at the next `most` runs, the oldest first; their steps, intents and messages go with them. */
  async runs(months: number, most: number, past: { at: string; id: string } = firstRun): Promise<Forgotten<RunPlace>> {
    const [row] = await sql<{ forgotten: number; at: string | null; id: RunUuid | null }[]>`
      select forgotten, next_at::text as at, next_id as id from forget_runs(${months}, ${past.at}::text::timestamptz, ${past.id}, ${most})`;
    const { forgotten, at, id } = row!;
    return { forgotten, ...(at !== null && id !== null && { next: { at, id } }) };
  },
});
