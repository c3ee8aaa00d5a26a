/** Rows of the audit trail in words: what was done, and what it changed. */
import type { AuditEntry } from '../../wire/policy';

type AuditData = Readonly<Record<string, unknown>>;

const actWords: Readonly<Record<string, string>> = {
  'allocation.create': 'Created an allocation',
  'allocation.delete': 'Deleted an allocation',
  'audit.read': 'Read the audit trail',
  'freeze.create': 'Froze',
  'freeze.delete': 'Ended the freeze of',
  'incident.acknowledge': 'Acknowledged the fault of',
  'node.bulk': 'Changed many nodes',
  'node.bulk.refused': 'Refused some of many nodes',
  'node.console': 'Switched the serial console of',
  'node.console_ticket': 'Opened the serial console of',
  'node.create': 'Enrolled',
  'node.delete': 'Deleted',
  'node.maintenance': 'Set or ended maintenance of',
  'node.move_credentials': 'Moved the credentials of',
  'node.raid': 'Set the RAID configuration of',
  'node.traits': 'Set the traits of',
  'node.update': 'Changed',
  'node.vif.attach': 'Attached a network to',
  'node.vif.detach': 'Detached a network from',
  'rollout.advance': 'Opened the next wave of a rollout',
  'rollout.answer': 'Answered a rollout for',
  'rollout.plan': 'Planned a rollout',
  'rollout.replan': 'Planned a rollout again',
  'rollout.start': 'Started a rollout',
  'run.abort': 'Aborted a run on',
  'run.fail': 'Failed a run on',
  'run.pause': 'Paused a run on',
  'run.resume': 'Resumed a run on',
  'run.retry': 'Retried a step on',
  'run.skip': 'Skipped a step on',
  'run.unhold': 'Released the hold of',
  'runbook.withdraw': 'Withdrew a revision of a runbook',
};

/** Acts that a filter can suggest, with their words. */
export const knownActs: readonly (readonly [action: string, words: string])[] = Object.entries(actWords);

const methodWords: Readonly<Record<string, string>> = {
  GET: 'Read',
  POST: 'Asked for',
  PUT: 'Asked to set',
  PATCH: 'Asked to change',
  DELETE: 'Asked to delete',
};

const sentenceCase = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** If no handler wrote the row, it has method and path. */
const requestWords = (action: string): string | undefined => {
  const [method = '', path] = action.split(' ');
  const verb = methodWords[method];
  if (path === undefined || verb === undefined) return undefined;
  const ofNode = /\/nodes\/:\w+/.test(path);
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith(':') && !['v1', 'temper'].includes(part)); // biome-ignore format: one line
  const what = parts.filter((part) => !(ofNode && part === 'nodes')).join(' ');
  return what === '' ? verb : `${verb} ${what}${ofNode ? ' of' : ''}`;
};

const pastActs: Readonly<Record<string, string>> = { create: 'Created', update: 'Changed', delete: 'Deleted' };

const ownWords = ({ action, data }: AuditEntry): string | undefined => {
  const { maintenance, count } = (data ?? {}) as AuditData;
  if (action === 'node.bulk' && typeof count === 'number')
    return `Changed ${count} ${count === 1 ? 'node' : 'nodes'} at once`;
  if (action === 'node.maintenance' && typeof maintenance === 'boolean')
    return maintenance ? 'Set maintenance of' : 'Ended maintenance of';
  return actWords[action] ?? requestWords(action);
};

/** The object follows, if there is one. An act that the table lacks is shown by its own name. */
export const actOf = (entry: AuditEntry): string => {
  const known = ownWords(entry);
  if (known !== undefined) return known;
  const [subject = '', ...act] = entry.action.split('.');
  const what = act.join(' ').replaceAll('_', ' ');
  if (subject === 'run') return `Started ${what} on`;
  if (subject === 'node') return `${sentenceCase(what)}: state of`;
  const past = pastActs[act[0] ?? ''];
  return past && act.length === 1
    ? `${past} ${subject.replaceAll('_', ' ')}`
    : sentenceCase(`${subject} ${what}`.trim());
};

export type Difference = { readonly field: string; readonly before?: unknown; readonly after?: unknown };

const isObject = (value: unknown): value is AuditData =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Of two documents only the keys that differ. */
const within = (field: string, before: unknown, after: unknown): Difference[] => {
  if (isSame(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ field, before, after }];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) =>
    isSame(before[key], after[key]) ? [] : [{ field: `${field}.${key}`, before: before[key], after: after[key] }],
  );
};

/** Values before and after, as far as the row has them. Tenants get names of fields alone. */
export const differencesOf = ({ data }: AuditEntry): Difference[] => {
  if (!isObject(data)) return [];
  const { changed, before, from, to } = data;
  if (Array.isArray(changed)) return changed.map((field) => ({ field: String(field) }));
  if (isObject(changed))
    return Object.entries(changed).flatMap(([field, after]) =>
      isObject(before) && field in before ? within(field, before[field], after) : [{ field, after }],
    );
  if (isObject(before)) return Object.entries(before).flatMap(([field, was]) => within(field, was, data[field]));
  return typeof from === 'string' && typeof to === 'string' ? [{ field: 'state', before: from, after: to }] : [];
};

const longestShown = 80;
const cut = (text: string): string => (text.length > longestShown ? `${text.slice(0, longestShown - 1)}…` : text);

/** A long value is recorded as its size and digest. */
export const valueText = (value: unknown): string => {
  if (value === undefined || value === null) return 'nothing';
  if (value === true || value === false) return value ? 'yes' : 'no';
  if (isObject(value) && typeof value.$bytes === 'number') return `${value.$bytes} bytes`;
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
};

export const givenReason = ({ data }: AuditEntry): string | undefined => {
  if (!isObject(data)) return undefined;
  const given = data.reason ?? data.maintenance_reason;
  return typeof given === 'string' && given !== '' ? given : undefined;
};

const rank = ['admin', 'manager', 'member', 'reader', 'service'];

/** The highest role; a token has those below it, too. */
export const roleOf = (roles: readonly string[] = []): string | undefined =>
  rank.find((role) => roles.includes(role)) ?? roles[0];
