/** Acknowledgements of the faults that nodes have now. */
import type { NodeUuid, ProjectId } from '../model/ids';
import type { Requester } from '../model/runs/runs';
import { type Db, jsonOf, uuidArray } from './database';

/** A node with the tenants for which the rules were checked. */
type SeenNode = { readonly uuid: NodeUuid; readonly owner: ProjectId | null; readonly lessee: ProjectId | null };

export const acknowledgements = (sql: Db) => ({
  /**
   * Replaces earlier ones. A fault that has ended meanwhile, or that began later, is left out, and so is a node that has other tenants by now.
   * @returns the nodes whose fault is acknowledged
   */
  async put(
    nodes: readonly SeenNode[],
    { until, note, requester }: { readonly until: Date; readonly note: string; readonly requester: Requester },
  ): Promise<NodeUuid[]> {
    const uuids = nodes.map(({ uuid }) => uuid);
    const tenants = Object.fromEntries(nodes.map(({ uuid, owner, lessee }) => [uuid, [owner, lessee]]));
    const rows = await sql<{ node_uuid: NodeUuid }[]>`
      insert into fault_acknowledgements (node_uuid, fault_since, owner, lease_id, note, requester)
      select uuid, fault_since, owner, lease_id, ${note}, ${jsonOf(sql, requester)} from nodes
      where uuid = any (${uuidArray(sql, uuids)}) and fault is not null
        and jsonb_build_array(owner, lessee) = (${jsonOf(sql, tenants)}::jsonb -> uuid::text)
        and date_trunc('milliseconds', fault_since) <= ${until}
      order by uuid
      on conflict (node_uuid) do update set (fault_since, owner, lease_id, note, requester, acknowledged_at) =
        (excluded.fault_since, excluded.owner, excluded.lease_id, excluded.note, excluded.requester, now())
      returning node_uuid`;
    return rows.map(({ node_uuid }) => node_uuid);
  },
});
