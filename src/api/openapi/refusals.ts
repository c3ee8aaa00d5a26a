/** Error answers of operations: each status with the routes that can return it. */
import type { Document } from '../../model/document';
import { honoursKey } from '../idempotency/idempotency';
import { hasProblems, problemType } from '../server/problems';
import type { Method, Route } from '../server/route';
import { refTo } from './schemas';

type Refusal = {
  readonly status: number;
  readonly says: string;
  /** Names of body schemas. */
  readonly bodies: readonly ('Fault' | 'PlainFault' | 'AuthFault')[];
  readonly headers?: Document;
  readonly when: (route: Route) => boolean;
};

const writes: readonly Method[] = ['POST', 'PUT', 'PATCH', 'DELETE'];
const isWrite = ({ method }: Route): boolean => writes.includes(method);
const isKnown = ({ rules, open }: Route): boolean => rules !== 'public' && open !== true;
const hasRules = ({ rules }: Route): boolean => rules !== 'public';
const ofNode = ({ path }: Route): boolean => /\/(nodes|drivers|heartbeat|runs)\b/.test(path);
/** The BMC answers during the request, and its node may be locked. */
const asksBmc = ({ path }: Route): boolean => /\/(management|vmedia|vendor_passthru)\b/.test(path);
const any = (): boolean => true;

const textHeader = (description: string): Document => ({ description, schema: { type: 'string' } });

/** In the order of the document. */
export const refusals: readonly Refusal[] = [
  {
    status: 400,
    says: 'Something in the request is wrong; the text says what.',
    bodies: ['Fault', 'PlainFault'],
    when: any,
  },
  {
    status: 401,
    says: 'The request has no valid credentials.',
    bodies: ['AuthFault'],
    headers: { 'WWW-Authenticate': textHeader('How to say who asks.') },
    when: isKnown,
  },
  { status: 403, says: 'The policy does not let this caller do it.', bodies: ['Fault'], when: hasRules },
  {
    status: 404,
    says: 'There is no such thing, or none that this caller may see, or not in this version.',
    bodies: ['Fault'],
    when: any,
  },
  {
    status: 405,
    says: 'Not offered here, or not in this version.',
    bodies: ['Fault'],
    headers: { Allow: textHeader('What is offered.') },
    when: any,
  },
  {
    status: 406,
    says: 'The version is not supported, or does not know what was asked for.',
    bodies: ['Fault'],
    when: any,
  },
  {
    status: 409,
    says: 'It conflicts with what is there, or a run or another caller holds it.',
    bodies: ['Fault'],
    when: (route) => isWrite(route) || asksBmc(route),
  },
  { status: 413, says: 'The body is too large.', bodies: ['PlainFault'], when: isWrite },
  {
    status: 415,
    says: 'The body has a Content-Encoding, which is not taken of senders who need no login.',
    bodies: ['Fault'],
    when: (route) => isWrite(route) && route.open === true,
  },
  {
    status: 422,
    says: 'The Idempotency-Key was used for another request.',
    bodies: ['Fault'],
    when: honoursKey,
  },
  {
    status: 429,
    says: 'More requests than one caller is served, or more of something than one project may have; the text says which.',
    bodies: ['Fault'],
    headers: { 'Retry-After': textHeader('Seconds to wait.') },
    when: any,
  },
  { status: 431, says: 'URL and headers are larger than 16 KiB; no handler was reached.', bodies: [], when: any },
  {
    status: 500,
    says: 'An unexpected error; the log has it under the request’s id.',
    bodies: ['Fault'],
    when: any,
  },
  { status: 502, says: 'The BMC refused, or did not answer.', bodies: ['Fault'], when: ofNode },
  { status: 503, says: 'Something that this needs does not answer; try again.', bodies: ['Fault'], when: any },
  { status: 504, says: 'The BMC did not do it in time.', bodies: ['Fault'], when: ofNode },
];

/** Below `/temper/v1` a refusal has two forms. */
const forms = ['Refused', 'Problem'] as const;
type Form = (typeof forms)[number];

const formOf = ({ path }: Route): Form => (hasProblems(path) ? 'Problem' : 'Refused');

const refusalContent = (form: Form, { bodies }: Refusal): Document => {
  if (bodies.length === 0) return {};
  const schemas = bodies.map((name) => refTo('schemas', name));
  const problem = form === 'Problem' && { [problemType]: { schema: refTo('schemas', 'ProblemDetails') } };
  const content = {
    'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } },
    ...problem,
  };
  return { content };
};

export const refusalComponents = (): Document =>
  Object.fromEntries(
    forms.flatMap((form) =>
      refusals.map((row) => [
        `${form}${row.status}`,
        { description: row.says, ...(row.headers && { headers: row.headers }), ...refusalContent(form, row) },
      ]),
    ),
  );

export const refusalsOf = (route: Route): Document =>
  Object.fromEntries(
    refusals
      .filter(({ when }) => when(route))
      .map(({ status }) => [String(status), refTo('responses', `${formOf(route)}${status}`)]),
  );

const fault = {
  type: 'object',
  properties: { faultcode: { enum: ['Client', 'Server'] }, faultstring: { type: 'string' } },
  required: ['faultcode', 'faultstring'],
};

/** Bodies of refusals: Ironic's, whose text is JSON inside JSON, those of the authentication layer, and problem details. */
export const faultSchemas: Document = {
  ProblemDetails: {
    type: 'object',
    description: 'RFC 9457, if Accept prefers application/problem+json.',
    properties: {
      type: { type: 'string', description: 'urn:temper:error: and the code.' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      code: { type: 'string', description: 'Of the list of errors in the reference.' },
      request_id: { type: 'string' },
    },
    required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  },
  Fault: {
    type: 'object',
    properties: {
      error_message: {
        type: 'string',
        description: 'JSON again, as a text: a fault, or a title if no handler was reached.',
        contentMediaType: 'application/json',
        contentSchema: {
          anyOf: [
            { ...fault, properties: { ...fault.properties, debuginfo: { type: 'null' } } },
            {
              type: 'object',
              properties: {
                code: { type: 'integer' },
                title: { type: 'string' },
                description: { type: ['string', 'null'] },
              },
              required: ['code', 'title', 'description'],
            },
          ],
        },
      },
    },
    required: ['error_message'],
    additionalProperties: false,
  },
  PlainFault: { ...fault, additionalProperties: false },
  AuthFault: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { code: { const: 401 }, title: { type: 'string' }, message: { type: 'string' } },
        required: ['code', 'message'],
      },
    },
    required: ['error'],
    additionalProperties: false,
  },
};
