/** The kind of runbooks, and the columns that its rules use. */
import { type Runbook, runbooksSince, runbookTable, runbookTableAt } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import type { ResourceKind } from '../../resource/kit';

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
