/** Approvals of rollouts: votes of distinct users on one plan. The start checks the voters again. */
import { z } from 'zod';
import type { Queries } from '../../../inventory';
import type { RolloutRow } from '../../../inventory/rollouts/rollouts';
import type { Vote } from '../../../inventory/rollouts/votes';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { auditAndEvent, requesterOf } from '../../audit/record';
import type { ApiContext, ContextSettings } from '../../context';
import { type Answer, type ApiRequest, ok, type Route, route } from '../../server/route';
import * as shapes from '../rollout-shapes';
import { plannedTargetOf, rolloutRules, wholeRollout } from './views';

const approveRule = 'temper:rollout:approve';
export const startAloneRule = 'temper:rollout:start_alone';

const voteBody = z.strictObject({
  plan_hash: z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be the plan_hash of the plan that was read' }),
  reason: z.string().trim().min(1, { error: 'say why' }).max(1_000),
});
type VoteBody = z.output<typeof voteBody>;
type OfRollout = { rollout: string };

const votable = ['planned', 'awaiting_approval', 'scheduled'];

/** Also used by processes without an API. */
export type VoteContext = Pick<ApiContext, 'policy' | 'voters'> & { readonly inventory: Queries };

/** `unknown` counts users whose roles the identity service does not return. */
type Standing = { readonly approvals: number; readonly unknown: number };

/**
 * Counts votes whose users still have their roles and the policy's permission. One such rejection, even with unknown roles, cancels all
 * approvals.
 */
const standingApprovals = async (ctx: VoteContext, row: RolloutRow, at?: Date): Promise<Standing> => {
  const cast = await ctx.inventory.rolloutVotes.standing(row.id, row.plan_hash);
  const votes = at ? cast.filter(({ expires_at }) => expires_at > at) : cast;
  const target = await plannedTargetOf(ctx, row);
  const allowed = votes.filter(({ caller }) => ctx.policy().allows(approveRule, caller, target));
  const asked = await Promise.all(
    allowed.map(async ({ vote, caller }) => ({ vote, roles: (await ctx.voters?.(caller)) ?? 'holds' })),
  );
  if (asked.some(({ vote, roles }) => vote === 'reject' && roles !== 'lost')) return { approvals: 0, unknown: 0 };
  const those = (roles: string): number => asked.filter((one) => one.vote === 'approve' && one.roles === roles).length;
  return { approvals: those('holds'), unknown: those('away') };
};

const mostApprovers = 2;

/** The larger of the plan's number and the setting. @param settings absent in processes without the API */
export const wantedOf = (
  { approvers }: Pick<RolloutRow, 'approvers'>,
  settings?: Pick<ContextSettings, 'rolloutApprovers'>,
): number => (settings ? Math.max(approvers ?? 0, settings.rolloutApprovers) : (approvers ?? mostApprovers));

/**
 * Passes if the caller may start alone or enough approvals count. Throws RolloutNotApproved; IdentityUnavailable if unknown roles leave the
 * result open.
 * @param wanted approvals needed
 * @param at a later start; votes must still count then
 */
export const requireApproved = async (
  ctx: VoteContext,
  who: Caller,
  row: RolloutRow,
  { wanted, at }: { readonly wanted: number; readonly at?: Date },
): Promise<void> => {
  if (ctx.policy().allows(startAloneRule, who, await plannedTargetOf(ctx, row))) return;
  const { approvals: approved, unknown } = await standingApprovals(ctx, row, at);
  if (approved >= wanted) return;
  if (approved + unknown >= wanted) raise('IdentityUnavailable');
  raise('RolloutNotApproved', { rollout: row.id, approved, wanted });
};

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
    raise('Conflict', { reason: `The plan of rollout ${rollout.id} is another by now; read it anew.` });
};

const voteKinds = { approve: 'approved', reject: 'rejected' } as const;

const cast =
  (vote: Vote['vote']) =>
  async (request: ApiRequest<OfRollout, unknown, VoteBody>, ctx: ApiContext): Promise<Answer> => {
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
  route<OfRollout, unknown, VoteBody>({
    method: 'POST',
    path: `/temper/v1/rollouts/:rollout/${act}`,
    answers: { 200: shapes.rolloutVotes },
    rules: [rolloutRules.get, rolloutRules.own, rolloutRules.node, approveRule],
    body: voteBody,
    handler: cast(act),
  });

export const rolloutApprovalRoutes: Route[] = [voteRoute('approve'), voteRoute('reject')];
