/**
 * Times within a ledger. One attempt writes them and another reads them, on a machine whose clock is another one: so the store
 * keeps how old each was when it was written, and how long ago that was is the store's own word.
 */
import type { Intent } from '../../contract';
import type { Entry, Pages, RestartEntry } from './job-ledger';

type Stored<T, Key extends string> = Omit<T, Key> & { readonly [name in Key]?: number };
type StoredPower = Stored<NonNullable<RestartEntry['power']>, 'sent'> & { readonly sent_ago?: number };
type StoredEntry = Stored<Entry, 'sent' | 'over'> & { readonly sent_ago?: number; readonly over_ago?: number };
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
  // Entries of builds before this one hold epoch milliseconds of the worker that wrote them, next to the store's time.
  const ago = (kept: number | undefined, epoch: number | undefined): number =>
    kept ?? Math.max(0, Date.parse(intent.sent_at) - (epoch ?? 0));
  const at = (kept: number | undefined, epoch: number | undefined): number => intent.at - ago(kept, epoch);
  return {
    ...pages,
    jobs: mapped(pages.jobs, ({ sent_ago, over_ago, sent, over, ...entry }) => ({
      ...entry,
      sent: at(sent_ago, sent),
      ...((over_ago ?? over) !== undefined && { over: at(over_ago, over) }),
    })),
    restarts: mapped(pages.restarts, ({ is, power }) => {
      if (!power) return { is };
      const { sent_ago, ...rest } = power;
      return { is, power: { ...rest, sent: at(sent_ago, Date.parse(power.sent_at)) } };
    }),
  };
};
