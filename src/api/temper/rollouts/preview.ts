/** A plan of a rollout that is shown and not stored. */

import { requesterOf } from '../../../admission/requester';
import type { Counter } from '../../../model/rollouts/layout';
import * as shapes from '../../../wire/rollouts';
import type { ApiContext } from '../../context';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { type RolloutBody, rolloutBody, specOf } from './body';
import { planningRules, planRollout, planRule } from './planning';
import { rolloutsPath } from './rollouts';
import { targetOf } from './views';

/** Most nodes that the bounds of the whole rollout let work at the same time; null without a bound. */
const atOnceOf = (counters: readonly Counter[]): number | null => {
  const total = counters.find(({ scope }) => scope === 'total');
  const bounds = [total?.budget, total?.most].filter((bound) => typeof bound === 'number');
  return bounds.length === 0 ? null : Math.min(...bounds);
};

const preview = async (request: ApiRequest<unknown, unknown, RolloutBody>, ctx: ApiContext) => {
  const { who, body } = request;
  const spec = specOf(body, who);
  ctx.policy().require(planRule, who, targetOf({ project: spec.project, requester: requesterOf(request) }));
  const { planned, waves, counters } = await planRollout(ctx, request, spec);
  return ok({
    summary: planned.summary,
    waves: waves.map(({ size, advance, soak_ms }, index) => ({ wave: index + 1, size, advance, soak_ms })),
    at_once: atOnceOf(counters),
  });
};

export const rolloutPreviewRoutes: Route[] = [
  route({
    method: 'POST',
    path: `${rolloutsPath}/preview`,
    answers: { 200: shapes.rolloutPreview },
    rules: planningRules,
    changesNothing: true,
    body: rolloutBody,
    handler: preview,
  }),
];
