/** Queries of quotas: the present use of a project. */

import { type Quota, quotaFacts } from '../model/access/quotas';
import { raise } from '../model/errors';
import type { Db } from './database';

/** Processes count their own event streams. */
export type StoredQuota = Exclude<Quota, 'streams'>;

export const quotas = (sql: Db) => {
  const rowsOf = {
    runs: (project: string) => sql`runs where finished_at is null and requester->>'project_id' = ${project}`,
    allocations: (project: string) => sql`allocations where owner = ${project}`,
    runbooks: (project: string) => sql`runbooks where owner = ${project}`,
    rollouts: (project: string) =>
      sql`rollouts where project = ${project} and state in ('scheduled', 'running', 'paused')`,
    rollout_plans: (project: string) =>
      sql`rollouts where project = ${project} and state in ('planned', 'awaiting_approval')`,
  } as const satisfies Record<Exclude<StoredQuota, 'runbook_revisions'>, unknown>;
  /** Each revision counts at least 4 KiB, which bounds the rows to sum. */
  const revisionsFull = (project: string, limit: number) => sql<{ full: boolean }[]>`
    select coalesce(sum(greatest(bytes, 4096)), 0) >= ${limit}::bigint * 1048576 as full
    from runbook_revisions where owner = ${project}`;
  return {
    /**
     * Throws QuotaExceeded. Concurrent requests may exceed the limit: it protects shared resources and is not exact.
     * @param project null for callers of the system, who have no quota
     * @param limit 0 for no limit
     */
    async require(quota: StoredQuota, project: string | null, limit: number): Promise<void> {
      if (project === null || limit === 0) return;
      const [row] =
        quota === 'runbook_revisions'
          ? await revisionsFull(project, limit)
          : await sql<{ full: boolean }[]>`
        select count(*) >= ${limit} as full from (select 1 from ${rowsOf[quota](project)} limit ${limit}) counted`;
      if (row?.full) raise('QuotaExceeded', quotaFacts(quota, project, limit));
    },
  };
};
