/** Approvals of rollouts: votes that still count, and whether they are enough to start. */
import type { Queries } from '../inventory';
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import { type Policy, type RolloutFacts, rolloutTarget } from '../policy';

export const approveRule = 'temper:rollout:approve';
export const startAloneRule = 'temper:rollout:start_alone';

const sizes = ['1', '10', '100', '1000'] as const;

/** @param tenant the project whose node a request is about, if any */
export const plannedTargetOf = async (
  { inventory }: { readonly inventory: Queries },
  { id, project, requester }: Pick<RolloutRow, 'id' | 'project' | 'requester'>,
  tenant: string | null = null,
) => {
  const { nodes, tenants, own, erases, power } = await inventory.rolloutTargets.facts(id, project);
  const facts: RolloutFacts = {
    size: sizes.find((size) => nodes <= Number(size)) ?? 'more',
    erases,
    power,
    projects: own ? 'own' : tenants <= 1 ? 'one' : 'several',
    tenant,
  };
  return rolloutTarget({ project, requester: requester.user_id, ...facts });
};

export type VoteContext = {
  policy(): Policy;
  readonly inventory: Queries;
  /** Checks that a voter still has its roles. If absent, votes count until they expire. */
  readonly voters?: (caller: Caller) => Promise<'holds' | 'lost' | 'away'>;
};

/** `unknown` counts users whose roles the identity service does not return. */
type Standing = { readonly approvals: number; readonly unknown: number };

/**
 * Counts votes whose users still have their roles and the policy's permission. One such rejection, even with unknown roles, cancels all
 * approvals.
 */
export const standingApprovals = async (ctx: VoteContext, row: RolloutRow, at?: Date): Promise<Standing> => {
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
  settings?: { readonly rolloutApprovers: number },
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
