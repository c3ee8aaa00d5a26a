/** A change of a runbook that makes a revision, which no process may delete: counted for the caller's project, with its author. */
import type { Queries } from '../../../inventory';
import { quotaProject } from '../../../model/access/callers';
import { type AuditContext, requesterOf } from '../../audit/record';
import { quotasOf } from '../../context';

/** Belongs into the transaction of the change. Throws QuotaExceeded. */
export const admitRevision = async (
  ctx: Parameters<typeof quotasOf>[0],
  inventory: Pick<Queries, 'quotas' | 'runbookRevisions'>,
  request: Pick<AuditContext, 'who' | 'requestId'>,
): Promise<void> => {
  await inventory.quotas.require('runbook_revisions', quotaProject(request.who), quotasOf(ctx).runbook_revisions);
  await inventory.runbookRevisions.author(requesterOf(request));
};
