/** Queries of runbook revisions. A trigger writes them. */
import type { RunbookUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import type { RunbookParameter } from '../model/resources/runbook-parameters';
import type { RunbookStep } from '../model/resources/runbook-steps';
import type { Requester } from '../model/runs/runs';
import { type Db, jsonOf } from './database';
import { conditionOf } from './predicates';

/** Without its steps. */
export type RunbookRevision = {
  readonly runbook_uuid: RunbookUuid;
  readonly revision: number;
  /** Hexadecimal SHA-256 of its content. */
  readonly digest: string;
  readonly name: string;
  readonly owner: string | null;
  readonly public: boolean;
  readonly traits: readonly string[];
  readonly disable_ramdisk: boolean;
  readonly parameters: readonly RunbookParameter[];
  /** Null if not recorded. */
  readonly author: Requester | null;
  readonly created_at: Date;
  readonly withdrawn_at: Date | null;
  readonly withdrawn_by: Requester | null;
  readonly withdrawn_reason: string | null;
};

export const runbookRevisions = (sql: Db) => ({
  /** Author of the revisions that this transaction makes. */
  async author(requester: Requester): Promise<void> {
    await sql`select set_config('temper.author', ${JSON.stringify(requester)}, true)`;
  },

  /** Newest first. @param visible over columns of revisions */
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

  /** In the order of the runbook. */
  async steps(runbook: RunbookUuid, revision: number): Promise<RunbookStep[]> {
    const rows = await sql<(RunbookStep & { settings: RunbookStep['temper'] | null })[]>`
      select interface, step, args, "order", settings from runbook_steps
      where runbook_uuid = ${runbook} and revision = ${revision} order by position`;
    return rows.map(({ settings, ...step }) => ({ ...step, ...(settings && { temper: settings }) }));
  },

  /**
   * Forbids runs by this revision. Locks the runbook first, so that no run is accepted meanwhile.
   * @returns false if it was withdrawn before
   */
  async withdraw(runbook: RunbookUuid, revision: number, by: Requester, reason: string): Promise<boolean> {
    await sql`select 1 from runbooks where uuid = ${runbook} for update`;
    // Control workers may not lock runbooks, and a rollout's runbook may be gone.
    await sql`select pg_advisory_xact_lock(hashtext('runbook'), hashtext(${runbook}))`;
    const rows = await sql`
      update runbook_revisions set withdrawn_at = now(), withdrawn_by = ${jsonOf(sql, by)}, withdrawn_reason = ${reason}
      where runbook_uuid = ${runbook} and revision = ${revision} and withdrawn_at is null returning 1`;
    return rows.length === 1;
  },
});
