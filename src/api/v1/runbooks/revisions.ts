/** Runbook changes that create a revision. No process may delete revisions, so each counts for the caller's project. */

import { quotasOf } from '../../../admission/context';
import { type AuditContext, requesterOf } from '../../../admission/requester';
import type { Queries } from '../../../inventory';
import { quotaProject } from '../../../model/access/callers';

/** Call it in the change's transaction. Throws QuotaExceeded. */
export const admitRevision = async (
  ctx: Parameters<typeof quotasOf>[0],
  inventory: Pick<Queries, 'quotas' | 'runbookRevisions'>,
  request: Pick<AuditContext, 'who' | 'requestId'>,
): Promise<void> => {
  await inventory.quotas.require('runbook_revisions', quotaProject(request.who), quotasOf(ctx).runbook_revisions);
  await inventory.runbookRevisions.author(requesterOf(request));
};
