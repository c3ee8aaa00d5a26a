/** A node's history: its events, with the state after each and the requester of the run. */

import type { LeaseUuid, NodeUuid, RunUuid } from '../../model/ids';
import type { EventKind } from '../../model/resources/event-kinds';
import { historyKinds } from '../../model/resources/history';
import { type Db, textArray } from '../database';
import { firstRows } from '../first-rows';

export type HistoryEventRow = {
  readonly seq: number;
  readonly created_at: Date;
  readonly kind: EventKind;
  readonly node_uuid: NodeUuid;
  readonly run_id: RunUuid | null;
  readonly verb: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly user: string | null;
  readonly project: string | null;
  /** Provision state after the event. */
  readonly state: string | null;
  readonly target_provision_state: string | null;
  /** Since the node's last change of state that the page may show. */
  readonly duration_seconds: number | null;
};

export type HistoryPage = {
  readonly limit: number;
  readonly sort_dir: 'asc' | 'desc';
  readonly after?: number;
  /** Events since the lease began, and not of other leases' runs. */
  readonly lease?: LeaseUuid;
};

const historyKindNames = Object.keys(historyKinds);

export const history = (sql: Db) => {
  const part = () => sql`(e.kind = any (${textArray(sql, historyKindNames)}) or e.data->>'error' is not null)`;
  const of = (lease: LeaseUuid, event: 'e' | 'b', run: 'r' | 'past') => sql`
    ${sql(event)}.at >= (select l.started_at from leases l where l.id = ${lease})
    and (${sql(event)}.run_id is null or ${sql(run)}.lease_id = ${lease})`;
  const within = (lease: LeaseUuid | undefined) => (lease === undefined ? sql`` : sql`and ${of(lease, 'e', 'r')}`);
  // A state that began before the lease belongs to the former tenant, and so does its begin.
  const movedAt = (lease: LeaseUuid | undefined) =>
    lease === undefined ? sql`b.at` : sql`case when ${of(lease, 'b', 'past')} then b.at end`;
  const selected = (chosen: ReturnType<typeof part>, lease: LeaseUuid | undefined) => sql`
    select e.seq, e.at as created_at, e.kind, e.node_uuid, e.run_id, r.verb, e.data,
      coalesce(r.requester->>'user_id', r.requester->>'user_name') as user, r.requester->>'project_id' as project,
      coalesce(e.data->>'to', before.state, r.provision_state_before) as state,
      r.target as target_provision_state, floor(extract(epoch from e.at - before.at))::int as duration_seconds
    from events e left join runs r on r.id = e.run_id
    left join lateral (
      select b.data->>'to' as state, ${movedAt(lease)} as at from events b left join runs past on past.id = b.run_id
      where b.node_uuid = e.node_uuid and b.seq < e.seq and b.data->>'to' is not null order by b.seq desc limit 1
    ) before on true
    where ${chosen} ${within(lease)}`;

  return {
    /** In the order of the events. */
    async ofNode(node: NodeUuid, { limit, sort_dir, after, lease }: HistoryPage): Promise<HistoryEventRow[]> {
      const up = sort_dir === 'asc';
      const later = after === undefined ? sql`true` : up ? sql`e.seq > ${after}` : sql`e.seq < ${after}`;
      const rows = selected(sql`e.node_uuid = ${node} and ${part()} and ${later}`, lease);
      const order = up ? sql`order by seq` : sql`order by seq desc`;
      return sql<HistoryEventRow[]>`${firstRows(sql, rows, order, limit)}`;
    },

    async find(node: NodeUuid, seq: number, lease?: LeaseUuid): Promise<HistoryEventRow | undefined> {
      const chosen = sql`e.node_uuid = ${node} and e.seq = ${seq} and ${part()}`;
      const [row] = await sql<HistoryEventRow[]>`${selected(chosen, lease)}`;
      return row;
    },
  };
};
