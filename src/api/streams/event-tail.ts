/** Event tail: one reader of new events for all streams of a process. */
import { setMaxListeners } from 'node:events';
import type { Inventory } from '../../inventory';
import type { SeenEvent } from '../../inventory/event-pages';
import type { FeedPlace } from '../../inventory/feed';
import type { ErrorLog } from '../../model/log';
import { pause } from '../../model/passes';

const eventsAtOnce = 500;
const readEveryMs = 100;
const retryAfterMs = 400;
/** Of one stream. A client further behind is cut off and reconnects. */
const mostKept = 5_000;

/** True if the event concerns the stream. */
export type Concerns = (event: SeenEvent) => boolean;

export type Tailing = {
  /** Events start after this place. */
  readonly from: FeedPlace;
  /** New events in order; waits for the first. Undefined if the client is too far behind. */
  take(withinMs: number, signal: AbortSignal): Promise<readonly SeenEvent[] | undefined>;
  /** Aborts when the API closes. */
  readonly closing: AbortSignal;
  close(): void;
};

type EventTail = {
  /** Other events neither wake the stream nor stay in memory. */
  open(concerns: Concerns): Promise<Tailing>;
  readonly closing: AbortSignal;
  close(): void;
};

/** `place`: the last event given to all streams. */
type TailReader = { place: FeedPlace };

type Follower = { readonly concerns: Concerns; rows: SeenEvent[]; behind: boolean; wake: () => void };

const waitFor = (follower: Follower, withinMs: number, signals: readonly AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      follower.wake = () => {};
      resolve();
    };
    const timer = setTimeout(done, withinMs);
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
    follower.wake = done;
    if (follower.rows.length > 0 || follower.behind || signals.some(({ aborted }) => aborted)) done();
  });

const hand = (followers: ReadonlySet<Follower>, rows: readonly SeenEvent[]): void => {
  for (const follower of followers) {
    const concerned = rows.filter(follower.concerns);
    if (concerned.length === 0) continue;
    follower.rows.push(...concerned);
    follower.behind ||= follower.rows.length > mostKept;
    if (follower.behind) follower.rows = []; // the stream ends; the client reconnects and reads them
    follower.wake();
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
    while (followers.size > 0 && !ending.signal.aborted) {
      try {
        const rows = await inventory.allEvents.after(reader.place, eventsAtOnce);
        reader.place = rows.at(-1) ?? reader.place;
        hand(followers, rows);
        if (rows.length === eventsAtOnce) continue;
      } catch (thrown) {
        log.warn('events could not be read', { reason: String(thrown) });
        await pause(retryAfterMs, ending.signal);
      }
      await pause(readEveryMs, ending.signal);
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
      const follower: Follower = { concerns, rows: [], behind: false, wake: () => {} };
      const reader = await join(follower);
      follower.rows = []; // earlier events are before its place
      return {
        from: reader.place,
        async take(withinMs, signal) {
          await waitFor(follower, withinMs, [signal, ending.signal]);
          return follower.behind ? undefined : follower.rows.splice(0);
        },
        closing: ending.signal,
        close: () => void followers.delete(follower),
      };
    },
    closing: ending.signal,
    close: () => ending.abort(),
  };
};
