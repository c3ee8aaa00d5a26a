/** Which runbooks a caller may see: those of its project, those that are public, or all. */
import type { Caller } from '../../../model/access/callers';
import { type Runbook, runbooksSince, runbookTable, runbookTableAt } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import type { ResourceKind } from '../../resource/kit';
import { type Context, findVisible } from '../../resource/reach';

/** Columns of runbooks, and of their revisions, that rules decide by. */
export const runbookColumns = { 'runbook.owner': 'owner', 'runbook.public': 'public' } as const;

export const runbookKind: ResourceKind<Runbook> = {
  table: runbookTable,
  tableAt: runbookTableAt,
  what: 'runbook',
  path: 'runbooks',
  param: 'runbook_ident',
  since: runbooksSince,
  rules: 'baremetal:runbook',
  missing: 'RunbookNotFound',
  named: {},
  owned: {
    target: runbookTarget,
    columns: runbookColumns,
    filter: 'project',
  },
  store: (inventory) => inventory.runbooks,
};

/** The runbook of this name or UUID. One that is hidden from the caller is missing. Throws RunbookNotFound, InvalidInput. */
export const findVisibleRunbook = async (
  context: Context,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<Runbook> => (await findVisible(runbookKind, context, who, ident, options)).row;
