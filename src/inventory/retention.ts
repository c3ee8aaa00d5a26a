/** Deletion of old events, then of ended runs without events, in batches. */
import type { RunUuid } from '../model/ids';
import type { Db } from './database';

/** `next` begins the next batch. */
export type Forgotten<Place> = { readonly forgotten: number; readonly next?: Place };
/** `at` is PostgreSQL's text, with microseconds. */
export type RunPlace = { readonly at: string; readonly id: RunUuid };

// Before every run: equal times are read from the highest id.
const firstRun = { at: '-infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** Control workers' role only. Keeps whole months besides the present one: 0 keeps all, otherwise at least two. */
export const retention = (sql: Db) => ({
  /** Checks `most` events, oldest first. */
  async events(months: number, most: number, past = 0): Promise<Forgotten<number>> {
    const [row] = await sql<{ forgotten: number; next: number | null }[]>`
      select forgotten, next from forget_events(${months}, ${past}, ${most})`;
    return { forgotten: row!.forgotten, ...(row!.next !== null && { next: Number(row!.next) }) };
  },

  /** Checks `most` runs, oldest first, with steps, intents and messages. */
  async runs(months: number, most: number, past: { at: string; id: string } = firstRun): Promise<Forgotten<RunPlace>> {
    const [row] = await sql<{ forgotten: number; at: string | null; id: RunUuid | null }[]>`
      select forgotten, next_at::text as at, next_id as id from forget_runs(${months}, ${past.at}::text::timestamptz, ${past.id}, ${most})`;
    const { forgotten, at, id } = row!;
    return { forgotten, ...(at !== null && id !== null && { next: { at, id } }) };
  },
});
