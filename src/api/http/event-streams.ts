/** Who streams the events of which run: a bounded number, woken by one listening connection, and by the one reader of all events. */

import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Inventory } from '../../inventory';
import type { Listening } from '../../inventory/runs/watches';
import { type Caller, quotaProject } from '../../model/access/callers';
import { quotaFacts } from '../../model/access/quotas';
import { raise } from '../../model/errors';
import type { RunUuid } from '../../model/ids';
import type { ErrorLog } from '../../model/log';
import { callerKey } from './caller-key';
import { createEventTail, type EventTail } from './event-tail';

/** One open stream's ear. */
export type Ear = {
  /** Aborts when the API ends. */
  readonly closing: AbortSignal;
  /** Resolves when something may have come for its run, at the latest after this time, or when `signal` aborts. */
  news(withinMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

/** Whom a stream is counted for. */
export type Opener = {
  readonly caller: string;
  /** Whose quota it counts against; null for none. */
  readonly project: string | null;
  readonly ofSystem: boolean;
};

export const openerOf = (who: Caller): Opener => ({
  caller: callerKey(who),
  project: quotaProject(who),
  ofSystem: who.system_scope !== null,
});

export type Streams = {
  /** Opens a stream of a run, or of all events (null). Throws TooManyStreams, QuotaExceeded. */
  open(run: RunUuid | null, opener: Opener): Promise<Ear>;
  /** Where streams of all events get them. */
  readonly tail: EventTail;
  /** How many are open. */
  readonly open_count: number;
  /** Ends all of them. */
  close(): Promise<void>;
};

export type StreamsOptions = {
  readonly inventory: Inventory;
  readonly log: ErrorLog;
  /** Of all callers, and of one. */
  readonly limit?: number;
  readonly limitOfOne?: number;
  /** Of the callers of one project in this process; any number when absent or 0. */
  readonly quota?: number;
  /** Reports how many are open, whenever that changes. */
  readonly onCount?: (open: number) => void;
};

// A watch outlives two renewals that failed.
const watchMs = 90_000;
const renewEveryMs = 30_000;

type Hearer = {
  readonly run: RunUuid | null;
  readonly opener: Opener;
  heard: boolean;
  wake: () => void;
};

/** A part of all streams is for callers of the system: a few projects with their quotas would hold the others. */
const ofSystemShare = 1 / 5;

/** Raises where the bound of all streams, of one caller's or of one project's is reached. */
const requireRoom = (
  hearers: ReadonlySet<Hearer>,
  { caller, project, ofSystem }: Opener,
  { limit = 200, limitOfOne = 20, quota = 0 }: StreamsOptions,
): void => {
  if (hearers.size >= limit) raise('TooManyStreams', { limit, whose: 'open' });
  const others = [...hearers].filter(({ opener }) => !opener.ofSystem).length;
  const ofOthers = limit - Math.floor(limit * ofSystemShare);
  if (!ofSystem && others >= ofOthers) raise('TooManyStreams', { limit: ofOthers, whose: 'of projects open' });
  const own = [...hearers].filter(({ opener }) => opener.caller === caller).length;
  if (own >= limitOfOne) raise('TooManyStreams', { limit: limitOfOne, whose: 'of this caller open' });
  const ofProject = [...hearers].filter(({ opener }) => opener.project === project).length;
  if (project !== null && quota > 0 && ofProject >= quota)
    raise('QuotaExceeded', quotaFacts('streams', project, quota));
};

const runsOf = (hearers: ReadonlySet<Hearer>): RunUuid[] => [
  ...new Set([...hearers].map(({ run }) => run).filter((run) => run !== null)),
];

/** The runs that this process watches, noted in the store again and again, and its listening connection. */
const createWatch = ({ inventory, log }: StreamsOptions, hearers: ReadonlySet<Hearer>) => {
  const watcher = randomUUID();
  let listening: Promise<Listening | undefined> | undefined;
  const wake = (run?: RunUuid): void => {
    for (const hearer of hearers) {
      if (run !== undefined && hearer.run !== run) continue;
      hearer.heard = true;
      hearer.wake();
    }
  };
  const warn = (says: string) => (thrown: unknown) => void log.warn(says, { reason: String(thrown) });
  const keep = (runs: readonly RunUuid[]): Promise<void> =>
    inventory.watches.keep(watcher, runs, watchMs).catch(warn('runs could not be watched'));
  const renewal = setInterval(() => void keep(runsOf(hearers)), renewEveryMs);
  renewal.unref();
  return {
    keep,
    drop: (run: RunUuid): Promise<void> =>
      inventory.watches.drop(watcher, run).catch(warn('a watch could not be ended')),
    /** Without it streams are slower, not wrong; the next stream tries again. */
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

/** @returns streams that are all closed; the listening connection is opened by the first one */
export const createStreams = (options: StreamsOptions): Streams => {
  const { onCount } = options;
  const hearers = new Set<Hearer>();
  const watch = createWatch(options, hearers);
  const ending = new AbortController();
  setMaxListeners(0, ending.signal); // one for each stream that waits
  const tail = createEventTail(options);

  const leave = async (hearer: Hearer): Promise<void> => {
    if (!hearers.delete(hearer)) return;
    onCount?.(hearers.size);
    if (hearer.run === null || [...hearers].some(({ run }) => run === hearer.run)) return;
    await watch.drop(hearer.run);
  };

  /** Announcements come at once but may be lost; what the reader of all events finds is late by a part of a second. */
  const watched = async (run: RunUuid, hearer: Hearer): Promise<() => void> => {
    await watch.listen();
    await watch.keep([run]);
    const news = (): void => {
      hearer.heard = true;
      hearer.wake();
    };
    return tail
      .watch(({ run_id }) => run_id === run, news)
      .catch(async (thrown) => {
        await leave(hearer);
        throw thrown;
      });
  };

  return {
    tail,
    get open_count() {
      return hearers.size;
    },
    async open(run, opener) {
      const { limit = 200 } = options;
      if (ending.signal.aborted) raise('TooManyStreams', { limit, whose: 'open' });
      requireRoom(hearers, opener, options);
      const hearer: Hearer = { run, opener, heard: false, wake: () => {} };
      hearers.add(hearer);
      onCount?.(hearers.size);
      const unwatch = run === null ? undefined : await watched(run, hearer);
      return {
        closing: ending.signal,
        news: (withinMs, signal) => heard(hearer, withinMs, [signal, ending.signal]),
        close: () => {
          unwatch?.();
          return leave(hearer);
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

/** Waits for the first of: news (also news that came before), time, a signal. */
const heard = (hearer: Hearer, withinMs: number, signals: readonly AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      hearer.heard = false;
      hearer.wake = () => {};
      resolve();
    };
    const timer = setTimeout(done, withinMs);
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
    hearer.wake = done;
    if (hearer.heard || signals.some(({ aborted }) => aborted)) done();
  });
