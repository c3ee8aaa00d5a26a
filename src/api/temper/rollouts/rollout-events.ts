/** Event stream of a rollout, with resumption. It ends with the rollout's work. */

import { seesBmcRule } from '../../../admission/bmc-texts';
import { eventView } from '../../../admission/events';
import type { SeenEvent } from '../../../inventory/event-pages';
import { type FeedPlace, feedStart } from '../../../inventory/feed';
import type { Caller } from '../../../model/access/callers';
import type { RolloutUuid } from '../../../model/ids';
import { matches } from '../../../model/predicates';
import { kindsWith } from '../../../model/resources/event-kinds';
import { endedRollouts, type TargetState } from '../../../model/rollouts/states';
import type { ApiContext } from '../../context';
import { type ApiRequest, noContent, type Route, route } from '../../server/route';
import { ofTargets } from '../events/all-events';
import { type EventFollowing, eventStream, placeAfter, undefinedIf } from '../events/event-following';
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
    const seen = await visibleRollout(ctx, who, id).catch(undefinedIf('RolloutNotFound'));
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
  return !(await ctx.inventory.allEvents.follow({ rollout: id }, place, part));
};

const handler = async (request: ApiRequest<OfRollout, unknown, unknown>, ctx: ApiContext) => {
  const { who } = request;
  const seen = await visibleRollout(ctx, who, request.params.rollout);
  const { id } = seen.row;
  const concerns = ({ rollout_id }: SeenEvent): boolean => rollout_id === id;
  const shows = (event: SeenEvent): boolean =>
    concerns(event) && (seen.whole || partOf(ctx, who, seen, event).length > 0);
  const last = request.header('last-event-id');
  const reason = 'is no event of this rollout; leave it out to get all events';
  const after = (await placeAfter(ctx, last, shows, reason)) ?? feedStart;
  // EventSource clients stop reconnecting on a 204.
  if (await isOver(ctx, who, seen, after)) return noContent();
  const following: EventFollowing = {
    concerns,
    missed: ([place], limit) => ctx.inventory.allEvents.after(place, limit, { rollout: id }),
    texts: textsOf(ctx, id),
    isOver: (place) => isOver(ctx, who, seen, place),
  };
  return eventStream(request, ctx, following, after);
};

export const rolloutEventRoutes: Route[] = [
  route({
    method: 'GET',
    path: `${rolloutPath}/events`,
    answers: { 200: 'text/event-stream', 204: null },
    rules: [rolloutRules.get, rolloutRules.own, rolloutRules.node, seesBmcRule],
    handler,
  }),
];
