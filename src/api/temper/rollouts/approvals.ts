/** Approvals of rollouts: votes of distinct users on one plan. The start checks the voters again. */

import { z } from 'zod';
import { requesterOf } from '../../../admission/requester';
import type { RolloutRow } from '../../../inventory/rollouts/rollouts';
import type { Vote } from '../../../inventory/rollouts/votes';
import { raise } from '../../../model/errors';
import { approveRule, plannedTargetOf, standingApprovals, wantedOf } from '../../../rollouts/approvals';
import * as shapes from '../../../wire/rollouts';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { rolloutRules, wholeRollout } from './views';

const voteBody = z.strictObject({
  plan_hash: z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be the plan_hash of the plan that was read' }),
  reason: z.string().trim().min(1, { error: 'say why' }).max(1_000),
});
type VoteBody = z.output<typeof voteBody>;
type OfRollout = { rollout: string };

const votable = ['planned', 'awaiting_approval', 'scheduled'];

const voteView = ({ user_id, vote, requester, reason, created_at, expires_at }: Vote) => ({
  user_id,
  user_name: requester.user_name,
  vote,
  reason,
  at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
});

/** The vote's hash shows that the user has read this plan. Throws Conflict. */
const requireVotable = (rollout: RolloutRow, plan_hash: string): void => {
  if (!votable.includes(rollout.state))
    raise('Conflict', { reason: `Rollout ${rollout.id} is ${rollout.state}; its plan is no longer to be decided on.` });
  if (rollout.plan_hash !== plan_hash)
    raise('Conflict', { reason: `The plan of rollout ${rollout.id} is another by now; read it again.` });
};

const voteKinds = { approve: 'approved', reject: 'rejected' } as const;

const cast = (vote: Vote['vote']) => async (request: ApiRequest<OfRollout, unknown, VoteBody>, ctx: ApiContext) => {
  const { who, body, params } = request;
  const rollout = await wholeRollout(ctx, who, params.rollout);
  const policy = ctx.policy();
  policy.require(approveRule, who, await plannedTargetOf(ctx, rollout));
  const { user_id } = who;
  if (user_id === null)
    return raise('Conflict', { reason: 'An approval is a user’s own; this caller is known as no user.' });
  requireVotable(rollout, body.plan_hash);
  const requester = requesterOf(request);
  const ballot = { user_id, vote, caller: who, requester, rule_set: policy.hash, reason: body.reason };
  await ctx.inventory.transaction(async (store) => {
    await store.rolloutVotes.cast(rollout, ballot, ctx.settings.rolloutApprovalHours);
    if (vote === 'reject')
      await store.rollouts.move(rollout, ['awaiting_approval', 'scheduled'], 'planned', { start_at: null });
    await auditAndEvent(store, policy, request, {
      action: `rollout.${vote}`,
      kind: `rollout.${voteKinds[vote]}`,
      rule: approveRule,
      resource: 'rollout',
      resource_id: rollout.id,
      project: rollout.project,
      data: { plan_hash: rollout.plan_hash, reason: body.reason },
    });
  });
  const { approvals, unknown } = await standingApprovals(ctx, rollout);
  // Unknown roles count: a vote must not fail because the identity service is down. The start checks again.
  const approved = approvals + unknown;
  const wanted = wantedOf(rollout, ctx.settings);
  if (approved >= wanted) await ctx.inventory.rollouts.move(rollout, ['awaiting_approval'], 'scheduled');
  const votes = await ctx.inventory.rolloutVotes.standing(rollout.id, rollout.plan_hash);
  return ok({ plan_hash: rollout.plan_hash, wanted, approved, votes: votes.map(voteView) });
};

const voteRoute = (act: Vote['vote']): Route =>
  route({
    method: 'POST',
    path: `/temper/v1/rollouts/:rollout/${act}`,
    answers: { 200: shapes.rolloutVotes },
    rules: [rolloutRules.get, rolloutRules.own, rolloutRules.node, approveRule],
    body: voteBody,
    handler: cast(act),
  });

export const rolloutApprovalRoutes: Route[] = [voteRoute('approve'), voteRoute('reject')];
