/** Event stream of one client: missed events, then new ones, filtered by the caller's present rights. */
import type { SeenEvent } from '../../../inventory/event-pages';
import type { FeedPlace } from '../../../inventory/feed';
import type { Caller } from '../../../model/access/callers';
import { isTemperError } from '../../../model/errors';
import type { Tailing } from '../../streams/event-tail';
import type { Sink } from '../../streams/sse';
import { keepAliveMs, untilKeepAlive } from '../runs/run-events';

export type EventFollowing = {
  /** The event matches the query and was visible at the last check. */
  readonly concerns: (event: SeenEvent) => boolean;
  /** Events after a place, in feed order; none once the client has left. */
  readonly missed: (after: FeedPlace, limit: number, leaving: AbortSignal) => Promise<readonly SeenEvent[]>;
  readonly again: () => Promise<Caller>;
  /** Texts of the events that the caller may see; undefined once it may see nothing of this stream. */
  readonly texts: (who: Caller, rows: readonly SeenEvent[]) => Promise<readonly string[] | undefined>;
  /** Opened with `concerns` of this stream. */
  readonly tailing: Tailing;
  readonly closing: AbortSignal;
  /** No event can follow this place. */
  readonly isOver?: (place: FeedPlace) => Promise<boolean>;
};

const missedPage = 200;

/** Undefined once the caller is no longer authenticated. */
const stillKnown = (again: () => Promise<Caller>): Promise<Caller | undefined> =>
  again().catch((thrown) => (isTemperError(thrown, 'Unauthenticated') ? undefined : Promise.reject(thrown)));

const isBefore = (one: FeedPlace, other: FeedPlace): boolean => {
  const [tx, otherTx] = [BigInt(one.tx), BigInt(other.tx)];
  return tx < otherTx || (tx === otherTx && one.seq <= other.seq);
};

/** An SSE comment, which clients ignore. */
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
 * Sends the events up to the stream's start. If the caller may see none of many, keep-alives prevent proxies from closing the stream: the
 * client would resume at the same place.
 * @returns the place; undefined for a caller who is gone
 */
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

/** Writes new events, with keep-alives in between. */
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
    // The reader may be behind the client's place.
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
 * Ends if the client leaves or is too slow, the API closes, the caller loses its permission, or no event can follow.
 * @param after the client's last place; undefined starts now
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
