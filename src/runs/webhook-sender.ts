/** Delivery by Standard Webhooks to an allowed origin. The address is checked on connection; redirects are not followed. */
import { createHmac } from 'node:crypto';
import { lookup as systemLookup } from 'node:dns/promises';
import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { guardedLookup, type Resolve } from '../model/access/guarded-lookup';
import { bytesWithin } from '../model/bodies';
import { raise } from '../model/errors';
import { allowedTarget, cloudEventType, requireFarAway, webhookKeys } from '../model/resources/webhooks';
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
  readonly body: string;
  /** One or several, in the form of the API. */
  readonly secret: string;
};

const defaultTimeoutMs = 10_000;

/**
 * One signature for each key, so that a receiver with any of them can verify. Throws WebhookTargetRefused without a key.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
const signaturesOf = ({ url, secret, delivery, body }: Message, timestamp: number): string => {
  const keys =
    webhookKeys(secret) ??
    raise('WebhookTargetRefused', {
      target: new URL(url).origin,
      reason: 'the secret of the webhook does not have the form whsec_…; give it a new one.',
    });
  const signed = `${delivery}.${timestamp}.${body}`;
  return keys
    .map((key) => `v1,${createHmac('sha256', Buffer.from(key, 'base64')).update(signed).digest('base64')}`)
    .join(' ');
};

const resolve: Resolve = async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address);

const headersOf = (message: Message): Record<string, string | number> => {
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    'Content-Type': cloudEventType,
    'Content-Length': Buffer.byteLength(message.body),
    'User-Agent': 'temper',
    'webhook-id': message.delivery,
    'webhook-timestamp': timestamp,
    'webhook-signature': signaturesOf(message, timestamp),
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
