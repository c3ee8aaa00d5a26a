/** Writes answers: headers, and the body in a single write. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { streamHeaders, writeStream } from '../streams/sse';
import { idNames } from './request-ids';
import type { Answer } from './route';

type AnswerHeaders = Readonly<Record<string, string>>;

/** On every answer. HTML pages of the API replace the content policy. */
const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

/** Request headers that select the answer, for caches. */
const varies = 'X-Auth-Token, Authorization, X-Temper-Scope, X-OpenStack-Ironic-API-Version, OpenStack-API-Version';

/** Characters; shorter texts are written together with the headers. */
const encodeOnceFrom = 65_536;

// Statuses without body and Content-Length.
const bare = [204, 304];

type Usual = { readonly names: Readonly<Record<string, string>>; readonly list: readonly string[] };

// Per version, as the flat list that is fastest in Node.
const usual = new WeakMap<AnswerHeaders, Usual>();

const usualFor = (versions: AnswerHeaders): Usual => {
  const known = usual.get(versions);
  if (known) return known;
  const names = {
    ...securityHeaders,
    Vary: varies,
    ...versions,
    ...Object.fromEntries(idNames.map((name) => [name, ''])),
  };
  const made = { names, list: Object.entries(names).flat() };
  usual.set(versions, made);
  return made;
};

/**
 * Names and values alternate.
 * @param versions of the negotiated version; none on refusals of the authentication layer
 * @param own the answer's headers, which replace common ones
 */
const answerHeaders = (
  response: ServerResponse,
  requestId: string,
  versions: AnswerHeaders,
  own: AnswerHeaders,
): string[] => {
  const { names, list } = usualFor(versions);
  const headers = list.slice();
  const put = (name: string, value: string): void => {
    if (Object.hasOwn(names, name)) headers[headers.indexOf(name) + 1] = value;
    else headers.push(name, value);
  };
  for (const name of idNames) put(name, requestId);
  for (const name of Object.keys(own)) put(name, own[name]!);
  const set = response.getHeader('Vary'); // by an earlier middleware
  if (set) put('Vary', `${varies}, ${set}`);
  return headers;
};

/** Writes headers and pieces together. */
const writePieces = (response: ServerResponse, pieces: readonly Buffer[]): void => {
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.uncork();
  response.end();
};

const lengthOf = (text: string | readonly Buffer[]): number =>
  typeof text === 'string' ? Buffer.byteLength(text) : text.reduce((sum, piece) => sum + piece.length, 0);

/** For answers other than streams. */
export const write = (response: ServerResponse, answer: Answer, requestId: string, versions: AnswerHeaders): void => {
  const text = answer.bytes ?? answer.text ?? (answer.body === undefined ? undefined : JSON.stringify(answer.body));
  const own = answer.headers ?? {};
  const headers = answerHeaders(response, requestId, versions, own);
  if (text === undefined) {
    // Without a length, a 202 would be chunked. A 204 must have none.
    if (!bare.includes(answer.status)) headers.push('Content-Length', '0');
    response.writeHead(answer.status, headers).end();
    return;
  }
  if (own['Content-Type'] === undefined) headers.push('Content-Type', 'application/json');
  const length = lengthOf(text);
  headers.push('Content-Length', String(length));
  response.writeHead(answer.status, headers);
  // ASCII text is copied, not encoded. Long non-ASCII text would be encoded twice without a Buffer.
  if (typeof text !== 'string') writePieces(response, text);
  else if (length === text.length) response.end(text, 'latin1');
  else response.end(text.length > encodeOnceFrom ? Buffer.from(text) : text);
};

/** @returns the error that ended the stream early */
export const stream = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  requestId: string,
  versions: AnswerHeaders,
): Promise<unknown> => {
  const headers = answerHeaders(response, requestId, versions, { ...answer.headers, ...streamHeaders });
  return writeStream(request, response, { status: answer.status, headers, stream: answer.stream! });
};
