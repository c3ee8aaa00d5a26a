/**
 * Times in a ledger. Another process with another clock may read them, so the record has each time's age when written. PostgreSQL
 * measures the age of the record.
 */

import type { ErrorCode, Facts } from '../../../model/errors';
import type { Intent } from '../../contract';

type StoredPower = Omit<NonNullable<RestartEntry['power']>, 'sent'> & { readonly sent_ago: number };
type StoredEntry = Omit<LedgerEntry, 'sent' | 'over'> & { readonly sent_ago: number; readonly over_ago?: number };
type StoredPages = Omit<Pages, 'jobs' | 'restarts'> & {
  readonly jobs: Readonly<Record<string, StoredEntry>>;
  readonly restarts: Readonly<Record<string, Omit<RestartEntry, 'power'> & { readonly power?: StoredPower }>>;
};

const mapped = <From, To>(all: Readonly<Record<string, From>>, change: (one: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(all).map(([key, one]) => [key, change(one)]));

/** Pages for the record, with each time as its age in milliseconds. */
export const aged = (pages: Pages): StoredPages => {
  const now = performance.now();
  return {
    ...pages,
    jobs: mapped(pages.jobs, ({ sent, over, ...entry }) => ({
      ...entry,
      sent_ago: now - sent,
      ...(over !== undefined && { over_ago: now - over }),
    })),
    restarts: mapped(pages.restarts, ({ is, power }) => {
      if (!power) return { is };
      const { sent, ...rest } = power;
      return { is, power: { ...rest, sent_ago: now - sent } };
    }),
  };
};

/** Pages of an intent, with times of this process's monotonic clock. */
export const dated = (intent: Intent): Pages => {
  const pages = intent.detail as StoredPages;
  const at = (ago: number): number => intent.at - ago;
  return {
    ...pages,
    jobs: mapped(pages.jobs, ({ sent_ago, over_ago, ...entry }) => ({
      ...entry,
      sent: at(sent_ago),
      ...(over_ago !== undefined && { over: at(over_ago) }),
    })),
    restarts: mapped(pages.restarts, ({ is, power }) => {
      if (!power) return { is };
      const { sent_ago, ...rest } = power;
      return { is, power: { ...rest, sent: at(sent_ago) } };
    }),
  };
};

/** Times are milliseconds of this process's monotonic clock; the record has their age (ledger-times.ts). */
export type LedgerEntry = TaskRefs & {
  readonly is: 'sent' | 'accepted' | 'done' | 'ended';
  /** State before the command, to recognise the effect. */
  readonly before: unknown;
  readonly sent: number;
  /** The BMC's tasks before the command. A new task belongs to the command if no answer named one. Null: the BMC lists none. */
  readonly tasks: readonly string[] | null;
  /** First time that the command was seen finished or its task was lost. */
  readonly over?: number;
  /** The BMC reported success; its report may be gone by now. */
  readonly well?: true;
  /** The BMC answered that the command was done at once. */
  readonly final?: true;
  readonly verdict?: JobVerdict;
};

/** A host restart of the job: its progress, and the intent of the current power command. */
export type RestartEntry = {
  readonly is: 'off' | 'on' | 'done';
  /** `sent` is on this process's monotonic clock; `sent_at` is for display. */
  readonly power?: { readonly sent: number; readonly sent_at: string; readonly detail: Intent['detail'] };
};

export type Pages = {
  readonly desired: Readonly<Record<string, unknown>>;
  readonly plan?: unknown;
  readonly jobs: Readonly<Record<string, LedgerEntry>>;
  readonly restarts: Readonly<Record<string, RestartEntry>>;
};

/** Paths of a command's progress. Both are kept, because BMCs mix them up. */
export type TaskRefs = { readonly monitor?: string; readonly task?: string };

/** A command's failure, and the attempt in which it ended. */
type JobVerdict = { readonly code: ErrorCode; readonly facts: Facts; readonly attempt: number };
