/** The newest events for all streams of a process: one reader, however many streams there are, and none without any. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Inventory } from '../../inventory';
import type { SeenEvent } from '../../inventory/all-events';
import type { FeedPlace } from '../../inventory/feed';
import type { ErrorLog } from '../../model/log';

const eventsAtOnce = 500;
// Where something has happened more follows: read soon again, and ever later while nothing comes.
const readSoonMs = 100;
const readLatestMs = 400;
/** Of one stream; a client that does not read so many is behind, and connects again. */
const mostKept = 5_000;

export type Tailing = {
  /** The place from which on events come. */
  readonly from: FeedPlace;
  /** What has come meanwhile, in order; waits for some, at most so long. Undefined once the client is too far behind. */
  take(withinMs: number, signal: AbortSignal): Promise<readonly SeenEvent[] | undefined>;
  close(): void;
};

export type EventTail = {
  open(): Promise<Tailing>;
  close(): void;
};

/** `place` is that of the last event that all streams were given. */
type TailReader = { place: FeedPlace };

type Follower = { rows: SeenEvent[]; behind: boolean; wake: () => void };

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
    follower.rows.push(...rows);
    follower.behind ||= follower.rows.length > mostKept;
    follower.wake();
  }
};

export const createEventTail = ({ inventory, log }: { inventory: Inventory; log: ErrorLog }): EventTail => {
  const followers = new Set<Follower>();
  const ending = new AbortController();
  /** The one that reads, or is about to; none without a stream. */
  let current: Promise<TailReader> | undefined;

  /** Reads until no stream is left. A store that does not answer is asked again. */
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
      await sleep(waitMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
    current = undefined;
  };

  const begin = async (): Promise<TailReader> => {
    const reader: TailReader = { place: await inventory.allEvents.end() };
    void read(reader);
    return reader;
  };

  return {
    async open() {
      // Among them before the reader is asked, so that it neither ends meanwhile nor leaves an event out.
      const follower: Follower = { rows: [], behind: false, wake: () => {} };
      followers.add(follower);
      current ??= begin();
      const reader = await current.catch((thrown) => {
        followers.delete(follower);
        current = undefined;
        throw thrown;
      });
      follower.rows = []; // what came until now is before its place
      return {
        from: reader.place,
        async take(withinMs, signal) {
          await waitFor(follower, withinMs, [signal, ending.signal]);
          if (follower.behind) return undefined;
          return follower.rows.splice(0);
        },
        close: () => void followers.delete(follower),
      };
    },
    close: () => ending.abort(),
  };
};
