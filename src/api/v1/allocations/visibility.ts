/** Which allocations a caller may see: one by its identifier, and a list's condition. */
import type { Queries } from '../../../inventory';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { asUuid, isLogicalName } from '../../../model/ids';
import type { Predicate } from '../../../model/predicates';
import type { Allocation } from '../../../model/resources/allocations';
import { allocationTarget, type Policy } from '../../../policy';
import { projectsOf, requireList } from '../../resource/visibility';

/** Who may ask for a list. */
const lists = { all: 'baremetal:allocation:list_all', own: 'baremetal:allocation:list' } as const;

type Asked = { policy(): Policy; readonly inventory: Pick<Queries, 'allocations'> };

const see = 'baremetal:allocation:get';
/** Columns behind the target keys of rules about allocations. */
const columns = { 'allocation.owner': 'owner' } as const;

/**
 * The allocation of this name or UUID. One that is hidden from the caller is missing. Throws AllocationNotFound, InvalidInput.
 * @param options.lock keeps the row for the transaction that `inventory` stands for
 */
export const findVisibleAllocation = async (
  rooms: Asked,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<Allocation> => {
  if (asUuid(ident) === undefined && !isLogicalName(ident))
    raise('InvalidInput', { field: 'allocation', reason: 'must be a UUID or a name' });
  const allocation = await rooms.inventory.allocations.find(ident, options);
  if (!allocation || !rooms.policy().allows(see, who, allocationTarget(allocation)))
    return raise('AllocationNotFound', { allocation: ident });
  return allocation;
};

/**
 * The allocations that a list shows: those which the caller would be shown one by one. Throws PolicyDenied, also where a
 * caller asks for another project.
 */
export const visibleAllocations = (policy: Policy, who: Caller, owner: unknown): Predicate => {
  const everybodys = requireList(policy, who, { ...lists, columns });
  if (!everybodys && owner !== undefined && !projectsOf(who).includes(String(owner)))
    raise('PolicyDeniedFor', {
      rule: 'baremetal:allocation:list_all',
      reason: 'Only your own project may be named as owner.',
    });
  return policy.filter(see, who, columns);
};
