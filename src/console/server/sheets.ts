/** Rows of the API as a file to download, read page by page while it is sent. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response as Reply } from 'express';
import { longestApiAnswer, textWithin } from '../../model/bodies';
import { errorSentence } from '../../model/error-texts';
import { ApiRefusal, addressWith, type PageQuery } from './api';
import type { PageContext } from './context';

export const sheetRows = 500;
const pageLimitMs = 30_000;

/** A part of the file, and the marker of the next one. */
type SheetPart = { readonly text: string; readonly next: string | undefined };
export type SheetParts = (marker: string | undefined, isFirst: boolean) => Promise<SheetPart>;

export const markerIn = (next: string | undefined): string | undefined =>
  next === undefined ? undefined : (new URL(next).searchParams.get('marker') ?? undefined);

/** Pages of a list as CSV. Only the first keeps its heading. */
export const csvParts =
  ({ api }: PageContext, path: string, wanted: PageQuery, signal: AbortSignal): SheetParts =>
  async (marker, isFirst) => {
    const address = addressWith(path, wanted, { limit: sheetRows, marker });
    const limited = AbortSignal.any([signal, AbortSignal.timeout(pageLimitMs)]);
    const reply = await api.open(address, { accept: 'text/csv' }, limited);
    const text = await textWithin(reply, longestApiAnswer);
    if (!reply.ok) throw new ApiRefusal(reply.status, errorSentence(text) ?? 'The API refused the rows.');
    const next = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1];
    return { text: isFirst ? text : text.slice(text.indexOf('\n') + 1), next: markerIn(next) };
  };

export const sheetTypes = {
  csv: { media: 'text/csv; charset=utf-8', end: '', cut: 'More rows follow. Choose fewer.\r\n' },
  json: { media: 'application/json', end: '\n]}\n', cut: '\n], "cut": true}\n' },
} as const;

type Sheet = {
  readonly name: string;
  readonly type: keyof typeof sheetTypes;
  readonly parts: SheetParts;
  /** A longer selection is cut, and the end of the file says so. */
  readonly most: number;
};

export const sheetTexts = async function* (first: SheetPart, { parts, type, most }: Sheet): AsyncGenerator<string> {
  let { text, next } = first;
  yield text;
  for (let rows = sheetRows; next !== undefined && rows < most; rows += sheetRows) {
    ({ text, next } = await parts(next, false));
    yield text;
  }
  yield next === undefined ? sheetTypes[type].end : sheetTypes[type].cut;
};

/** A refusal of the first page is shown as a page. */
export const sendSheet = async (response: Reply, sheet: Sheet): Promise<void> => {
  const { name, type, parts } = sheet;
  const first = await parts(undefined, true);
  response.set({
    'content-type': sheetTypes[type].media,
    'content-disposition': `attachment; filename="${name}.${type}"`,
  });
  // A browser shows a file that ends early as failed.
  await pipeline(Readable.from(sheetTexts(first, sheet)), response).catch(() => response.destroy());
};

/** Aborts when the browser leaves. */
export const leavingOf = (response: Reply): AbortSignal => {
  const leaving = new AbortController();
  response.once('close', () => leaving.abort());
  return leaving.signal;
};
