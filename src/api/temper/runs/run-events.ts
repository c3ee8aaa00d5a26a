/** Event stream of a run, with resumption. It ends with the run. */

import { seesBmcRule } from '../../../admission/bmc-texts';
import { eventView } from '../../../admission/events';
import type { SeenEvent } from '../../../inventory/event-pages';
import { type FeedPlace, feedStart } from '../../../inventory/feed';
import type { ApiContext } from '../../context';
import { type ApiRequest, noContent, route } from '../../server/route';
import { type EventFollowing, eventStream, placeAfter, undefinedIf } from '../events/event-following';
import { sseText } from '../events/event-texts';
import { visibleRun } from './runs';

const handler = async (request: ApiRequest<{ run: string }, unknown, unknown>, ctx: ApiContext) => {
  const first = await visibleRun(ctx, request.who, request.params.run);
  const { id } = first.run;
  let ended = first.run.finished_at !== null;
  const concerns = ({ run_id }: SeenEvent): boolean => run_id === id;
  const isOver = async (place: FeedPlace): Promise<boolean> =>
    ended && !(await ctx.inventory.allEvents.follow({ run: id }, place));
  const reason = 'is no event of this run; leave it out to get all events';
  const after = (await placeAfter(ctx, request.header('last-event-id'), concerns, reason)) ?? feedStart;
  // EventSource clients stop reconnecting on a 204.
  if (await isOver(after)) return noContent();
  const following: EventFollowing = {
    concerns,
    missed: ([place], limit) => ctx.inventory.allEvents.after(place, limit, { run: id }),
    async texts(who, rows) {
      const seen = await visibleRun(ctx, who, id).catch(undefinedIf('RunNotFound'));
      if (!seen) return undefined;
      ended = seen.run.finished_at !== null;
      return rows.map((row) => sseText(eventView(ctx.policy(), who, row)));
    },
    isOver,
  };
  return eventStream(request, ctx, following, after);
};

export const runEventRoutes = [
  route({
    method: 'GET',
    path: '/temper/v1/runs/:run/events',
    answers: { 200: 'text/event-stream', 204: null },
    rules: ['temper:run:get', seesBmcRule],
    handler,
  }),
];
