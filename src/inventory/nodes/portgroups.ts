/** Queries of portgroups and their member ports. */
import type { NodeUuid } from '../../model/ids';
import { type Portgroup, portgroupTable } from '../../model/resources/portgroups';
import type { Db } from '../database';
import { nodeResource } from './node-resources';

export type MemberPort = {
  readonly uuid: string;
  readonly pxe_enabled: boolean;
  readonly physical_network: string | null;
};

export const portgroups = (sql: Db) => ({
  ...nodeResource<Portgroup>(sql, { name: 'portgroups', table: portgroupTable }),

  /** Locks it until the transaction ends. */
  async hold(uuid: string, node: NodeUuid): Promise<Portgroup | undefined> {
    const [row] = await sql<Portgroup[]>`
      select * from portgroups where uuid = ${uuid} and node_uuid = ${node} for update`;
    return row;
  },

  /** In the order of creation. */
  async members(uuid: string): Promise<MemberPort[]> {
    return sql<MemberPort[]>`
      select uuid, pxe_enabled, physical_network from ports where portgroup_uuid = ${uuid} order by id`;
  },

  async setNetwork(uuid: string, physical_network: string | null): Promise<void> {
    await sql`
      update ports set physical_network = ${physical_network}, updated_at = now()
      where portgroup_uuid = ${uuid} and physical_network is distinct from ${physical_network}`;
  },
});
