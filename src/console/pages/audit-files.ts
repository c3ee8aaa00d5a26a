/** The selected rows of the audit trail as a file, CSV or JSON, read page by page. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response as Reply } from 'express';
import { longestApiAnswer, textWithin } from '../../model/bodies';
import { errorSentence } from '../../model/error-texts';
import type { AuditEntry } from '../../wire/policy';
import { ApiRefusal, addressWith, type PageQuery } from '../server/api';
import type { PageContext } from '../server/context';
import { auditPath, selectionOf } from './audit';

const rowsOfPage = 500;
const pageLimitMs = 30_000;
/** A longer selection is cut: choose fewer days. */
export const mostFileRows = 20_000;

/** A part of the file, and the marker of the next one. */
type FilePart = { readonly text: string; readonly next: string | undefined };
type FileParts = (marker: string | undefined, isFirst: boolean) => Promise<FilePart>;

const markerIn = (next: string | undefined): string | undefined =>
  next === undefined ? undefined : (new URL(next).searchParams.get('marker') ?? undefined);

const csvParts =
  ({ api }: PageContext, wanted: PageQuery, signal: AbortSignal): FileParts =>
  async (marker, isFirst) => {
    const address = addressWith(auditPath, wanted, { limit: rowsOfPage, marker });
    const limited = AbortSignal.any([signal, AbortSignal.timeout(pageLimitMs)]);
    const reply = await api.open(address, { accept: 'text/csv' }, limited);
    const text = await textWithin(reply, longestApiAnswer);
    if (!reply.ok) throw new ApiRefusal(reply.status, errorSentence(text) ?? 'The API refused the rows.');
    const next = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1];
    return { text: isFirst ? text : text.slice(text.indexOf('\n') + 1), next: markerIn(next) };
  };

const jsonParts =
  ({ api }: PageContext, wanted: PageQuery): FileParts =>
  async (marker, isFirst) => {
    const page = await api.get<{ audit: readonly AuditEntry[]; next?: string }>(auditPath, {
      ...wanted,
      limit: rowsOfPage,
      marker,
    });
    const rows = page.audit.map((row) => JSON.stringify(row)).join(',\n');
    const text = `${isFirst ? '{"audit": [\n' : rows && ',\n'}${rows}`;
    return { text, next: markerIn(page.next) };
  };

const restOf = async function* (first: FilePart, parts: FileParts, end: string): AsyncGenerator<string> {
  let { text, next } = first;
  yield text;
  for (let rows = rowsOfPage; next !== undefined && rows < mostFileRows; rows += rowsOfPage) {
    ({ text, next } = await parts(next, false));
    yield text;
  }
  yield end;
};

const fileTypes = {
  csv: { media: 'text/csv; charset=utf-8', end: '' },
  json: { media: 'application/json', end: '\n]}\n' },
} as const;

/** A refusal of the first page is shown as a page. */
export const auditFile =
  (type: keyof typeof fileTypes) =>
  async (context: PageContext, _request: unknown, response: Reply): Promise<void> => {
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    const wanted = selectionOf(context.query);
    const parts = type === 'csv' ? csvParts(context, wanted, leaving.signal) : jsonParts(context, wanted);
    const first = await parts(undefined, true);
    const { media, end } = fileTypes[type];
    response.set({ 'content-type': media, 'content-disposition': `attachment; filename="audit.${type}"` });
    // A browser shows a file that ends early as failed.
    await pipeline(Readable.from(restOf(first, parts, end)), response).catch(() => response.destroy());
  };
