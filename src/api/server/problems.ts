/** Refusals as problem details (RFC 9457), below `/temper/v1` for clients that prefer them. Ironic's paths have Ironic's form only. */
import { STATUS_CODES } from 'node:http';
import type { Request } from 'express';
import type { TemperError } from '../../model/errors';
import { type ErrorReply, replyFor } from './errors';

export const problemType = 'application/problem+json';

export const hasProblems = (path: string): boolean => path.startsWith('/temper/');

/** Without a preference, as with `*` for any type, a client gets Ironic's form. */
const prefersProblems = (request: Request): boolean =>
  hasProblems(request.path) && request.accepts('application/json', problemType) === problemType;

export const refusalFor = (request: Request, requestId: string, error: TemperError): ErrorReply => {
  const reply = replyFor(error);
  if (!prefersProblems(request)) return reply;
  const { code, status, message } = error;
  const problem = {
    type: `urn:temper:error:${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    code,
    request_id: requestId,
  };
  return { ...reply, text: JSON.stringify(problem), headers: { ...reply.headers, 'Content-Type': problemType } };
};
