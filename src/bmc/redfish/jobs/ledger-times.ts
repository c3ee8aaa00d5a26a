/** Times in a ledger. Its readers have other clocks, so it records each time as an age. PostgreSQL measures the age of the record. */

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

/** Replaces times with ages in milliseconds. */
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

/** Replaces ages with times of this process's monotonic clock. */
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

/** Times are milliseconds of this process's monotonic clock; recorded as ages (ledger-times.ts). */
export type LedgerEntry = TaskRefs & {
  readonly is: 'sent' | 'accepted' | 'done' | 'ended';
  /** State before the command, to recognise the effect. */
  readonly before: unknown;
  readonly sent: number;
  /** The BMC's tasks before the command, to find a task that no answer named. Null: the BMC lists none. */
  readonly tasks: readonly string[] | null;
  /** First time that its task was seen finished or lost. */
  readonly over?: number;
  /** The BMC reported success; the report may be gone. */
  readonly well?: true;
  /** The BMC reported at once that it was done. */
  readonly final?: true;
  readonly verdict?: JobVerdict;
};

/** Progress of a host restart, with the intent of its power command. */
export type RestartEntry = {
  readonly is: 'off' | 'on' | 'done';
  /** `sent` is monotonic; `sent_at` is for display. */
  readonly power?: { readonly sent: number; readonly sent_at: string; readonly detail: Intent['detail'] };
};

export type Pages = {
  readonly desired: Readonly<Record<string, unknown>>;
  readonly plan?: unknown;
  readonly jobs: Readonly<Record<string, LedgerEntry>>;
  readonly restarts: Readonly<Record<string, RestartEntry>>;
};

/** Both paths are kept, because BMCs mix them up. */
export type TaskRefs = { readonly monitor?: string; readonly task?: string };

type JobVerdict = { readonly code: ErrorCode; readonly facts: Facts; readonly attempt: number };
