/** The HTTP side of an exchange: bodies in, answers out. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse } from './answers';
import { withBase } from './base';
import type { Answer, Bmc, Doc } from './types';

const bodyLimit = 1_000_000;

/** A request that has found its BMC. `base` is the prefix that the client used, `path` what follows it. */
export type Request = {
  bmc: Bmc;
  base: string;
  method: string;
  path: string;
  query: string;
  req: IncomingMessage;
  res: ServerResponse;
};

/** The whole body as text; refuses one that is too large. */
export const readBody = async (req: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyLimit) refuse(413, 'PayloadTooLarge', `The request body is larger than ${bodyLimit} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** The object in a body; an empty body counts as an empty object. */
export const parseBody = (text: string): Doc => {
  if (text.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Doc;
  } catch {
    // Answered below, like every other body that is no object.
  }
  return refuse(
    400,
    'MalformedJSON',
    'The request body submitted was malformed JSON and could not be parsed by the receiving service.',
  );
};

/** Sends an answer; `cut` sends half of it as if it were all. */
export const send = ({ res, base, method }: Request, answer: Answer, cut: boolean): void => {
  const text = answer.html ?? (answer.body === undefined ? '' : JSON.stringify(withBase(answer.body, base)));
  const shown = cut ? text.slice(0, Math.floor(text.length / 2)) : text;
  const headers: Record<string, string> = { 'OData-Version': '4.0', 'Cache-Control': 'no-cache', ...answer.headers };
  if (headers.Location) headers.Location = withBase(headers.Location, base) as string;
  if (text !== '') headers['Content-Type'] ??= 'application/json';
  if (answer.status !== 204) headers['Content-Length'] = String(Buffer.byteLength(shown));
  res.writeHead(answer.status, headers);
  res.end(method === 'HEAD' ? '' : shown);
};
