/**
 * Times within a ledger. One attempt writes them and another reads them, on a machine whose clock is another one: so the store
 * keeps how old each was when it was written, and how long ago that was is the store's own word.
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

/** Pages as the store keeps them: every time as its age in milliseconds at this moment. */
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

/** Pages of an intent, every time on this process's monotonic clock. */
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

/** One command. Times are milliseconds of this process's monotonic clock; the store keeps their age (ledger-times.ts). */
export type LedgerEntry = TaskRefs & {
  readonly is: 'sent' | 'accepted' | 'done' | 'ended';
  /** What was true before, to recognise the effect by. */
  readonly before: unknown;
  readonly sent: number;
  /** Tasks that the BMC had before: a new one is ours when no answer named it. Null: it lists none. */
  readonly tasks: readonly string[] | null;
  /** When the BMC was first seen to have finished with it, or to have lost its task. */
  readonly over?: number;
  /** It said that it ended well; it may have forgotten that by now. */
  readonly well?: true;
  /** The BMC answered that it was done at once. */
  readonly final?: true;
  readonly verdict?: JobVerdict;
};

/** A restart of the host that belongs to the work: how far it is, and the intent of the power command under way. */
export type RestartEntry = {
  readonly is: 'off' | 'on' | 'done';
  /** `sent` on this process's monotonic clock; `sent_at` is for people. */
  readonly power?: { readonly sent: number; readonly sent_at: string; readonly detail: Intent['detail'] };
};

export type Pages = {
  readonly desired: Readonly<Record<string, unknown>>;
  readonly plan?: unknown;
  readonly jobs: Readonly<Record<string, LedgerEntry>>;
  readonly restarts: Readonly<Record<string, RestartEntry>>;
};

/** Where a command's progress can be read; both are kept, because BMCs mix them up. */
export type TaskRefs = { readonly monitor?: string; readonly task?: string };

/** How a command ended that did not end well, and in which attempt. */
type JobVerdict = { readonly code: ErrorCode; readonly facts: Facts; readonly attempt: number };
