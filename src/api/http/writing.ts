/** Puts an answer on the wire: its headers and ours, its body in one write. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { idHeaders } from './request-ids';
import type { Answer } from './route';
import { securityHeaders, varies } from './security-headers';
import { writeStream } from './sse';

type AnswerHeaders = Readonly<Record<string, string>>;

/** Characters; a shorter text goes out in one write with its headers. */
const encodeOnceFrom = 65_536;

// Without a body, and without a length that would announce one.
const bare = [204, 304];

/** @param versions those of the version that was used; none on what the authentication layer refused */
const answerHeaders = (
  response: ServerResponse,
  answer: Pick<Answer, 'headers'>,
  requestId: string,
  versions: AnswerHeaders,
): Record<string, string | number> => {
  const set = response.getHeader('Vary'); // by an earlier middleware
  return {
    ...securityHeaders,
    Vary: set ? `${varies}, ${set}` : varies,
    ...versions,
    ...idHeaders(requestId),
    ...answer.headers,
  };
};

/** Writes an answer that is no stream. */
export const write = (response: ServerResponse, answer: Answer, requestId: string, versions: AnswerHeaders): void => {
  const text = answer.text ?? (answer.body === undefined ? undefined : JSON.stringify(answer.body));
  const headers = answerHeaders(response, answer, requestId, versions);
  if (text === undefined) {
    // 202 may have a body, so without a length the answer would be chunked; 204 must not name one.
    if (!bare.includes(answer.status)) headers['Content-Length'] = 0;
    response.writeHead(answer.status, headers).end();
    return;
  }
  // A long text would be encoded twice, once to be measured and once to be sent.
  const bytes = text.length > encodeOnceFrom ? Buffer.from(text) : text;
  headers['Content-Type'] ??= 'application/json';
  headers['Content-Length'] = Buffer.byteLength(bytes);
  response.writeHead(answer.status, headers).end(bytes);
};

/** Writes an answer that goes on, to its end; answers what ended it early. */
export const stream = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  requestId: string,
  versions: AnswerHeaders,
): Promise<unknown> => {
  const headers = answerHeaders(response, answer, requestId, versions);
  return writeStream(request, response, { status: answer.status, headers, stream: answer.stream! });
};
