/** Translates thrown errors into answers. */

import type { z } from 'zod';
import { came } from '../../admission/schemas';
import { isContended, isStoreAway } from '../../inventory/database';
import { type ErrorCode, isTemperError, TemperError } from '../../model/errors';
import { issueText, keysText, likeliest } from '../body/schema-texts';

export type ErrorReply = {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** False for refusals of the authentication layer. */
  readonly versioned: boolean;
};

type Form = 'fault' | 'titled' | 'flat' | 'auth';

// openstack/ironic:ironic/api/middleware/parsable_error.py, json_depth.py: routing errors carry a title, body limits are bare.
const forms: Partial<Record<ErrorCode, Form>> = {
  PathNotFound: 'titled',
  MethodNotAllowed: 'titled',
  UnsupportedVersion: 'titled',
  BodyTooDeep: 'flat',
  BodyTooLarge: 'flat',
  BodyTooManyValues: 'flat',
  Unauthenticated: 'auth',
};

const titles: Readonly<Record<number, string>> = {
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
};

const faultcode = (status: number): string => (status >= 400 && status < 500 ? 'Client' : 'Server');

const faultBody = (status: number, faultstring: string) => ({ faultcode: faultcode(status), faultstring });

const wrapped = (inner: unknown): string => JSON.stringify({ error_message: JSON.stringify(inner) });

const writers: Record<Form, (error: TemperError) => string> = {
  fault: ({ status, message }) => wrapped({ ...faultBody(status, message), debuginfo: null }),
  titled: ({ status, message }) => wrapped({ code: status, title: titles[status] ?? 'Error', description: message }),
  flat: ({ status, message }) => JSON.stringify(faultBody(status, message)),
  auth: (error) =>
    JSON.stringify({
      error: isBasic(error)
        ? { message: error.message, code: 401 }
        : { code: 401, title: 'Unauthorized', message: error.message },
    }),
};

const challengeOf = (error: TemperError): string =>
  typeof error.facts.challenge === 'string' ? error.facts.challenge : '';
const isBasic = (error: TemperError): boolean => challengeOf(error).startsWith('Basic');

// Facts that an answer carries as a header.
const headerFacts = [
  { code: 'Unauthenticated', fact: 'challenge', header: 'WWW-Authenticate' },
  { code: 'MethodNotAllowed', fact: 'allow', header: 'Allow' },
  { code: 'IdempotencyUnderWay', fact: 'seconds', header: 'Retry-After' },
  { code: 'StoreContended', fact: 'seconds', header: 'Retry-After' },
  { code: 'TooManyKeys', fact: 'seconds', header: 'Retry-After' },
  { code: 'TooManyBulkChanges', fact: 'seconds', header: 'Retry-After' },
  { code: 'TooManyRequests', fact: 'seconds', header: 'Retry-After' },
] as const satisfies readonly { code: ErrorCode; fact: string; header: string }[];

const headerOf = (row: (typeof headerFacts)[number], { code, facts }: TemperError): [string, string][] => {
  const value = facts[row.fact];
  return code === row.code && value !== undefined ? [[row.header, String(value)]] : [];
};

export const replyFor = (error: TemperError): ErrorReply => {
  const form = forms[error.code] ?? 'fault';
  return {
    status: error.status,
    text: writers[form](error),
    headers: Object.fromEntries(headerFacts.flatMap((row) => headerOf(row, error))),
    versioned: form !== 'auth',
  };
};

/** Unknown errors become `Unexpected`, which reveals only the request's id. */
export const asTemperError = (thrown: unknown, requestId: string): TemperError => {
  if (isTemperError(thrown)) return thrown;
  if (isStoreAway(thrown)) return new TemperError('StoreUnavailable', {}, { cause: thrown });
  if (isContended(thrown)) return new TemperError('StoreContended', { seconds: 1 }, { cause: thrown });
  return new TemperError('Unexpected', { request_id: requestId }, { cause: thrown });
};

// Errors of body reading, by `type`; github.com/expressjs/body-parser README, "Errors".
type BodyFault = Partial<Error> & { readonly type?: string; readonly limit?: number; readonly status?: number };

type BodyRefusal = { readonly code: ErrorCode; readonly reason: string };

const bodyFaults: Readonly<Record<string, BodyRefusal>> = {
  'entity.parse.failed': {
    code: 'MalformedBody',
    reason: 'look for a missing or extra quote, comma, brace or bracket',
  },
  'charset.unsupported': {
    code: 'UnreadableBody',
    reason: 'its Content-Type names a charset that is not supported; send UTF-8',
  },
  'encoding.unsupported': {
    code: 'UnreadableBody',
    reason: 'its Content-Encoding is not supported; send it without one, or with gzip, deflate or br',
  },
  'request.aborted': { code: 'UnreadableBody', reason: 'the connection ended before all of it had come' },
  'request.size.invalid': {
    code: 'UnreadableBody',
    reason: 'its length is not the one that Content-Length names',
  },
};

const undecodedBody: BodyRefusal = {
  code: 'UnreadableBody',
  reason: 'it is not encoded as its Content-Encoding says',
};

export const bodyError = (thrown: BodyFault): TemperError => {
  if (thrown.type === 'entity.too.large') return new TemperError('BodyTooLarge', { limit: thrown.limit });
  // The parser's text quotes the body, which may hold a secret.
  const { code, reason } = bodyFaults[thrown.type ?? ''] ?? undecodedBody;
  return new TemperError(code, { reason });
};

const quoted = ({ path }: z.core.$ZodIssue, given: Readonly<Record<string, unknown>> | undefined): string => {
  const value = path.length === 1 ? given?.[String(path[0])] : undefined;
  return value === undefined ? '' : `; ${came(value)} came`;
};

/** Items of a list body are patch operations, named by number. */
const fieldAt = ([first, ...rest]: readonly PropertyKey[], where: string): string => {
  if (first === undefined) return where;
  if (where !== 'body' || typeof first !== 'number') return [first, ...rest].join('.');
  return [`operation ${first + 1}`, ...(rest.length === 0 ? [] : [rest.join('.')])].join(': ');
};

/**
 * The first fault decides; unknown keys are reported together.
 * @param given the values to quote; absent if any may be secret
 */
export const schemaError = (
  error: z.ZodError,
  where: string,
  given?: Readonly<Record<string, unknown>>,
): TemperError => {
  const [first] = error.issues;
  const issue = first && likeliest(first);
  if (!issue) return new TemperError('InvalidInput', { field: where, reason: 'is invalid' });
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0)
    return new TemperError('UnexpectedArguments', { names: keysText(issue) });
  return new TemperError('InvalidInput', {
    field: fieldAt(issue.path, where),
    reason: issue.message.endsWith('received undefined') ? 'is missing' : `${issueText(issue)}${quoted(issue, given)}`,
  });
};
