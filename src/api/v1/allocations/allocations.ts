/** /v1/allocations: requests for a node of some kind, which the control worker answers. */
import type { z } from 'zod';
import { always, and, type Predicate } from '../../../model/predicates';
import { allocationsSince, allocationTable } from '../../../model/resources/allocations';
import type { Rooms } from '../../context';
import { type Asking, ok, type Route, route } from '../../http/route';
import {
  answerPage,
  askedList,
  chosenFields,
  filterPredicate,
  type ListAsked,
  listQuery,
  pageAsked,
  showQuery,
} from '../../resource/lists';
import { visibleNode } from '../../resource/visibility';
import { allocationDeleteRoutes } from './deletes';
import { allocationEditRoutes } from './edits';
import { allocationCollection, allocationParams, allocationPath, shownAllocation } from './representation';
import { findVisibleAllocation, visibleAllocations } from './visibility';

type Params = z.output<typeof allocationParams>;
type Query = Record<string, unknown>;

/** The allocation of one node. A hidden node is missing here too. */
const ofNode = async (
  rooms: Rooms,
  asking: Asking<unknown, Query, unknown>,
  node: ListAsked['filters'][string] | undefined,
): Promise<Predicate> =>
  node === undefined
    ? always
    : { is: 'equals', column: 'node_uuid', value: (await visibleNode(rooms, asking, String(node))).uuid };

const listAllocations = route<unknown, Query>({
  method: 'GET',
  path: allocationCollection,
  since: allocationsSince,
  rules: [
    'baremetal:allocation:list_all',
    'baremetal:allocation:list',
    'baremetal:allocation:get',
    'baremetal:node:get',
  ],
  // There is one form of the list only.
  query: listQuery(allocationTable).omit({ detail: true }),
  handler: async (asking, rooms) => {
    const { who, query, version, base } = asking;
    const asked = askedList(allocationTable, query, version, rooms.settings.maxLimit);
    const visible = visibleAllocations(rooms.policy(), who, asked.filters.owner);
    const filter = and(
      filterPredicate(allocationTable, asked.filters),
      await ofNode(rooms, asking, asked.filters.node),
    );
    const projection = asked.fields ? shownAllocation.chosen(asked.fields, version) : shownAllocation.list(version);
    return answerPage(allocationTable, asked, { projection, shown: { base }, path: 'allocations' }, (columns, take) =>
      rooms.inventory.allocations.list(columns, { visible, filter }, pageAsked(asked), take),
    );
  },
});

const showAllocation = route<Params, z.output<typeof showQuery>>({
  method: 'GET',
  path: allocationPath,
  since: allocationsSince,
  rules: ['baremetal:allocation:get'],
  params: allocationParams,
  query: showQuery,
  handler: async ({ who, params, query, version, base }, rooms) => {
    const fields = chosenFields(allocationTable, query.fields, version);
    const allocation = await findVisibleAllocation(rooms, who, params.allocation_ident);
    const { represent } = fields ? shownAllocation.chosen(fields, version) : shownAllocation.full(version);
    return ok(represent(allocation, { base }));
  },
});

export const allocationRoutes: Route[] = [
  listAllocations,
  showAllocation,
  ...allocationEditRoutes,
  ...allocationDeleteRoutes,
];
