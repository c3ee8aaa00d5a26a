/** Queries of the networks of a node's instance. */
import type { NodeUuid, ProjectId } from '../../model/ids';
import type { VifCards, VifPlace } from '../../model/resources/vif-places';
import type { Db } from '../database';

export type VifRow = VifPlace & { readonly vif: string };

type HeldNode = {
  readonly reservation: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
};

const columns = ['vif', 'port_uuid', 'portgroup_uuid'] as const;

export const vifs = (sql: Db) => ({
  /** In the order of attachment. */
  async list(node: NodeUuid): Promise<VifRow[]> {
    return sql<VifRow[]>`select ${sql(columns)} from node_vifs where node_uuid = ${node} order by id`;
  },

  /** Locks the node, so that its cards are given one at a time. Undefined if it is gone. */
  async hold(node: NodeUuid): Promise<HeldNode | undefined> {
    const [row] = await sql<HeldNode[]>`
      select reservation, owner, lessee from nodes where uuid = ${node} for no key update`;
    return row;
  },

  async cards(node: NodeUuid): Promise<VifCards> {
    const ports = await sql<VifCards['ports'][number][]>`
      select uuid, portgroup_uuid, physical_network, pxe_enabled,
        exists (select from node_vifs where port_uuid = ports.uuid) as taken
      from ports where node_uuid = ${node} order by id`;
    const portgroups = await sql<VifCards['portgroups'][number][]>`
      select uuid, exists (select from node_vifs where portgroup_uuid = portgroups.uuid) as taken
      from portgroups where node_uuid = ${node} order by id`;
    return { ports, portgroups };
  },

  /** Call it after `hold`. */
  async attach(node: NodeUuid, { vif, port_uuid, portgroup_uuid }: VifRow): Promise<void> {
    await sql`insert into node_vifs ${sql({ node_uuid: node, vif, port_uuid, portgroup_uuid })}`;
  },

  async detach(node: NodeUuid, vif: string): Promise<boolean> {
    const gone = await sql`delete from node_vifs where node_uuid = ${node} and vif = ${vif} returning 1`;
    return gone.length === 1;
  },

  /** True if a network is attached by this port or portgroup. */
  async uses(uuid: string): Promise<boolean> {
    const [row] = await sql`
      select 1 from node_vifs where port_uuid = ${uuid} or portgroup_uuid = ${uuid} limit 1`;
    return row !== undefined;
  },
});
