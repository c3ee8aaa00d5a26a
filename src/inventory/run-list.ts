/** The runs that are going on, of all nodes, as far as a caller may see them. */
import type { RunUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import type { RunState } from '../model/runs';
import type { Db } from './database';
import { where } from './predicates';
import type { RunRow } from './runs';

export type RunListing = Pick<
  RunRow,
  | 'id'
  | 'node_uuid'
  | 'node_name'
  | 'verb'
  | 'state'
  | 'runbook_name'
  | 'cursor'
  | 'waiting_for'
  | 'last_error'
  | 'requester'
> & { readonly created_at: Date; readonly started_at: Date | null; readonly updated_at: Date; readonly steps: number };

export type RunSelection = {
  /** Over the columns `now_owner` and `now_lessee` of the node, and `tenant`, the project of the lease while it lasts. */
  readonly visible: Predicate;
  readonly state?: RunState;
  readonly limit: number;
  readonly after?: RunUuid;
};

export const runList = (sql: Db) => ({
  /** A page of unfinished runs, newest first; `after` is the run that the page follows. */
  async open({ visible, state, limit, after }: RunSelection): Promise<RunListing[]> {
    const place = sql`(select m.created_at from runs m where m.id = ${after ?? null})`;
    return sql<RunListing[]>`
      select id, node_uuid, node_name, verb, state, runbook_name, cursor, waiting_for, last_error, requester,
        created_at, started_at, updated_at, (select count(*) from run_steps s where s.run_id = seen.id) as steps
      from (
        select runs.*, nodes.owner as now_owner, nodes.lessee as now_lessee,
          case when runs.lease_id = nodes.lease_id then runs.lessee end as tenant
        from runs left join nodes on nodes.uuid = runs.node_uuid where runs.finished_at is null
      ) seen
      where ${where(sql, visible, 'seen')}
        ${state ? sql`and state = ${state}` : sql``}
        ${after ? sql`and created_at <= ${place} and (created_at < ${place} or (created_at = ${place} and id > ${after}))` : sql``}
      order by created_at desc, id limit ${limit}`;
  },
});
