/** Queries of the revisions of runbooks: written by a trigger of the table, read and withdrawn here. */
import type { RunbookUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import type { RunbookParameter } from '../model/resources/runbook-parameters';
import type { RunbookStep } from '../model/resources/runbook-steps';
import type { Requester } from '../model/runs/runs';
import { type Db, jsonOf } from './database';
import { conditionOf } from './predicates';

/** One state that a runbook was in, without its steps. */
export type RunbookRevision = {
  readonly runbook_uuid: RunbookUuid;
  readonly revision: number;
  /** SHA-256 of its content, in hexadecimal digits. */
  readonly digest: string;
  readonly name: string;
  readonly owner: string | null;
  readonly public: boolean;
  readonly traits: readonly string[];
  readonly disable_ramdisk: boolean;
  readonly parameters: readonly RunbookParameter[];
  /** Who made it; null where that was not recorded. */
  readonly author: Requester | null;
  readonly created_at: Date;
  readonly withdrawn_at: Date | null;
  readonly withdrawn_by: Requester | null;
  readonly withdrawn_reason: string | null;
};

export const runbookRevisions = (sql: Db) => ({
  /** Whose revision the changes of runbooks in this transaction make. */
  async author(requester: Requester): Promise<void> {
    await sql`select set_config('temper.author', ${JSON.stringify(requester)}, true)`;
  },

  /** Newest first; `before` is the revision that the page follows. @param visible over the columns of revisions */
  list: (
    runbook: RunbookUuid,
    { visible, limit, before }: { readonly visible: Predicate; readonly limit: number; readonly before?: number },
  ): Promise<RunbookRevision[]> => sql<RunbookRevision[]>`
    select * from runbook_revisions
    where runbook_uuid = ${runbook} and ${conditionOf(sql, visible, 'runbook_revisions')} ${before === undefined ? sql`` : sql`and revision < ${before}`}
    order by revision desc limit ${limit}`,

  async find(runbook: RunbookUuid, revision: number): Promise<RunbookRevision | undefined> {
    const [row] = await sql<RunbookRevision[]>`
      select * from runbook_revisions where runbook_uuid = ${runbook} and revision = ${revision}`;
    return row;
  },

  /** The steps of one, in the order in which they stand in the runbook. */
  async steps(runbook: RunbookUuid, revision: number): Promise<RunbookStep[]> {
    const rows = await sql<(RunbookStep & { settings: RunbookStep['temper'] | null })[]>`
      select interface, step, args, "order", settings from runbook_steps
      where runbook_uuid = ${runbook} and revision = ${revision} order by position`;
    return rows.map(({ settings, ...step }) => ({ ...step, ...(settings && { temper: settings }) }));
  },

  /**
   * Nothing is run by it any more. Takes the runbook first, so that no run is accepted by it meanwhile.
   * @returns false where it was withdrawn before
   */
  async withdraw(runbook: RunbookUuid, revision: number, by: Requester, reason: string): Promise<boolean> {
    await sql`select 1 from runbooks where uuid = ${runbook} for update`;
    // Control workers may not lock runbooks, of which a rollout's revision may be gone besides.
    await sql`select pg_advisory_xact_lock(hashtext('runbook'), hashtext(${runbook}))`;
    const rows = await sql`
      update runbook_revisions set withdrawn_at = now(), withdrawn_by = ${jsonOf(sql, by)}, withdrawn_reason = ${reason}
      where runbook_uuid = ${runbook} and revision = ${revision} and withdrawn_at is null returning 1`;
    return rows.length === 1;
  },
});
