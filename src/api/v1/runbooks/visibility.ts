/** Which runbooks a caller may see: one by its identifier, and a list's condition. */
import type { Queries } from '../../../inventory';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { asUuid, isLogicalName } from '../../../model/ids';
import { or, type Predicate } from '../../../model/predicates';
import type { Runbook } from '../../../model/resources/runbooks';
import { type Policy, runbookTarget } from '../../../policy';
import { projectsOf, requireList } from '../../resource/visibility';

const see = 'baremetal:runbook:get';
/** Columns behind the target keys of rules about runbooks. */
const columns = { 'runbook.owner': 'owner', 'runbook.public': 'public' } as const;

/** Who may ask for a list. */
const lists = { all: 'baremetal:runbook:list_all', own: 'baremetal:runbook:list' } as const;

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
  runbook.public || policy.allows(see, who, runbookTarget(runbook));

/**
 * The runbooks that a list shows: those which the caller would be shown one by one. Throws PolicyDenied, also where a caller
 * asks for another project.
 */
export const visibleRunbooks = (policy: Policy, who: Caller, project: unknown): Predicate => {
  const everybodys = requireList(policy, who, { ...lists, columns });
  if (!everybodys && project !== undefined && !projectsOf(who).includes(String(project)))
    raise('PolicyDeniedFor', {
      rule: 'baremetal:runbook:list_all',
      reason: 'Only your own project may be named as project.',
    });
  return or({ is: 'equals', column: 'public', value: true }, policy.filter(see, who, columns));
};
