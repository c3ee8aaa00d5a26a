/** Webhooks: allowed targets, names of events, secrets, bodies, and retries of failed deliveries. */
import { cidrContains } from '../access/bmc-addresses';
import { raise } from '../errors';
import { meant } from '../nearest';
import { webhookKinds } from './event-kinds';

/** A subject is the text before the first dot. */
const families: readonly string[] = [...new Set(webhookKinds.map((kind) => kind.split('.')[0]!))];

const namable: readonly string[] = ['*', ...families.map((family) => `${family}.*`), ...webhookKinds];

/** Accepts a kind, a family or `*`. */
export const eventKindFault = (text: string): string | undefined =>
  namable.includes(text)
    ? undefined
    : `must be *, a family such as run.*, or a kind of event such as run.failed; families are ${families.join(', ')}.${meant(text, namable)}`;

// This host, its link, or no host: metadata services and Temper's own ports are there.
const nearNetworks = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/3',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
];

/**
 * Throws WebhookTargetRefused.
 * @param origins scheme, host and port of each, in the spelling of URLs
 */
export const allowedTarget = (origins: readonly string[], text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    return raise('WebhookTargetRefused', { target: 'this URL', reason: 'it must begin with https:// or http://.' });
  if (url.username !== '' || url.password !== '')
    return raise('WebhookTargetRefused', {
      target: url.origin,
      reason: 'the URL must not hold credentials; deliveries are signed instead.',
    });
  if (!origins.some((origin) => URL.canParse(origin) && new URL(origin).origin === url.origin))
    return raise('WebhookTargetRefused', {
      target: url.origin,
      reason: 'it is not among the origins of TEMPER_WEBHOOK_ORIGINS.',
    });
  return url;
};

/** Refuses this machine and its link, except addresses that the operator lists explicitly. Throws WebhookTargetRefused. */
export const requireFarAway = (host: string, addresses: readonly string[]): void => {
  const near = addresses.find((address) => nearNetworks.some((cidr) => cidrContains(cidr, address)));
  if (near !== undefined)
    raise('WebhookTargetRefused', { target: host, reason: `it resolves to ${near}, which is near this machine.` });
};

const digit = '[A-Za-z0-9+/]';
/** Canonical base64 of 24 to 64 bytes. https://github.com/standard-webhooks/standard-webhooks, "Symmetric". */
const secretForm = new RegExp(
  `^whsec_((?:${digit}{4}){8,21}|(?:${digit}{4}){8,21}${digit}[AQgw]==|(?:${digit}{4}){8,20}${digit}{2}[AEIMQUYcgkosw048]=)$`,
);
const mostSecrets = 3;

export const webhookSecretSays = `must be whsec_ and the base64 of 24 to 64 random bytes, or up to ${mostSecrets} of these, separated by a space`;

/** The base64 of each key, in the order of signatures. Undefined if the text is not of that form. */
export const webhookKeys = (text: string): readonly string[] | undefined => {
  const keys = text.split(' ').map((one) => secretForm.exec(one)?.[1]);
  return keys.length <= mostSecrets && keys.every((key) => key !== undefined) ? keys : undefined;
};

type CloudEvent = {
  /** Unique among the events of its source. */
  readonly id: string;
  readonly type: string;
  readonly time: string;
  readonly subject?: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

export const cloudEventType = 'application/cloudevents+json';

/** Structured mode. https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md */
export const cloudEventOf = ({ id, type, time, subject, data }: CloudEvent): string =>
  JSON.stringify({
    specversion: '1.0',
    id,
    source: '/temper/v1/events',
    type,
    time,
    ...(subject && { subject }),
    datacontenttype: 'application/json',
    data,
  });

/** With these pauses most of a day. */
export const deliveryAttempts = 12;
const firstPauseMs = 5_000;
const longestRetryMs = 6 * 3_600_000;

/** Three times the previous one, up to six hours. @param attempt counted from 1 */
export const deliveryPauseMs = (attempt: number): number => Math.min(firstPauseMs * 3 ** (attempt - 1), longestRetryMs);
