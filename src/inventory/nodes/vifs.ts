/** Queries of the networks of a node's instance. */
import type { NodeUuid } from '../../model/ids';
import type { Db } from '../database';

export type NewVif = {
  readonly vif: string;
  readonly port_uuid: string | null;
  readonly portgroup_uuid: string | null;
};

export const vifs = (sql: Db) => ({
  /** In the order of attachment. */
  async list(node: NodeUuid): Promise<{ readonly vif: string }[]> {
    return sql<{ vif: string }[]>`select vif from node_vifs where node_uuid = ${node} order by id`;
  },

  /** False if a run holds the node. An attached network or port violates a unique constraint. */
  async attach(node: NodeUuid, { vif, port_uuid, portgroup_uuid }: NewVif): Promise<boolean> {
    const attached = await sql`
      insert into node_vifs (node_uuid, vif, port_uuid, portgroup_uuid)
      select uuid, ${vif}, ${port_uuid}::uuid, ${portgroup_uuid}::uuid from nodes
      where uuid = ${node} and reservation is null returning 1`;
    return attached.length === 1;
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
