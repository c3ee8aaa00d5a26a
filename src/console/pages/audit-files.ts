/** The selected rows of the audit trail as a file, CSV or JSON. */
import type { Response as Reply } from 'express';
import type { AuditEntry } from '../../wire/policy';
import type { PageQuery } from '../server/api';
import type { PageContext } from '../server/context';
import {
  csvParts,
  leavingOf,
  markerIn,
  type SheetParts,
  sendSheet,
  sheetRows,
  type sheetTypes,
} from '../server/sheets';
import { auditPath, selectionOf } from './audit';

/** A longer selection is cut: choose fewer days. */
const mostFileRows = 20_000;

const jsonParts =
  ({ api }: PageContext, wanted: PageQuery): SheetParts =>
  async (marker, isFirst) => {
    const page = await api.get<{ audit: readonly AuditEntry[]; next?: string }>(auditPath, {
      ...wanted,
      limit: sheetRows,
      marker,
    });
    const rows = page.audit.map((row) => JSON.stringify(row)).join(',\n');
    const text = `${isFirst ? '{"audit": [\n' : rows && ',\n'}${rows}`;
    return { text, next: markerIn(page.next) };
  };

export const auditFile =
  (type: keyof typeof sheetTypes) =>
  async (context: PageContext, _request: unknown, response: Reply): Promise<void> => {
    const wanted = selectionOf(context.query);
    const signal = leavingOf(response);
    const parts = type === 'csv' ? csvParts(context, auditPath, wanted, signal) : jsonParts(context, wanted);
    await sendSheet(response, { name: 'audit', type, parts, most: mostFileRows });
  };
