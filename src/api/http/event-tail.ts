/** The newest events for all streams of a process: one reader, however many streams there are, and none without any. */
import { setMaxListeners } from 'node:events';
import type { Inventory } from '../../inventory';
import type { SeenEvent } from '../../inventory/event-pages';
import type { FeedPlace } from '../../inventory/feed';
import type { ErrorLog } from '../../model/log';
import { pause } from '../../model/passes';

const eventsAtOnce = 500;
// Where something has happened more follows: read soon again, and ever later while nothing comes.
const readSoonMs = 100;
const readLatestMs = 400;
/** Of one stream, of what it asked for; a client that does not read so many is behind, and connects again. */
const mostKept = 5_000;

/** Whether an event is of what a stream asked for. */
type Concerns = (event: SeenEvent) => boolean;

export type Tailing = {
  /** The place from which on events come. */
  readonly from: FeedPlace;
  /** What has come meanwhile, in order; waits for some, at most so long. Undefined once the client is too far behind. */
  take(withinMs: number, signal: AbortSignal): Promise<readonly SeenEvent[] | undefined>;
  close(): void;
};

export type EventTail = {
  /** Events that do not concern a stream neither wake it nor are kept for it. */
  open(concerns: Concerns): Promise<Tailing>;
  /** Calls `wake` whenever such an event has come, and keeps none. @returns what ends that */
  watch(concerns: Concerns, wake: () => void): Promise<() => void>;
  close(): void;
};

/** `place` is that of the last event that all streams were given. */
type TailReader = { place: FeedPlace };

/** `give` gets the events of one read, all of which concern it, and at least one. */
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
  if (kept.behind) kept.rows = []; // it is cut off, and reads them after it has connected again
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
      await pause(waitMs, ending.signal);
    }
    current = undefined;
  };

  const begin = async (): Promise<TailReader> => {
    const reader: TailReader = { place: await inventory.allEvents.end() };
    void read(reader);
    return reader;
  };

  /** Among the followers before the reader is asked, so that it neither ends meanwhile nor leaves an event out. */
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
      kept.rows = []; // what came until now is before its place
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
