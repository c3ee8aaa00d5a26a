/** Meaning of a BMC's answers: message keys, Retry-After and error codes. */

import { asDocument } from '../../../model/document';
import { type ErrorCode, TemperError } from '../../../model/errors';
import { ownValue } from '../../../model/own';
import { textOf } from '../../../model/texts';
import { busyKeys } from '../../quirks';
import { tidyText } from '../../texts';

/** `body` is undefined if it is empty or not JSON (`garbled`). */
export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  readonly garbled: boolean;
};

type Message = { readonly key: string; readonly text: string; readonly severity: number };

const severities: Readonly<Record<string, number>> = { Critical: 3, Warning: 2, OK: 1 };

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

const messageOf = (item: unknown): Message => {
  const { MessageId, Message, Severity, MessageSeverity } = asDocument(item);
  return {
    key: textOf(MessageId).replace(/^.*\./, ''),
    text: textOf(Message),
    severity: ownValue(severities, textOf(MessageSeverity ?? Severity)) ?? 0,
  };
};

/** Most severe first. Some BMCs send one object instead of a list. */
const messagesOf = (body: unknown): Message[] => {
  const error = asDocument(asDocument(body).error);
  const listed = asList(error['@Message.ExtendedInfo']).map(messageOf);
  const top = messageOf({ MessageId: error.code, Message: error.message });
  return [...listed.sort((a, b) => b.severity - a.severity), top].filter((one) => one.key !== '' || one.text !== '');
};

/** `Base.1.8.ResourceInUse` -> `ResourceInUse`. */
const messageKeys = (reply: Reply): string[] => messagesOf(reply.body).map((message) => message.key);

/** Needed if only the wording distinguishes cases. */
export const messageTextOf = (reply: Reply): string =>
  messagesOf(reply.body)
    .map((message) => `${message.key} ${message.text}`)
    .join(' ');

const busy = new Set(busyKeys.map(({ key }) => key));
const sessionsFull = new Set(busyKeys.filter(({ sessions }) => sessions).map(({ key }) => key));

export const sessionsExhausted = (reply: Reply): boolean => messageKeys(reply).some((key) => sessionsFull.has(key));

/** True if the request was not carried out and may be repeated shortly. */
export const isTransientRefusal = (reply: Reply): boolean =>
  reply.status === 409 || messageKeys(reply).some((key) => busy.has(key));

const longestWaitMs = 120_000;

/** The BMC's Date in epoch milliseconds, else this worker's. */
const timeOf = ({ headers }: Reply): number => {
  const shown = Date.parse(headers.date ?? '');
  return Number.isNaN(shown) ? Date.now() : shown;
};

/** In milliseconds, at most two minutes. HTTP dates are by the BMC's clock. */
export const retryAfterMs = (reply: Reply, now = timeOf(reply)): number | undefined => {
  const given = reply.headers['retry-after'];
  if (given === undefined) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(given.trim()) ? Number(given) * 1000 : Date.parse(given) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestWaitMs) : undefined;
};

const longestBmcReason = 300;

const replyReason = (reply: Reply): string => {
  if (reply.garbled) return 'its reply is not JSON';
  const [first] = messagesOf(reply.body);
  return first
    ? (tidyText(first.text || first.key, longestBmcReason) ?? '')
    : `status ${reply.status} without explanation`;
};

/** Any other status maps by its class. */
const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'BmcAuthFailed',
  403: 'BmcAuthFailed',
  404: 'BmcRejected',
  405: 'BmcUnsupported',
  409: 'BmcBusy',
  429: 'BmcBusy',
  501: 'BmcUnsupported',
  503: 'BmcBusy',
};

const codeOf = (reply: Reply): ErrorCode => {
  if (reply.status === 403 && /licen[sc]e/i.test(messageTextOf(reply))) return 'BmcUnsupported';
  if (messageKeys(reply).some((key) => busy.has(key))) return 'BmcBusy';
  return codes[reply.status] ?? (reply.status >= 500 || reply.garbled ? 'BmcServerError' : 'BmcRejected');
};

/** `mask` removes secrets that the BMC echoes. */
export const errorOf = (
  reply: Reply,
  facts: { node: string; bmc: string; what: string },
  mask: (text: string) => string,
): TemperError =>
  new TemperError(codeOf(reply), {
    ...facts,
    status: reply.status,
    reason: mask(replyReason(reply)),
    retryAfterMs: retryAfterMs(reply),
    keys: messageKeys(reply).filter((key) => /^\w{1,60}$/.test(key)),
  });

const tlsFaults =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE))/;

/** Failures before the first byte of the request was sent. */
const neverSent =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|EPROTO|ERR_SSL_\w+)$/;

const failureTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'its name does not resolve',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed without an answer',
  UND_ERR_CONNECT_TIMEOUT: 'connecting took too long',
  UND_ERR_HEADERS_TIMEOUT: 'the answer took too long',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped in the middle',
  ANSWER_TOO_LONG: 'the answer is far too large',
  BMC_REPLY_TOO_MUCH: 'the answer is far too large, or made of far too many parts',
};

/** `neverSent`: it cannot have been carried out. */
export const errorOfFailure = (
  thrown: unknown,
  facts: { node: string; bmc: string; what: string },
): { error: TemperError; neverSent: boolean } => {
  const cause = thrown as { code?: unknown; cause?: unknown; errors?: readonly unknown[] };
  const inner = cause.errors?.[0] as { code?: unknown } | undefined;
  const code = String(cause.code ?? inner?.code ?? 'unknown');
  if (code === 'BmcAddressRefused' || code === 'CommandLate') return { error: thrown as TemperError, neverSent: true };
  if (tlsFaults.test(code))
    return { error: new TemperError('BmcTlsFailed', { ...facts, reason: code }), neverSent: true };
  return {
    error: new TemperError('BmcUnreachable', { ...facts, reason: failureTexts[code] ?? code }),
    neverSent: neverSent.test(code),
  };
};
