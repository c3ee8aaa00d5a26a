/** Progress of a rollout: parts of its nodes, the time left, and why it is not faster. */
import type { RolloutRow } from '../../../inventory/rollouts/rollouts';
import { lastByItself, progressOf, type Slowing } from '../../../model/rollouts/progress';
import * as shapes from '../../../wire/rollouts';
import type { ApiContext } from '../../context';
import { isoTime } from '../../resource/times';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { type OfRollout, rolloutPath } from './rollouts';
import { rolloutRules, wholeRollout } from './views';

const progressFacts = async ({ inventory }: Pick<ApiContext, 'inventory'>, { id, state, reason, wave }: RolloutRow) => {
  const { rollouts, rolloutProgress } = inventory;
  const waves = await rollouts.waves(id);
  const [bounds, counts, work, waiting] = await Promise.all([
    rollouts.counters(id),
    rollouts.counts(id),
    rolloutProgress.workLeft(id, lastByItself({ wave, waves })),
    rolloutProgress.waiting(id, wave),
  ]);
  return { state, reason, wave, waves, bounds, counts, work, waiting };
};

const slowingView = ({ until, ...slowing }: Slowing) => ({ ...slowing, until: isoTime(until) });

const showProgress = async ({ who, params }: ApiRequest<OfRollout, unknown, unknown>, ctx: ApiContext) => {
  const row = await wholeRollout(ctx, who, params.rollout);
  const { slowed_by, ...progress } = progressOf(await progressFacts(ctx, row));
  return ok({ uuid: row.id, state: row.state, ...progress, slowed_by: slowed_by.map(slowingView) });
};

export const rolloutProgressRoutes: Route[] = [
  route({
    method: 'GET',
    path: `${rolloutPath}/progress`,
    answers: { 200: shapes.rolloutProgress },
    rules: [rolloutRules.get, rolloutRules.own, rolloutRules.node],
    handler: showProgress,
  }),
];
