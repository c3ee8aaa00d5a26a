/** Writes of a lessee. Triggers stamp them with the lease and revert them at its end. */
import type { NodeUuid, ProjectId } from '../../model/ids';
import type { Db } from '../database';

export const leaseWrites = (sql: Db) => ({
  /**
   * Later writes of the transaction to the node count as the lessee's.
   * @param lock locks the node. Only as the first statement of a transaction, or two may deadlock
   * @returns false if the project no longer leases the node
   */
  async begin(node: NodeUuid, lessee: ProjectId, { lock = false }: { lock?: boolean } = {}): Promise<boolean> {
    const begun = await sql`
      with lease as materialized (
        select lease_id::text as id from nodes where uuid = ${node} and lessee = ${lessee} and lease_id is not null
        ${lock ? sql`for no key update` : sql``})
      select set_config('temper.lease', id, true) from lease`;
    return begun.length === 1;
  },
});
