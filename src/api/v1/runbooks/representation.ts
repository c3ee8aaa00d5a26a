/** What every route of runbooks shares: its paths and how a runbook is shown. */
import { z } from 'zod';
import { runbookTable } from '../../../model/resources/runbooks';
import { links, projections } from '../../resource/representation';

export const runbookCollection = '/v1/runbooks';
export const runbookPath = '/v1/runbooks/:runbook_ident';
export const runbookParams = z.object({ runbook_ident: z.string() });

export const shownRunbook = projections(runbookTable, {
  links: (row, { base }) => links(base, `runbooks/${row.uuid}`),
});
