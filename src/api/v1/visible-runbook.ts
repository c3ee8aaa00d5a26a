/** Which runbooks a caller may see: one by its identifier, and a list's condition. */
import type { Queries } from '../../inventory';
import type { Caller } from '../../model/callers';
import { raise } from '../../model/errors';
import { asUuid, isLogicalName } from '../../model/ids';
import { always, or, type Predicate } from '../../model/predicates';
import type { Runbook } from '../../model/runbooks';
import { type Policy, runbookTarget } from '../../policy';

type Asked = { policy(): Policy; readonly inventory: Pick<Queries, 'runbooks'> };

/**
 * The runbook of this name or UUID. A runbook that is hidden from the caller is missing: neither public nor admitted by
 * baremetal:runbook:get. Throws RunbookNotFound, InvalidInput.
 * @param options.lock keeps the row for the transaction that `inventory` stands for
 */
export const findVisibleRunbook = async (
  rooms: Asked,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<Runbook> => {
  if (asUuid(ident) === undefined && !isLogicalName(ident))
    raise('InvalidInput', { field: 'runbook', reason: 'must be a UUID or a name' });
  const runbook = await rooms.inventory.runbooks.find(ident, options);
  if (!runbook || !mayShow(rooms.policy(), who, runbook)) return raise('RunbookNotFound', { runbook: ident });
  return runbook;
};

const mayShow = (policy: Policy, who: Caller, runbook: Runbook): boolean =>
  runbook.public || policy.allows('baremetal:runbook:get', who, runbookTarget(runbook));

/**
 * The runbooks that a list shows: all, or those of the caller's project and the public ones. Throws PolicyDenied, and
 * Forbidden where a caller asks for another project than their own.
 */
export const visibleRunbooks = (policy: Policy, who: Caller, project: unknown): Predicate => {
  if (policy.allows('baremetal:runbook:list_all', who)) return always;
  policy.require('baremetal:runbook:list', who);
  if (who.project_id === null) return raise('PolicyDenied', { rule: 'baremetal:runbook:list_all' });
  if (project !== undefined && project !== who.project_id)
    raise('Forbidden', { reason: 'Only your own project may be named as project.' });
  return or({ is: 'equals', column: 'owner', value: who.project_id }, { is: 'equals', column: 'public', value: true });
};
