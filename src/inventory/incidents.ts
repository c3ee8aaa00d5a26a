/** Faulty nodes, and the numbers of nodes that share a rack, a feed, a group or a driver. */
import type { NodeUuid, ProjectId } from '../model/ids';
import { mostIncidents, type Population, type Shared } from '../model/incidents';
import type { Predicate } from '../model/predicates';
import type { Requester } from '../model/runs/runs';
import type { Db } from './database';
import { roundLimit } from './first-rows';
import { conditionOf } from './predicates';

export type FaultyNode = Shared & {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly fault: string;
  readonly fault_since: Date;
  readonly provision_state: string;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  /** Of this fault, since the node has its present tenants. */
  readonly acknowledgement: { readonly note: string; readonly requester: Requester; readonly at: string } | null;
};

export const incidents = (sql: Db) => ({
  /** The newest faults, and one more than are grouped. @param visible over columns of nodes */
  faulty: (visible: Predicate): Promise<FaultyNode[]> => sql<FaultyNode[]>`
    select uuid, name, fault, n.fault_since, provision_state, n.owner, lessee, rack, power_feed, conductor_group, driver,
      case when a.node_uuid is not null then
        jsonb_build_object('note', a.note, 'requester', a.requester, 'at', a.acknowledged_at) end as acknowledgement
    from nodes n left join fault_acknowledgements a on a.node_uuid = n.uuid and a.fault_since = n.fault_since
      and (a.owner, a.lease_id) is not distinct from (n.owner, n.lease_id)
    where fault is not null and ${conditionOf(sql, visible, 'n')}
    order by n.fault_since desc, id desc ${roundLimit(sql, mostIncidents.faults + 1)}`,

  populations: (visible: Predicate): Promise<Population[]> => sql<Population[]>`
    select rack, power_feed, conductor_group, driver, count(*) as nodes from nodes n where ${conditionOf(sql, visible, 'n')}
    group by rack, power_feed, conductor_group, driver`,
});
