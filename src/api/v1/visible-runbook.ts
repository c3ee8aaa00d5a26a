/** Which runbooks a caller may see: one by its identifier, and a list's condition. */
import type { Queries } from '../../inventory';
import type { Caller } from '../../model/callers';
import { raise } from '../../model/errors';
import { asUuid, isLogicalName } from '../../model/ids';
import { always, and, never, or, type Predicate } from '../../model/predicates';
import type { Runbook } from '../../model/runbooks';
import { type Policy, runbookTarget } from '../../policy';
import { projectsOf } from '../visibility';

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
 * The runbooks that a list shows: all, or those of the caller's project, the public ones, and what it may see of projects in
 * which it is admin too. Throws PolicyDenied, also where a caller asks for another project.
 */
export const visibleRunbooks = (policy: Policy, who: Caller, project: unknown): Predicate => {
  if (policy.allows('baremetal:runbook:list_all', who)) return always;
  policy.require('baremetal:runbook:list', who);
  if (who.project_id === null) return raise('PolicyDenied', { rule: 'baremetal:runbook:list_all' });
  const [own, ...others] = projectsOf(who);
  if (project !== undefined && project !== own && !others.includes(String(project)))
    raise('PolicyDeniedFor', {
      rule: 'baremetal:runbook:list_all',
      reason: 'Only your own project may be named as project.',
    });
  return or(
    { is: 'equals', column: 'owner', value: who.project_id },
    { is: 'equals', column: 'public', value: true },
    supported(policy, who, others),
  );
};

const supported = (policy: Policy, who: Caller, values: readonly string[]): Predicate =>
  values.length === 0
    ? never
    : and(
        { is: 'among', column: 'owner', values },
        policy.filter('baremetal:runbook:get', who, { 'runbook.owner': 'owner', 'runbook.public': 'public' }),
      );
