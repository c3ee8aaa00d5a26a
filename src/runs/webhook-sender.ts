/** Signed delivery to an allowed origin. The address is checked on connection; redirects are not followed. */
import { createHmac } from 'node:crypto';
import { lookup as systemLookup } from 'node:dns/promises';
import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { guardedLookup, type Resolve } from '../model/access/guarded-lookup';
import { bytesWithin } from '../model/bodies';
import { allowedTarget, requireFarAway } from '../model/resources/webhooks';
import { endingWithin } from '../model/signals';

export type SenderDeps = {
  readonly origins: readonly string[];
  /** For tests: replaces name resolution. */
  readonly lookup?: Resolve;
  /** Per attempt; default ten seconds. */
  readonly timeoutMs?: number;
};

export type Message = {
  readonly url: string;
  /** The same for every attempt, so that a receiver detects repeats. */
  readonly delivery: string;
  readonly kind: string;
  readonly body: string;
  readonly secret: string;
};

const defaultTimeoutMs = 10_000;

/** HMAC-SHA256 over timestamp (seconds), full stop and raw body, as a receiver computes it. */
const signatureOf = (secret: string, timestamp: number, body: string): string =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

const resolve: Resolve = async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address);

const headersOf = ({ delivery, kind, body, secret }: Message): Record<string, string | number> => {
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'temper',
    'X-Temper-Delivery': delivery,
    'X-Temper-Event': kind,
    'X-Temper-Timestamp': timestamp,
    'X-Temper-Signature': signatureOf(secret, timestamp, body),
  };
};

/** The body is not read, so its size does not matter. */
const statusOf = (asked: ClientRequest, body: string): Promise<number> =>
  new Promise((done, fail) => {
    asked.once('response', (response) => {
      done(response.statusCode ?? 0);
      asked.destroy();
    });
    asked.once('error', fail);
    asked.end(body);
  });

const longestAnswer = 16 * 1024;

/** Rejects a longer response. */
const responseTo = (asked: ClientRequest, body: string): Promise<{ status: number; text: string }> =>
  new Promise((done, fail) => {
    asked.once('error', fail);
    asked.once('response', (response) => {
      const text = bytesWithin(response, longestAnswer).then((bytes) => new TextDecoder().decode(bytes));
      text.then((all) => done({ status: response.statusCode ?? 0, text: all }), fail);
    });
    asked.end(body);
  });

/**
 * @returns the status, a redirect included
 * @throws WebhookTargetRefused, or the connection's error
 */
export const sendWebhook = async (message: Message, deps: SenderDeps, signal: AbortSignal): Promise<number> =>
  statusOf(requestOf(message, deps, signal), message.body);

/** Throws as `sendWebhook`, and if the response is too long. */
export const askWebhook = async (
  message: Message,
  deps: SenderDeps,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> =>
  responseTo(requestOf(message, deps, signal), message.body);

const requestOf = (message: Message, deps: SenderDeps, signal: AbortSignal): ClientRequest => {
  const url = allowedTarget(deps.origins, message.url);
  const options: RequestOptions = {
    method: 'POST',
    headers: headersOf(message),
    lookup: guardedLookup(deps.lookup ?? resolve, requireFarAway),
    agent: false,
    signal: endingWithin(signal, deps.timeoutMs ?? defaultTimeoutMs),
  };
  return (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
};
