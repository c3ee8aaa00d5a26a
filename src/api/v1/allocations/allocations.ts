/** /v1/allocations: requests for a node, which the control worker fulfils. */
import { visibleNode } from '../../../admission/visibility';
import { always } from '../../../model/predicates';
import { type Allocation, allocationUpdateSince } from '../../../model/resources/allocations';
import type { Resource } from '../../resource/kit';
import { editRoutes } from '../../resource/kit-edits';
import { shownRoutes } from '../../resource/kit-lists';
import type { Route } from '../../server/route';
import { createAllocation } from './creates';
import { deleteAllocation } from './deletes';
import { allocationKind } from './visibility';

/** Create and delete also write a node in their transaction, so they have separate routes. */
const allocation: Resource<Allocation> = {
  ...allocationKind,
  acts: ['update'],
  updateSince: allocationUpdateSince,
  tooOld: 405,
  listRules: [
    'baremetal:allocation:list_all',
    'baremetal:allocation:list',
    'baremetal:allocation:get',
    'baremetal:node:get',
  ],
  // The list has one form only.
  detailSince: 'never',
  /** The allocation of one node. A hidden node counts as missing here too. */
  wanted: async (ctx, request, { node }) =>
    node === undefined
      ? always
      : { is: 'equals', column: 'node_uuid', value: (await visibleNode(ctx, request, String(node))).uuid },
  recorded: ({ owner }, { values }) => {
    const named = { changed: Object.keys(values), ...values };
    return { project: owner, values: named, facts: named };
  },
};

export const allocationRoutes: Route[] = [
  ...shownRoutes(allocation),
  createAllocation,
  ...editRoutes(allocation),
  deleteAllocation,
];
