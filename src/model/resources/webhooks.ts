/** Webhooks: allowed targets, names of events, and retries of failed deliveries. */
import { cidrContains } from '../access/bmc-addresses';
import { raise } from '../errors';
import { meant } from '../nearest';
import { webhookKinds } from './event-kinds';

/** A kind's subject is its text before the first dot. */
const families: readonly string[] = [...new Set(webhookKinds.map((kind) => kind.split('.')[0]!))];

const namable: readonly string[] = ['*', ...families.map((family) => `${family}.*`), ...webhookKinds];

/** The fault of a text that is no kind of event, no family and not `*`; otherwise undefined. */
export const eventKindFault = (text: string): string | undefined =>
  namable.includes(text)
    ? undefined
    : `must be *, a family such as run.*, or a kind of event such as run.failed; families are ${families.join(', ')}.${meant(text, namable)}`;

// Addresses of this host, its link, or no host: metadata services and Temper's own ports are there.
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
 * The URL of a webhook whose origin an operator allows. Throws WebhookTargetRefused.
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

/**
 * Refuses a host that resolves to this machine or its link. An address that the operator lists explicitly is allowed anywhere. Throws
 * WebhookTargetRefused.
 */
export const requireFarAway = (host: string, addresses: readonly string[]): void => {
  const near = addresses.find((address) => nearNetworks.some((cidr) => cidrContains(cidr, address)));
  if (near !== undefined)
    raise('WebhookTargetRefused', { target: host, reason: `it resolves to ${near}, which is near this machine.` });
};

/** Attempts of one delivery: with these pauses most of a day. */
export const deliveryAttempts = 12;
const firstPauseMs = 5_000;
const longestRetryMs = 6 * 3_600_000;

/** The pause after an attempt, counted from 1: three times the previous one, up to six hours. */
export const deliveryPauseMs = (attempt: number): number => Math.min(firstPauseMs * 3 ** (attempt - 1), longestRetryMs);
