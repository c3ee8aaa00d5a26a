/** /v1/runbooks: lists of steps under a name, which stand in for the steps of a clean or service request. */
import type { z } from 'zod';
import { raise } from '../../model/errors';
import { asUuid } from '../../model/ids';
import { runbooksSince, runbookTable, runbookTableAt } from '../../model/runbooks';
import { askedList, chosenFields, collection, filterPredicate, listQuery, nextLink, showQuery } from '../lists';
import type { Rooms } from '../rooms';
import { ok, route } from '../route';
import { runbookEditRoutes } from './runbook-edits';
import { runbookCollection, runbookParams, runbookPath, shownRunbook } from './runbook-representation';
import { findVisibleRunbook, visibleRunbooks } from './visible-runbook';

export { findVisibleRunbook } from './visible-runbook';

type Params = z.output<typeof runbookParams>;
type Query = Record<string, unknown>;

const listRunbooks = route<unknown, Query>({
  method: 'GET',
  path: runbookCollection,
  since: runbooksSince,
  rules: ['baremetal:runbook:list_all', 'baremetal:runbook:list'],
  query: listQuery(runbookTable),
  handler: async ({ who, query, version, base }, rooms) => {
    const asked = askedList(runbookTableAt(version), query, version, rooms.settings.maxLimit);
    const visible = visibleRunbooks(rooms.policy(), who, asked.filters.project);
    const { columns, represent } = asked.fields
      ? shownRunbook.chosen(asked.fields, version)
      : shownRunbook[asked.detail ? 'full' : 'list'](version);
    const rows = await rooms.inventory.runbooks.list(
      columns,
      { visible, filter: filterPredicate(runbookTable, asked.filters) },
      { ...asked, after: await afterMarker(rooms, asked, visible) },
    );
    const next = () => nextLink(base, 'runbooks', asked, rows.at(-1)!.uuid!);
    return ok(
      collection(
        runbookTable,
        rows.map((row) => represent(row, { base })),
        next,
        asked.limit,
      ),
    );
  },
});

const afterMarker = async (
  { inventory }: Rooms,
  { marker, sort_key }: ReturnType<typeof askedList>,
  visible: ReturnType<typeof visibleRunbooks>,
) => {
  if (marker === undefined) return undefined;
  const uuid = asUuid(marker);
  const after = uuid && (await inventory.runbooks.marker(uuid, sort_key, visible));
  return after || raise('MarkerNotFound', { marker });
};

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
