/** Queries of the runbooks table. */
import type { RunbookUuid } from '../model/ids';
import type { RunbookParameter } from '../model/resources/runbook-parameters';
import { type Runbook, runbookTable } from '../model/resources/runbooks';
import { type Db, jsonOf, textArray } from './database';
import { resource } from './resources';

export type HeldRunbook = {
  readonly revision: number;
  /** Null if runs are allowed. */
  readonly withdrawn: string | null;
};

export const runbooks = (sql: Db) => ({
  ...resource<Runbook>(sql, { name: 'runbooks', table: runbookTable }),

  /**
   * Prevents changes, deletion and withdrawal for the rest of the transaction. Undefined if the runbook has changed since it was read. An
   * undefined `updated_at` checks only its existence.
   */
  async hold(uuid: string, updated_at: Date | null | undefined): Promise<HeldRunbook | undefined> {
    // Dates have milliseconds, the column has microseconds.
    const [held] = await sql<{ revision: number }[]>`
        select revision from runbooks where uuid = ${uuid}
          and (${updated_at === undefined} or date_trunc('milliseconds', updated_at) is not distinct from ${updated_at ?? null}::timestamptz)
        for share`;
    if (!held) return undefined;
    // Read after the lock, to see an earlier withdrawal.
    const [found] = await sql<{ withdrawn: string | null }[]>`
        select withdrawn_reason as withdrawn from runbook_revisions where runbook_uuid = ${uuid} and revision = ${held.revision}`;
    return { revision: held.revision, withdrawn: found?.withdrawn ?? null };
  },

  /** Locks nothing, because control workers may not lock runbooks. */
  async unchanged(uuid: RunbookUuid, updated_at: Date | null): Promise<boolean> {
    const rows = await sql`
      select 1 from runbooks
      where uuid = ${uuid} and date_trunc('milliseconds', updated_at) is not distinct from ${updated_at}::timestamptz`;
    return rows.length === 1;
  },

  /** Like `hold`, also if the runbook has changed or is gone. */
  async holdRevision(uuid: string, revision: number): Promise<HeldRunbook | undefined> {
    await sql`select pg_advisory_xact_lock_shared(hashtext('runbook'), hashtext(${uuid}))`; // against a concurrent withdrawal
    const [found] = await sql<HeldRunbook[]>`
        select revision, withdrawn_reason as withdrawn from runbook_revisions where runbook_uuid = ${uuid} and revision = ${revision}`;
    return found;
  },

  async setParameters(uuid: RunbookUuid, parameters: readonly RunbookParameter[]): Promise<Runbook> {
    const [row] = await sql<Runbook[]>`
      update runbooks set parameters = ${jsonOf(sql, parameters)}, updated_at = now() where uuid = ${uuid} returning *`;
    return row!;
  },

  async setTraits(uuid: RunbookUuid, traits: readonly string[]): Promise<void> {
    await sql`update runbooks set traits = ${textArray(sql, traits)}, updated_at = now() where uuid = ${uuid}`;
  },
});
