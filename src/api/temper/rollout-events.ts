/** The events of a rollout as they happen: server-sent events that resume where a client left off and end when nothing more can come. */
import type { SeenEvent } from '../../inventory/all-events';
import { type FeedPlace, feedStart } from '../../inventory/feed';
import { type Caller, quotaProject } from '../../model/access/callers';
import { isTemperError, raise } from '../../model/errors';
import type { RolloutUuid } from '../../model/ids';
import { matches } from '../../model/predicates';
import { endedRollouts } from '../../model/rollouts/states';
import type { ApiContext } from '../context';
import { type Answer, type ApiRequest, noContent, type Route, route } from '../http/route';
import { seesBmcRule } from '../resource/bmc-texts';
import { eventView } from './all-events';
import { type EventFollowing, followEvents } from './event-following';
import { rolloutRules, type SeenRollout, visibleRollout } from './rollout-views';
import { type OfRollout, rolloutPath } from './rollouts';
import { callerKey } from './run-events';

/** What a tenant of a node sees of the whole: its state, as a look at the rollout shows it, without why. */
const stateKinds: readonly string[] = [
  'started',
  'paused',
  'resumed',
  'aborted',
  'stopped',
  'succeeded',
  'expired',
].map((state) => `rollout.${state}`);

const partOf = (ctx: ApiContext, who: Caller, { rows }: SeenRollout, event: SeenEvent) => {
  const { kind, node_uuid, now_owner, now_lessee, target_owner, target_lessee } = event;
  if (node_uuid === null) return stateKinds.includes(kind) ? [{ ...eventView(ctx, who, event), data: {} }] : [];
  const own =
    matches(rows.own, { owner: target_owner, lessee: target_lessee }) &&
    matches(rows.visible, { owner: now_owner, lessee: now_lessee });
  return own ? [eventView(ctx, who, event)] : [];
};

const viewsOf =
  (ctx: ApiContext, id: RolloutUuid): EventFollowing['views'] =>
  async (who, rows) => {
    const seen = await visibleRollout(ctx, who, id).catch((thrown) =>
      isTemperError(thrown, 'RolloutNotFound') ? undefined : Promise.reject(thrown),
    );
    if (!seen) return undefined;
    return rows.flatMap((row) => (seen.whole ? [eventView(ctx, who, row)] : partOf(ctx, who, seen, row)));
  };

const underWay: readonly string[] = ['admitted', 'soaking', 'parked'];

/** Whether a rollout has ended with all that it began, and the place is that of its last event. */
const isOver = async ({ inventory }: ApiContext, id: RolloutUuid, place: FeedPlace): Promise<boolean> => {
  const row = await inventory.rollouts.find(id);
  if (row && !endedRollouts.includes(row.state)) return false;
  const counts = await inventory.rollouts.counts(id);
  if (counts.some(({ state }) => underWay.includes(state))) return false;
  return !(await inventory.allEvents.follow(id, place));
};

/** Where the client left off: the header that browsers send by themselves. Throws InvalidInput. */
const placeAfter = async (ctx: ApiContext, id: RolloutUuid, last: string | undefined): Promise<FeedPlace> => {
  if (last === undefined || last === '') return feedStart;
  const place = /^\d{1,15}$/.test(last) ? await ctx.inventory.allEvents.placeOf(Number(last), id) : undefined;
  const reason = 'is no event of this rollout; leave it out to get all events';
  return place ?? raise('InvalidInput', { field: 'Last-Event-ID', reason });
};

const handler = async (request: ApiRequest<OfRollout, unknown, unknown>, ctx: ApiContext): Promise<Answer> => {
  const { id } = (await visibleRollout(ctx, request.who, request.params.rollout)).row;
  const after = await placeAfter(ctx, id, request.header('last-event-id'));
  // To a client that reconnects by itself, 204 means that nothing will come any more.
  if (await isOver(ctx, id, after)) return noContent();
  const ear = await ctx.streams.open(null, callerKey(request.who), quotaProject(request.who));
  const tailing = await ctx.streams.tail.open().catch(async (thrown) => {
    await ear.close();
    throw thrown;
  });
  const following: EventFollowing = {
    concerns: ({ rollout_id }) => rollout_id === id,
    missed: (place, limit) => ctx.inventory.allEvents.after(place, limit, id),
    again: request.again,
    views: viewsOf(ctx, id),
    tailing,
    closing: ear.closing,
    isOver: (place) => isOver(ctx, id, place),
  };
  const stop = async (): Promise<void> => {
    tailing.close();
    await ear.close();
  };
  return { status: 200, stream: (sink) => followEvents(following, after, sink).finally(stop) };
};

export const rolloutEventRoutes: Route[] = [
  route<OfRollout>({
    method: 'GET',
    path: `${rolloutPath}/events`,
    answers: { 200: 'text/event-stream', 204: null },
    rules: [rolloutRules.get, rolloutRules.own, rolloutRules.node, seesBmcRule],
    handler,
  }),
];
