/** Event stream of a rollout, with resumption. It ends with the rollout's work. */
import type { SeenEvent } from '../../../inventory/event-pages';
import { type FeedPlace, feedStart } from '../../../inventory/feed';
import type { Caller } from '../../../model/access/callers';
import { isTemperError, raise } from '../../../model/errors';
import type { RolloutUuid } from '../../../model/ids';
import { matches } from '../../../model/predicates';
import { kindsWith } from '../../../model/resources/event-kinds';
import { endedRollouts, type TargetState } from '../../../model/rollouts/states';
import type { ApiContext } from '../../context';
import { seesBmcRule } from '../../resource/bmc-texts';
import { type Answer, type ApiRequest, noContent, type Route, route } from '../../server/route';
import { openerOf } from '../../streams/event-streams';
import { eventView, ofTargets } from '../events/all-events';
import { type EventFollowing, followEvents } from '../events/event-following';
import { sseText } from '../events/event-texts';
import { type OfRollout, rolloutPath } from './rollouts';
import { rolloutRules, type SeenRollout, visibleRollout } from './views';

/** Kinds about the whole rollout that a node's tenant sees, without their data. */
const stateKinds = kindsWith('state');

const partOf = (ctx: ApiContext, who: Caller, { rows }: SeenRollout, event: SeenEvent) => {
  const { kind, node_uuid, now_owner, now_lessee, target_owner, target_lessee } = event;
  if (node_uuid === null)
    return stateKinds.includes(kind) ? [{ ...eventView(ctx.policy(), who, event), data: {} }] : [];
  const own =
    matches(rows.own, { owner: target_owner, lessee: target_lessee }) &&
    matches(rows.visible, { owner: now_owner, lessee: now_lessee });
  return own ? [eventView(ctx.policy(), who, event)] : [];
};

const textsOf =
  (ctx: ApiContext, id: RolloutUuid): EventFollowing['texts'] =>
  async (who, rows) => {
    const seen = await visibleRollout(ctx, who, id).catch((thrown) =>
      isTemperError(thrown, 'RolloutNotFound') ? undefined : Promise.reject(thrown),
    );
    if (!seen) return undefined;
    const views = rows.flatMap((row) =>
      seen.whole ? [eventView(ctx.policy(), who, row)] : partOf(ctx, who, seen, row),
    );
    return views.map(sseText);
  };

const underWay: readonly TargetState[] = ['admitted', 'soaking', 'parked'];

const worksOnSeen = async ({ inventory }: ApiContext, { row, whole, rows }: SeenRollout): Promise<boolean> => {
  if (whole) return (await inventory.rollouts.counts(row.id)).some(({ state }) => underWay.includes(state));
  for (const state of underWay)
    if ((await inventory.rolloutTargets.list(row.id, { ...rows, state, limit: 1 })).length > 0) return true;
  return false;
};

/**
 * True if the rollout and its work have ended and `place` is the last event. Only what the caller sees counts: otherwise the wait would
 * reveal other nodes.
 */
const isOver = async (ctx: ApiContext, who: Caller, seen: SeenRollout, place: FeedPlace): Promise<boolean> => {
  const { id } = seen.row;
  const row = await ctx.inventory.rollouts.find(id);
  if (row && !endedRollouts.includes(row.state)) return false;
  if (await worksOnSeen(ctx, seen)) return false;
  const part = seen.whole ? undefined : { kinds: stateKinds, ofTargets: ofTargets(ctx.policy(), who) };
  return !(await ctx.inventory.allEvents.follow(id, place, part));
};

/**
 * The place of Last-Event-ID, which browsers send on reconnect. Hidden events count as missing: existing ones would reveal the number of
 * nodes. Throws InvalidInput.
 */
const placeAfter = async (
  ctx: ApiContext,
  who: Caller,
  seen: SeenRollout,
  last: string | undefined,
): Promise<FeedPlace> => {
  if (last === undefined || last === '') return feedStart;
  const event = /^\d{1,15}$/.test(last)
    ? await ctx.inventory.allEvents.ofRollout(seen.row.id, Number(last))
    : undefined;
  if (event && (seen.whole || partOf(ctx, who, seen, event).length > 0)) return { tx: event.tx, seq: event.seq };
  const reason = 'is no event of this rollout; leave it out to get all events';
  return raise('InvalidInput', { field: 'Last-Event-ID', reason });
};

const handler = async (request: ApiRequest<OfRollout, unknown, unknown>, ctx: ApiContext): Promise<Answer> => {
  const { who } = request;
  const seen = await visibleRollout(ctx, who, request.params.rollout);
  const { id } = seen.row;
  const after = await placeAfter(ctx, who, seen, request.header('last-event-id'));
  // EventSource clients stop reconnecting on a 204.
  if (await isOver(ctx, who, seen, after)) return noContent();
  const subscription = await ctx.streams.open(null, openerOf(who));
  const concerns = ({ rollout_id }: SeenEvent): boolean => rollout_id === id;
  const tailing = await ctx.streams.tail.open(concerns).catch(async (thrown) => {
    await subscription.close();
    throw thrown;
  });
  const following: EventFollowing = {
    concerns,
    missed: (place, limit) => ctx.inventory.allEvents.after(place, limit, id),
    again: request.again,
    texts: textsOf(ctx, id),
    tailing,
    closing: subscription.closing,
    isOver: (place) => isOver(ctx, who, seen, place),
  };
  const stop = async (): Promise<void> => {
    tailing.close();
    await subscription.close();
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
