/** /v1/runbooks: lists of steps under a name, which stand in for the steps of a clean or service request. */
import type { z } from 'zod';
import { runbooksSince, runbookTable, runbookTableAt } from '../../../model/resources/runbooks';
import { ok, route } from '../../http/route';
import {
  answerPage,
  askedList,
  chosenFields,
  filterPredicate,
  listQuery,
  pageAsked,
  showQuery,
} from '../../resource/lists';
import { runbookEditRoutes } from './edits';
import { runbookCollection, runbookParams, runbookPath, shownRunbook } from './representation';
import { findVisibleRunbook, visibleRunbooks } from './visibility';

type Params = z.output<typeof runbookParams>;
type Query = Record<string, unknown>;

const listRunbooks = route<unknown, Query>({
  method: 'GET',
  path: runbookCollection,
  since: runbooksSince,
  rules: ['baremetal:runbook:list_all', 'baremetal:runbook:list', 'baremetal:runbook:get'],
  query: listQuery(runbookTable),
  handler: async ({ who, query, version, base }, rooms) => {
    const asked = askedList(runbookTableAt(version), query, version, rooms.settings.maxLimit);
    const visible = visibleRunbooks(rooms.policy(), who, asked.filters.project);
    const projection = asked.fields
      ? shownRunbook.chosen(asked.fields, version)
      : shownRunbook[asked.detail ? 'full' : 'list'](version);
    const filter = filterPredicate(runbookTable, asked.filters);
    return answerPage(runbookTable, asked, { projection, shown: { base }, path: 'runbooks' }, (columns, take) =>
      rooms.inventory.runbooks.list(columns, { visible, filter }, pageAsked(asked, 'MarkerNotFound'), take),
    );
  },
});

const showRunbook = route<Params, z.output<typeof showQuery>>({
  method: 'GET',
  path: runbookPath,
  since: runbooksSince,
  rules: ['baremetal:runbook:get'],
  params: runbookParams,
  query: showQuery,
  handler: async ({ who, params, query, version, base }, rooms) => {
    const fields = chosenFields(runbookTableAt(version), query.fields, version);
    const runbook = await findVisibleRunbook(rooms, who, params.runbook_ident);
    const { represent } = fields ? shownRunbook.chosen(fields, version) : shownRunbook.full(version);
    return ok(represent(runbook, { base }));
  },
});

export const runbookRoutes = [listRunbooks, showRunbook, ...runbookEditRoutes];
