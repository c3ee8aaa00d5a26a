/** Event stream of a run, with resumption. It ends with the run. */
import { type FeedEvent, type FeedPlace, feedStart } from '../../../inventory/feed';
import type { RunRow } from '../../../inventory/runs/runs';
import type { Caller } from '../../../model/access/callers';
import { maskSecrets } from '../../../model/access/secrets';
import { isTemperError, raise } from '../../../model/errors';
import type { RunUuid } from '../../../model/ids';
import { kindsWith } from '../../../model/resources/event-kinds';
import type { ApiContext } from '../../context';
import { type BmcText, bmcTextFor, bmcTextsIn, seesBmcRule } from '../../resource/bmc-texts';
import { type Answer, type ApiRequest, noContent, route } from '../../server/route';
import { openerOf, type Subscription } from '../../streams/event-streams';
import type { Sink } from '../../streams/sse';
import { visibleRun } from './runs';

const eventsAtOnce = 200;
/**
 * Wait for an older open transaction, usually short. During long ones such as CREATE INDEX, the wait grows; the event tail wakes the
 * streams afterwards.
 */
const unsettledMs = 50;
const unsettledMostMs = 2_000;
/** Proxies commonly close a connection after half a minute of silence. */
export const keepAliveMs = 15_000;

/** Time until a stream must write again, at least 1 ms. */
export const untilKeepAlive = (spoke: number): number => Math.max(1, spoke + keepAliveMs - performance.now());

const endKinds = kindsWith('ends');

const runEventView = ({ seq, at, kind, node_uuid, run_id, data }: FeedEvent, text: BmcText) => ({
  seq,
  at: at.toISOString(),
  kind,
  node_uuid,
  run_uuid: run_id,
  data: bmcTextsIn(maskSecrets(data), text),
});

const sseOfEvent = (event: FeedEvent, text: BmcText): string =>
  `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(runEventView(event, text))}\n\n`;

type RunEventObserved = { readonly run: RunRow; readonly text: BmcText };

/** Undefined if the caller may no longer see the run or is no longer authenticated. */
const stillSeen = async (
  ctx: ApiContext,
  again: () => Promise<Caller>,
  id: RunUuid,
): Promise<RunEventObserved | undefined> => {
  try {
    const who = await again();
    const { run, node } = await visibleRun(ctx, who, id);
    return { run, text: bmcTextFor(ctx.policy(), who, node) };
  } catch (thrown) {
    if (isTemperError(thrown, 'RunNotFound') || isTemperError(thrown, 'Unauthenticated')) return undefined;
    throw thrown;
  }
};

type Following = {
  readonly run: RunUuid;
  readonly after: FeedPlace;
  readonly again: () => Promise<Caller>;
  readonly subscription: Subscription;
};

/** Ends with the run, the caller's permission, the connection or the API. */
const streamRun = async (
  ctx: ApiContext,
  { run, after, again, subscription }: Following,
  sink: Sink,
): Promise<void> => {
  let place = after;
  let spoke = performance.now();
  let waitMs = unsettledMs;
  await sink.write('retry: 2000\n\n');
  while (!sink.signal.aborted && !subscription.closing.aborted) {
    const { rows, unsettled } = await ctx.inventory.feed.ofRun(run, place, eventsAtOnce);
    const silent = performance.now() - spoke >= keepAliveMs;
    if (rows.length > 0 || silent) {
      const seen = await stillSeen(ctx, again, run);
      if (!seen) return;
      await sink.write(rows.length > 0 ? rows.map((row) => sseOfEvent(row, seen.text)).join('') : ': keep-alive\n\n');
      spoke = performance.now();
      place = rows.at(-1) ?? place;
      if (rows.some(({ kind }) => endKinds.includes(kind)) || (silent && !unsettled && over(seen.run, rows))) return;
    }
    if (rows.length < eventsAtOnce) await subscription.news(unsettled ? waitMs : untilKeepAlive(spoke), sink.signal);
    waitMs = unsettled && rows.length === 0 ? Math.min(waitMs * 2, unsettledMostMs) : unsettledMs;
  }
};

/** A run may have ended before the client's place. */
const over = (run: RunRow, rows: readonly FeedEvent[]): boolean => run.finished_at !== null && rows.length === 0;

/** The place of Last-Event-ID, which browsers send on reconnect. Throws InvalidInput. */
const placeAfter = async (ctx: ApiContext, run: RunUuid, last: string | undefined): Promise<FeedPlace> => {
  if (last === undefined || last === '') return feedStart;
  const place = /^\d{1,15}$/.test(last) ? await ctx.inventory.feed.placeOf(run, Number(last)) : undefined;
  return (
    place ??
    raise('InvalidInput', { field: 'Last-Event-ID', reason: 'is no event of this run; leave it out to get all events' })
  );
};

const handler = async (request: ApiRequest<{ run: string }, unknown, unknown>, ctx: ApiContext): Promise<Answer> => {
  const { run } = await visibleRun(ctx, request.who, request.params.run);
  const after = await placeAfter(ctx, run.id, request.header('last-event-id'));
  const waiting = await ctx.inventory.feed.ofRun(run.id, after, 1);
  // EventSource clients stop reconnecting on a 204.
  if (run.finished_at && waiting.rows.length === 0 && !waiting.unsettled) return noContent();
  const subscription = await ctx.streams.open(run.id, openerOf(request.who));
  const following = { run: run.id, after, again: request.again, subscription };
  return { status: 200, stream: (sink) => streamRun(ctx, following, sink).finally(() => subscription.close()) };
};

export const runEventRoutes = [
  route<{ run: string }>({
    method: 'GET',
    path: '/temper/v1/runs/:run/events',
    answers: { 200: 'text/event-stream', 204: null },
    rules: ['temper:run:get', seesBmcRule],
    handler,
  }),
];
