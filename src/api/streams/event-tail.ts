/** Event tail: one reader of new events for all streams of a process. */
import { setMaxListeners } from 'node:events';
import type { Inventory } from '../../inventory';
import type { SeenEvent } from '../../inventory/event-pages';
import type { FeedPlace } from '../../inventory/feed';
import type { ErrorLog } from '../../model/log';
import { pause } from '../../model/passes';

const eventsAtOnce = 500;
// After events, more usually follow: the wait starts short and grows.
const readSoonMs = 100;
const readLatestMs = 400;
/** Of one stream. A client further behind is cut off and reconnects. */
const mostKept = 5_000;

/** True if the event concerns the stream. */
type Concerns = (event: SeenEvent) => boolean;

export type Tailing = {
  /** Events start after this place. */
  readonly from: FeedPlace;
  /** New events in order; waits for the first. Undefined if the client is too far behind. */
  take(withinMs: number, signal: AbortSignal): Promise<readonly SeenEvent[] | undefined>;
  close(): void;
};

export type EventTail = {
  /** Other events neither wake the stream nor stay in memory. */
  open(concerns: Concerns): Promise<Tailing>;
  /** Keeps no events. @returns a function that ends the watch */
  watch(concerns: Concerns, wake: () => void): Promise<() => void>;
  close(): void;
};

/** `place`: the last event given to all streams. */
type TailReader = { place: FeedPlace };

/** `give` gets the events of one read that concern it, at least one. */
type Follower = { readonly concerns: Concerns; readonly give: (rows: readonly SeenEvent[]) => void };
type Kept = { rows: SeenEvent[]; behind: boolean; wake: () => void };

const waitFor = (kept: Kept, withinMs: number, signals: readonly AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      kept.wake = () => {};
      resolve();
    };
    const timer = setTimeout(done, withinMs);
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
    kept.wake = done;
    if (kept.rows.length > 0 || kept.behind || signals.some(({ aborted }) => aborted)) done();
  });

const keep = (kept: Kept, rows: readonly SeenEvent[]): void => {
  kept.rows.push(...rows);
  kept.behind ||= kept.rows.length > mostKept;
  if (kept.behind) kept.rows = []; // the stream ends; the client reconnects and reads them
  kept.wake();
};

const hand = (followers: ReadonlySet<Follower>, rows: readonly SeenEvent[]): void => {
  for (const { concerns, give } of followers) {
    const concerned = rows.filter(concerns);
    if (concerned.length > 0) give(concerned);
  }
};

export const createEventTail = ({ inventory, log }: { inventory: Inventory; log: ErrorLog }): EventTail => {
  const followers = new Set<Follower>();
  const ending = new AbortController();
  setMaxListeners(0, ending.signal); // one for each stream that waits
  /** Undefined without a stream. */
  let current: Promise<TailReader> | undefined;

  /** Reads until no stream is left, and retries without PostgreSQL. */
  const read = async (reader: TailReader): Promise<void> => {
    let waitMs = readLatestMs;
    while (followers.size > 0 && !ending.signal.aborted) {
      waitMs = Math.min(waitMs * 1.2, readLatestMs);
      try {
        const rows = await inventory.allEvents.after(reader.place, eventsAtOnce);
        reader.place = rows.at(-1) ?? reader.place;
        if (rows.length > 0) {
          hand(followers, rows);
          waitMs = readSoonMs;
        }
        if (rows.length === eventsAtOnce) continue;
      } catch (thrown) {
        log.warn('events could not be read', { reason: String(thrown) });
      }
      await pause(waitMs, ending.signal);
    }
    current = undefined;
  };

  const begin = async (): Promise<TailReader> => {
    const reader: TailReader = { place: await inventory.allEvents.end() };
    void read(reader);
    return reader;
  };

  /** Adds the follower first, so that the reader neither stops nor skips an event in between. */
  const join = async (follower: Follower): Promise<TailReader> => {
    followers.add(follower);
    current ??= begin();
    return current.catch((thrown) => {
      followers.delete(follower);
      current = undefined;
      throw thrown;
    });
  };

  return {
    async open(concerns) {
      const kept: Kept = { rows: [], behind: false, wake: () => {} };
      const follower: Follower = { concerns, give: (rows) => keep(kept, rows) };
      const reader = await join(follower);
      kept.rows = []; // earlier events are before its place
      return {
        from: reader.place,
        async take(withinMs, signal) {
          await waitFor(kept, withinMs, [signal, ending.signal]);
          if (kept.behind) return undefined;
          return kept.rows.splice(0);
        },
        close: () => void followers.delete(follower),
      };
    },
    async watch(concerns, wake) {
      const follower: Follower = { concerns, give: wake };
      await join(follower);
      return () => void followers.delete(follower);
    },
    close: () => ending.abort(),
  };
};
