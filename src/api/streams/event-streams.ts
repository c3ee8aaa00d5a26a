/** Event streams of runs, bounded per caller. One LISTEN connection and the event tail wake them. */

import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Inventory } from '../../inventory';
import type { Listening } from '../../inventory/runs/watches';
import { type Caller, quotaProject } from '../../model/access/callers';
import { quotaFacts } from '../../model/access/quotas';
import { raise } from '../../model/errors';
import type { RunUuid } from '../../model/ids';
import type { ErrorLog } from '../../model/log';
import { callerKey } from '../server/caller-key';
import { createEventTail, type EventTail } from './event-tail';

export type Subscription = {
  /** Aborts when the API closes. */
  readonly closing: AbortSignal;
  /** Resolves on news for the run, after the time, or if `signal` aborts. */
  news(withinMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

export type Opener = {
  readonly caller: string;
  /** Null for no quota. */
  readonly project: string | null;
  readonly ofSystem: boolean;
};

export const openerOf = (who: Caller): Opener => ({
  caller: callerKey(who),
  project: quotaProject(who),
  ofSystem: who.system_scope !== null,
});

export type Streams = {
  /** Null streams all events. Throws TooManyStreams, QuotaExceeded. */
  open(run: RunUuid | null, opener: Opener): Promise<Subscription>;
  /** Source of streams of all events. */
  readonly tail: EventTail;
  readonly open_count: number;
  /** Ends all streams. */
  close(): Promise<void>;
};

export type StreamsOptions = {
  readonly inventory: Inventory;
  readonly log: ErrorLog;
  /** Limits of all callers, and of one. */
  readonly limit?: number;
  readonly limitOfOne?: number;
  /** Limit of one project in this process; none if absent or 0. */
  readonly quota?: number;
  readonly onCount?: (open: number) => void;
};

// A watch outlives two failed renewals.
const watchMs = 90_000;
const renewEveryMs = 30_000;

type Subscriber = {
  readonly run: RunUuid | null;
  readonly opener: Opener;
  hasNews: boolean;
  wake: () => void;
};

/** Without this share for system callers, a few projects could use all streams. */
const ofSystemShare = 1 / 5;

/** Throws TooManyStreams, QuotaExceeded. */
const requireRoom = (
  subscribers: ReadonlySet<Subscriber>,
  { caller, project, ofSystem }: Opener,
  { limit = 200, limitOfOne = 20, quota = 0 }: StreamsOptions,
): void => {
  if (subscribers.size >= limit) raise('TooManyStreams', { limit, whose: 'open' });
  const others = [...subscribers].filter(({ opener }) => !opener.ofSystem).length;
  const ofOthers = limit - Math.floor(limit * ofSystemShare);
  if (!ofSystem && others >= ofOthers) raise('TooManyStreams', { limit: ofOthers, whose: 'of projects open' });
  const own = [...subscribers].filter(({ opener }) => opener.caller === caller).length;
  if (own >= limitOfOne) raise('TooManyStreams', { limit: limitOfOne, whose: 'of this caller open' });
  const ofProject = [...subscribers].filter(({ opener }) => opener.project === project).length;
  if (project !== null && quota > 0 && ofProject >= quota)
    raise('QuotaExceeded', quotaFacts('streams', project, quota));
};

const runsOf = (subscribers: ReadonlySet<Subscriber>): RunUuid[] => [
  ...new Set([...subscribers].map(({ run }) => run).filter((run) => run !== null)),
];

/** Watched runs of this process, renewed in the database, and its LISTEN connection. */
const createWatch = ({ inventory, log }: StreamsOptions, subscribers: ReadonlySet<Subscriber>) => {
  const watcher = randomUUID();
  let listening: Promise<Listening | undefined> | undefined;
  const wake = (run?: RunUuid): void => {
    for (const subscriber of subscribers) {
      if (run !== undefined && subscriber.run !== run) continue;
      subscriber.hasNews = true;
      subscriber.wake();
    }
  };
  const warn = (says: string) => (thrown: unknown) => void log.warn(says, { reason: String(thrown) });
  const keep = (runs: readonly RunUuid[]): Promise<void> =>
    inventory.watches.keep(watcher, runs, watchMs).catch(warn('runs could not be watched'));
  const renewal = setInterval(() => void keep(runsOf(subscribers)), renewEveryMs);
  renewal.unref();
  return {
    keep,
    drop: (run: RunUuid): Promise<void> =>
      inventory.watches.drop(watcher, run).catch(warn('a watch could not be ended')),
    /** Without the connection, streams are only slower. The next stream retries. */
    async listen(): Promise<void> {
      listening ??= inventory.watches.listen(wake, wake).catch((thrown) => {
        listening = undefined;
        warn('event streams get news later: nothing can be listened to')(thrown);
        return undefined;
      });
      await listening;
    },
    async close(): Promise<void> {
      clearInterval(renewal);
      await (await listening)?.close().catch(() => undefined);
    },
  };
};

/** The first stream opens the LISTEN connection. */
export const createStreams = (options: StreamsOptions): Streams => {
  const { onCount } = options;
  const subscribers = new Set<Subscriber>();
  const watch = createWatch(options, subscribers);
  const ending = new AbortController();
  setMaxListeners(0, ending.signal); // one for each stream that waits
  const tail = createEventTail(options);

  const leave = async (subscriber: Subscriber): Promise<void> => {
    if (!subscribers.delete(subscriber)) return;
    onCount?.(subscribers.size);
    if (subscriber.run === null || [...subscribers].some(({ run }) => run === subscriber.run)) return;
    await watch.drop(subscriber.run);
  };

  /** Notifications are immediate but can be lost. The event tail finds all events a fraction of a second later. */
  const watched = async (run: RunUuid, subscriber: Subscriber): Promise<() => void> => {
    await watch.listen();
    await watch.keep([run]);
    const news = (): void => {
      subscriber.hasNews = true;
      subscriber.wake();
    };
    return tail
      .watch(({ run_id }) => run_id === run, news)
      .catch(async (thrown) => {
        await leave(subscriber);
        throw thrown;
      });
  };

  return {
    tail,
    get open_count() {
      return subscribers.size;
    },
    async open(run, opener) {
      const { limit = 200 } = options;
      if (ending.signal.aborted) raise('TooManyStreams', { limit, whose: 'open' });
      requireRoom(subscribers, opener, options);
      const subscriber: Subscriber = { run, opener, hasNews: false, wake: () => {} };
      subscribers.add(subscriber);
      onCount?.(subscribers.size);
      const unwatch = run === null ? undefined : await watched(run, subscriber);
      return {
        closing: ending.signal,
        news: (withinMs, signal) => waitForEvents(subscriber, withinMs, [signal, ending.signal]),
        close: () => {
          unwatch?.();
          return leave(subscriber);
        },
      };
    },
    async close() {
      ending.abort();
      tail.close();
      await watch.close();
    },
  };
};

/** Resolves on news (earlier news included), the time, or a signal. */
const waitForEvents = (subscriber: Subscriber, withinMs: number, signals: readonly AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      subscriber.hasNews = false;
      subscriber.wake = () => {};
      resolve();
    };
    const timer = setTimeout(done, withinMs);
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
    subscriber.wake = done;
    if (subscriber.hasNews || signals.some(({ aborted }) => aborted)) done();
  });
