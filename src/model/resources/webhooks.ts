/** Where webhooks may be sent, which events they may name, and when a failed delivery is tried again. */
import { cidrContains } from '../access/bmc-addresses';
import { raise } from '../errors';
import { meant } from '../nearest';
import { webhookKinds } from './event-kinds';

/** A kind's subject, which is its text before the first dot. */
const families: readonly string[] = [...new Set(webhookKinds.map((kind) => kind.split('.')[0]!))];

const namable: readonly string[] = ['*', ...families.map((family) => `${family}.*`), ...webhookKinds];

/** Why a text is no kind of event, nor a family, nor `*`; undefined where it is one. */
export const eventKindFault = (text: string): string | undefined =>
  namable.includes(text)
    ? undefined
    : `must be *, a family such as run.*, or a kind of event such as run.failed; families are ${families.join(', ')}.${meant(text, namable)}`;

// Addresses that mean this host, its neighbours on the wire, or no host: metadata services and our own ports live there.
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
 * @param origins scheme, host and port of each, as URLs write them
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
 * Refuses what a host resolves to where that is this machine or its link. A host that the operator listed as an address is
 * meant, wherever it lies. Throws WebhookTargetRefused.
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

/** The pause after an attempt, counted from 1: threefold every time, up to six hours. */
export const deliveryPauseMs = (attempt: number): number => Math.min(firstPauseMs * 3 ** (attempt - 1), longestRetryMs);
