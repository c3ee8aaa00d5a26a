/** Event stream of one client: missed events, then new ones, filtered by the caller's present rights. */
import type { SeenEvent } from '../../../inventory/event-pages';
import type { FeedPlace } from '../../../inventory/feed';
import type { Caller } from '../../../model/access/callers';
import { type ErrorCode, isTemperError, raise } from '../../../model/errors';
import type { ApiContext } from '../../context';
import type { Answer, ApiRequest } from '../../server/route';
import { openerOf } from '../../streams/event-streams';
import type { Concerns, Tailing } from '../../streams/event-tail';
import type { Sink } from '../../streams/sse';

/** Proxies commonly close a connection after half a minute of silence. */
export const keepAliveMs = 15_000;

/** Time until a stream must write again, at least 1 ms. */
export const untilKeepAlive = (spoke: number): number => Math.max(1, spoke + keepAliveMs - performance.now());

export type EventFollowing = {
  /** The event matches the query and was visible at the last check. */
  readonly concerns: Concerns;
  /** Events in feed order, after one place and up to another at least; none once the client has left. */
  readonly missed: (between: Between, limit: number, leaving: AbortSignal) => Promise<readonly SeenEvent[]>;
  /** Texts of the events that the caller may see; undefined once it may see nothing of this stream. */
  readonly texts: (who: Caller, rows: readonly SeenEvent[]) => Promise<readonly string[] | undefined>;
  /** No event can follow this place. */
  readonly isOver?: (place: FeedPlace) => Promise<boolean>;
};

type Between = readonly [after: FeedPlace, upTo: FeedPlace];

type Open = EventFollowing & { readonly tailing: Tailing; readonly again: () => Promise<Caller> };

const missedPage = 200;

/** For a rejected promise: this error becomes undefined. */
export const undefinedIf =
  (code: ErrorCode) =>
  (thrown: unknown): undefined => {
    if (!isTemperError(thrown, code)) throw thrown;
  };

const isBefore = (one: FeedPlace, other: FeedPlace): boolean => {
  const [tx, otherTx] = [BigInt(one.tx), BigInt(other.tx)];
  return tx < otherTx || (tx === otherTx && one.seq <= other.seq);
};

/** An SSE comment, which clients ignore. */
const tooSlow = ': ended, for this client reads more slowly than events come; connect again with Last-Event-ID\n\n';

const keepAlive = ': keep-alive\n\n';

type Delivery = 'gone' | 'nothing' | 'something';

const send = async ({ again, texts }: Open, rows: readonly SeenEvent[], sink: Sink): Promise<Delivery> => {
  const who = await again().catch(undefinedIf('Unauthenticated'));
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
const sendMissed = async (following: Open, after: FeedPlace, sink: Sink): Promise<FeedPlace | undefined> => {
  const { from } = following.tailing;
  let spoke = performance.now();
  for (let place = after; !sink.signal.aborted; ) {
    const rows = await following.missed([place, from], missedPage, sink.signal);
    const missed = rows.filter((row) => isBefore(row, from));
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
const followTail = async (following: Open, after: FeedPlace | undefined, sink: Sink): Promise<void> => {
  const { tailing, isOver } = following;
  let place = after;
  let spoke = performance.now();
  let checked = false;
  while (!sink.signal.aborted && !tailing.closing.aborted) {
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
export const followEvents = async (following: Open, after: FeedPlace | undefined, sink: Sink): Promise<void> => {
  await sink.write('retry: 2000\n\n');
  const place = after && (await sendMissed(following, after, sink));
  if (after && !place) return;
  await followTail(following, place, sink);
};

/** Throws TooManyStreams, QuotaExceeded. @param after as in `followEvents` */
export const eventStream = async (
  { who, again }: Pick<ApiRequest<unknown, unknown, unknown>, 'who' | 'again'>,
  ctx: ApiContext,
  following: EventFollowing,
  after: FeedPlace | undefined,
): Promise<Answer<never>> => {
  const tailing = await ctx.streams.open(openerOf(who), following.concerns);
  const open = { ...following, tailing, again };
  return { status: 200, stream: (sink) => followEvents(open, after, sink).finally(tailing.close) };
};

/**
 * The place of Last-Event-ID, which browsers send on reconnect. Hidden events count as missing: sequence numbers are global, so existing
 * ones would reveal activity on other nodes. Throws InvalidInput.
 */
export const placeAfter = async (
  { inventory }: ApiContext,
  last: string | undefined,
  shows: Concerns,
  reason: string,
): Promise<FeedPlace | undefined> => {
  if (last === undefined || last === '') return undefined;
  const event = /^\d{1,15}$/.test(last) ? await inventory.allEvents.find(Number(last)) : undefined;
  if (event && shows(event)) return { tx: event.tx, seq: event.seq };
  return raise('InvalidInput', { field: 'Last-Event-ID', reason });
};
