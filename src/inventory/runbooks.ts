/** Queries of the runbooks table. */
import type { RunbookUuid } from '../model/ids';
import { type Runbook, runbookTable } from '../model/resources/runbooks';
import { type Db, textArray } from './database';
import { resource } from './resources';

export const runbooks = (sql: Db) => ({
  ...resource<Runbook>(sql, { name: 'runbooks', table: runbookTable }),

  /**
   * Keeps a runbook from being changed or deleted for the rest of the transaction; false when that has happened since it
   * was read. An `updated_at` of undefined asks only whether it is there.
   */
  async hold(uuid: string, updated_at: Date | null | undefined): Promise<boolean> {
    // Dates travel in milliseconds, the column has microseconds.
    const held = await sql`
        select 1 from runbooks where uuid = ${uuid}
          and (${updated_at === undefined} or date_trunc('milliseconds', updated_at) is not distinct from ${updated_at ?? null}::timestamptz)
        for share`;
    return held.length === 1;
  },

  /** Replaces the trait set. */
  async setTraits(uuid: RunbookUuid, traits: readonly string[]): Promise<void> {
    await sql`update runbooks set traits = ${textArray(sql, traits)}, updated_at = now() where uuid = ${uuid}`;
  },
});
