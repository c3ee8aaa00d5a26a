/** Events of all as they happen, for one client: what it has missed, then what comes, as much of it as the caller may see by then. */
import type { SeenEvent } from '../../inventory/event-pages';
import type { FeedPlace } from '../../inventory/feed';
import type { Caller } from '../../model/access/callers';
import { isTemperError } from '../../model/errors';
import type { Tailing } from '../http/event-tail';
import type { Sink } from '../http/sse';
import { keepAliveMs, untilKeepAlive } from './run-events';

export type EventFollowing = {
  /** Whether an event is of what the client asked for, and of what the caller might see when it was last known. */
  readonly concerns: (event: SeenEvent) => boolean;
  /** The events after a place, in order, as far as they can be placed; none are read for a client that has left. */
  readonly missed: (after: FeedPlace, limit: number, leaving: AbortSignal) => Promise<readonly SeenEvent[]>;
  readonly again: () => Promise<Caller>;
  /** Those of the events that the caller may see now, as they are written to it; undefined where it may see nothing of this stream any more. */
  readonly texts: (who: Caller, rows: readonly SeenEvent[]) => Promise<readonly string[] | undefined>;
  /** Opened for what concerns this stream alone. */
  readonly tailing: Tailing;
  readonly closing: AbortSignal;
  /** Whether nothing can come after this place any more. */
  readonly isOver?: (place: FeedPlace) => Promise<boolean>;
};

const missedPage = 200;

/** Who the caller is now; undefined once it is not known any more. */
const stillKnown = (again: () => Promise<Caller>): Promise<Caller | undefined> =>
  again().catch((thrown) => (isTemperError(thrown, 'Unauthenticated') ? undefined : Promise.reject(thrown)));

const isBefore = (one: FeedPlace, other: FeedPlace): boolean => {
  const [tx, otherTx] = [BigInt(one.tx), BigInt(other.tx)];
  return tx < otherTx || (tx === otherTx && one.seq <= other.seq);
};

/** A comment, which no client takes for an event. */
const tooSlow = ': ended, for this client reads more slowly than events come; connect again with Last-Event-ID\n\n';

const keepAlive = ': keep-alive\n\n';

type Sent = 'gone' | 'nothing' | 'something';

const send = async ({ again, texts }: EventFollowing, rows: readonly SeenEvent[], sink: Sink): Promise<Sent> => {
  const who = await stillKnown(again);
  const shown = who && (await texts(who, rows));
  if (!shown) return 'gone';
  if (shown.length > 0) await sink.write(shown.join(''));
  return shown.length > 0 ? 'something' : 'nothing';
};

/**
 * What came after the place where the client left off, until where the stream begins. That may be very much of which the caller may
 * see nothing: a sign of life keeps proxies from closing a stream that would begin at the same place again. @returns the place; undefined for a caller who is gone */
const sendMissed = async (following: EventFollowing, after: FeedPlace, sink: Sink): Promise<FeedPlace | undefined> => {
  let spoke = performance.now();
  for (let place = after; !sink.signal.aborted; ) {
    const rows = await following.missed(place, missedPage, sink.signal);
    const missed = rows.filter((row) => isBefore(row, following.tailing.from));
    const sent = await send(following, missed.filter(following.concerns), sink);
    if (sent === 'gone') return undefined;
    const silent = performance.now() - spoke >= keepAliveMs;
    if (sent === 'nothing' && silent) await sink.write(keepAlive);
    if (sent === 'something' || silent) spoke = performance.now();
    place = missed.at(-1) ?? place;
    if (missed.length < missedPage) return place;
  }
  return undefined;
};

/** Writes what comes, with a sign of life where nothing does. */
const followTail = async (following: EventFollowing, after: FeedPlace | undefined, sink: Sink): Promise<void> => {
  const { tailing, closing, isOver } = following;
  let place = after;
  let spoke = performance.now();
  let checked = false;
  while (!sink.signal.aborted && !closing.aborted) {
    if (place && !checked && (await isOver?.(place))) return;
    checked = true;
    const rows = await tailing.take(untilKeepAlive(spoke), sink.signal);
    if (rows === undefined) return sink.write(tooSlow);
    const silent = performance.now() - spoke >= keepAliveMs;
    // The reader may be behind where this client left off.
    const since = place;
    const concerned = rows.filter((row) => !(since && isBefore(row, since)));
    if (concerned.length === 0 && !silent) continue;
    const sent = await send(following, concerned, sink);
    if (sent === 'gone') return;
    if (sent === 'nothing' && silent) await sink.write(keepAlive);
    if (sent === 'something' || silent) spoke = performance.now();
    place = concerned.at(-1) ?? place;
    checked = false;
  }
};

/**
 * Writes events until the client leaves or is too far behind, the API ends, the caller may see them no longer, or nothing more can come.
 * @param after where the client left off; undefined begins now
 */
export const followEvents = async (
  following: EventFollowing,
  after: FeedPlace | undefined,
  sink: Sink,
): Promise<void> => {
  await sink.write('retry: 2000\n\n');
  const place = after && (await sendMissed(following, after, sink));
  if (after && !place) return;
  await followTail(following, place, sink);
};
