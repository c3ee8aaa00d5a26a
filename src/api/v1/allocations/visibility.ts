/** Visibility of allocations: the caller's project's, or all. */
import type { Caller } from '../../../model/access/callers';
import { type Allocation, allocationsSince, allocationTable } from '../../../model/resources/allocations';
import { allocationTarget } from '../../../policy';
import type { Shows } from '../../resource/kit';
import { type Context, findVisible } from '../../resource/reach';
import { linksTo, projections } from '../../resource/representation';

export const allocationKind = {
  table: allocationTable,
  what: 'allocation',
  path: 'allocations',
  param: 'allocation_ident',
  since: allocationsSince,
  rules: 'baremetal:allocation',
  missing: 'AllocationNotFound',
  named: {},
  owned: { target: allocationTarget, columns: { 'allocation.owner': 'owner' }, filter: 'owner' },
  store: (inventory) => inventory.allocations,
  shown: projections(allocationTable, { links: linksTo('allocations') }),
} as const satisfies Shows<Allocation>;

/** The allocation with this name or UUID. Hidden counts as missing. Throws AllocationNotFound, InvalidInput. */
export const findVisibleAllocation = async (
  context: Context,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<Allocation> => (await findVisible<Allocation>(allocationKind, context, who, ident, options)).row;
