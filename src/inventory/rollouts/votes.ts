/** Queries of votes: one per user and plan, which expires. */
import type { Caller } from '../../model/access/callers';
import type { RolloutUuid } from '../../model/ids';
import type { Requester } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';

export type Vote = {
  readonly user_id: string;
  readonly vote: 'approve' | 'reject';
  /** Its rights are checked again at the start. */
  readonly caller: Caller;
  readonly requester: Requester;
  readonly rule_set: string;
  readonly reason: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
};

const voteColumns = [
  'user_id',
  'vote',
  'caller',
  'requester',
  'rule_set',
  'reason',
  'created_at',
  'expires_at',
] as const;

export const rolloutVotes = (sql: Db) => ({
  /** Replaces the user's earlier vote for this plan. @param hours until it expires */
  async cast(
    { id, plan_hash }: { readonly id: RolloutUuid; readonly plan_hash: string },
    { user_id, vote, caller, requester, rule_set, reason }: Omit<Vote, 'created_at' | 'expires_at'>,
    hours: number,
  ): Promise<void> {
    await sql`
      insert into rollout_votes (rollout, plan_hash, user_id, vote, caller, requester, rule_set, reason, expires_at)
      values (${id}, ${plan_hash}, ${user_id}, ${vote}, ${jsonOf(sql, caller)}, ${jsonOf(sql, requester)}, ${rule_set}, ${reason},
        now() + ${hours} * interval '1 hour')
      on conflict (rollout, plan_hash, user_id) do update set vote = excluded.vote, caller = excluded.caller,
        requester = excluded.requester, rule_set = excluded.rule_set, reason = excluded.reason, created_at = now(),
        expires_at = excluded.expires_at`;
  },

  /** Unexpired votes for this plan, oldest first. */
  standing: (rollout: RolloutUuid, plan_hash: string): Promise<Vote[]> => sql<Vote[]>`
    select ${sql(voteColumns)} from rollout_votes
    where rollout = ${rollout} and plan_hash = ${plan_hash} and expires_at > now() order by created_at, id`,
});
