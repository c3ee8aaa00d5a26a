/** Persons who opened the waves of a rollout or answered for its nodes, with their reasons. */
import type { NodeUuid, RolloutUuid } from '../../model/ids';
import type { TenantAnswer } from '../../model/rollouts/consent';
import type { Requester } from '../../model/runs/runs';
import { type Db, uuidArray } from '../database';

/** From the audit trail: null fields if it no longer has the row. */
export type Opening = {
  readonly wave: number;
  readonly by: Requester;
  readonly reason: string | null;
  readonly at: Date;
};

export type AnswerGiven = {
  readonly node_uuid: NodeUuid;
  readonly answer: TenantAnswer['answer'];
  readonly at: Date | null;
  /** Null if there is none, or if it was deleted. */
  readonly window: string | null;
  readonly by: Requester;
  readonly reason: string | null;
  readonly given_at: Date;
};

export const rolloutOpenings = (sql: Db) => ({
  /** The acts that opened waves, oldest first; `wave` begins at 1. Waves that opened without a person are missing. */
  list: (rollout: RolloutUuid): Promise<Opening[]> => sql<Opening[]>`
    select (data ->> 'wave')::int + (action = 'rollout.advance')::int as wave, requester as by, data ->> 'reason' as reason, at
    from audit where resource = 'rollout' and resource_id = ${rollout}::text
      and action in ('rollout.start', 'rollout.advance') and verdict = 'granted' order by seq`,

  /** The newest answer for each of these nodes. */
  answers: (rollout: RolloutUuid, nodes: readonly NodeUuid[]): Promise<AnswerGiven[]> =>
    nodes.length === 0
      ? Promise.resolve([])
      : sql<AnswerGiven[]>`
    select t.node_uuid, a.answer, a.at, a."window", a.by, a.reason, a.given_at
    from rollout_targets t cross join lateral (
      select g.answer, g.at, (select w.name from project_windows w where w.uuid = g.window_id) as "window", g.requester as by, g.reason,
        g.created_at as given_at
      from rollout_answers g where g.rollout = t.rollout and g.position = t.position order by g.created_at desc limit 1) a
    where t.rollout = ${rollout} and t.node_uuid = any (${uuidArray(sql, nodes)})`,
});
