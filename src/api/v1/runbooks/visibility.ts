/** Visibility of runbooks: the caller's project's, public ones, or all. */
import type { Caller } from '../../../model/access/callers';
import { type Runbook, runbooksSince, runbookTable, runbookTableAt } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import type { ResourceKind } from '../../resource/kit';
import { type Context, findVisible } from '../../resource/reach';

/** Columns of runbooks and revisions that rules use. */
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

/** The runbook with this name or UUID. Hidden counts as missing. Throws RunbookNotFound, InvalidInput. */
export const findVisibleRunbook = async (
  context: Context,
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<Runbook> => (await findVisible(runbookKind, context, who, ident, options)).row;
