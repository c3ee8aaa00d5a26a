/** Who streams the events of which run: a bounded number, woken by one listening connection, with a slow look as fallback. */
import { randomUUID } from 'node:crypto';
import type { Inventory } from '../../inventory';
import type { Listening } from '../../inventory/runs/watches';
import { quotaFacts } from '../../model/access/quotas';
import { raise } from '../../model/errors';
import type { RunUuid } from '../../model/ids';
import type { Log } from '../log';
/** One open stream's ear. */
export type Ear = {
  /** Aborts when the API ends. */
  readonly closing: AbortSignal;
  /** Resolves when something may have come for its run, at the latest after this time, or when `signal` aborts. */
  news(withinMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

export type Streams = {
  /** Opens a stream of a run for a caller of a project, null without one. Throws TooManyStreams, QuotaExceeded. */
  open(run: RunUuid, caller: string, project?: string | null): Promise<Ear>;
  /** How many are open. */
  readonly open_count: number;
  /** Ends all of them. */
  close(): Promise<void>;
};

export type StreamsOptions = {
  readonly inventory: Inventory;
  readonly log: Log;
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
  readonly run: RunUuid;
  readonly caller: string;
  readonly project: string | null;
  heard: boolean;
  wake: () => void;
};

/** @returns streams that are all closed; the listening connection is opened by the first one */
export const createStreams = ({
  inventory,
  log,
  limit = 200,
  limitOfOne = 20,
  quota = 0,
  onCount,
}: StreamsOptions): Streams => {
  const watcher = randomUUID();
  const hearers = new Set<Hearer>();
  const ending = new AbortController();
  let listening: Promise<Listening | undefined> | undefined;

  const wake = (run?: RunUuid): void => {
    for (const hearer of hearers) {
      if (run !== undefined && hearer.run !== run) continue;
      hearer.heard = true;
      hearer.wake();
    }
  };
  const warn = (says: string) => (thrown: unknown) => void log.warn(says, { reason: String(thrown) });

  // Without it streams are slower, not wrong; the next stream tries again.
  const listen = async (): Promise<void> => {
    listening ??= inventory.watches.listen(wake, wake).catch((thrown) => {
      listening = undefined;
      warn('event streams look for news slowly: nothing can be listened to')(thrown);
      return undefined;
    });
    await listening;
  };
  const keep = (runs: readonly RunUuid[]): Promise<void> =>
    inventory.watches.keep(watcher, runs, watchMs).catch(warn('runs could not be watched'));
  const renewal = setInterval(() => void keep([...new Set([...hearers].map(({ run }) => run))]), renewEveryMs);
  renewal.unref();

  const admit = (caller: string, project: string | null): void => {
    if (ending.signal.aborted || hearers.size >= limit) raise('TooManyStreams', { limit, whose: 'open' });
    const own = [...hearers].filter((hearer) => hearer.caller === caller).length;
    if (own >= limitOfOne) raise('TooManyStreams', { limit: limitOfOne, whose: 'of this caller open' });
    const ofProject = [...hearers].filter((hearer) => hearer.project === project).length;
    if (project !== null && quota > 0 && ofProject >= quota)
      raise('QuotaExceeded', quotaFacts('streams', project, quota));
  };

  const leave = async (hearer: Hearer): Promise<void> => {
    if (!hearers.delete(hearer)) return;
    onCount?.(hearers.size);
    if ([...hearers].some(({ run }) => run === hearer.run)) return;
    await inventory.watches.drop(watcher, hearer.run).catch(warn('a watch could not be ended'));
  };

  return {
    get open_count() {
      return hearers.size;
    },
    async open(run, caller, project = null) {
      admit(caller, project);
      const hearer: Hearer = { run, caller, project, heard: false, wake: () => {} };
      hearers.add(hearer);
      onCount?.(hearers.size);
      await listen();
      await keep([run]);
      return {
        closing: ending.signal,
        news: (withinMs, signal) => heard(hearer, withinMs, [signal, ending.signal]),
        close: () => leave(hearer),
      };
    },
    async close() {
      ending.abort();
      clearInterval(renewal);
      await (await listening)?.close().catch(() => undefined);
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
