/** Triggers of the database stamp what a lessee writes with its lease, and take it back when the lease ends. */
import type { NodeUuid, ProjectId } from '../../model/ids';
import type { Db } from '../database';

export const leaseWrites = (sql: Db) => ({
  /**
   * From this statement on, whatever its transaction writes about the node is the lessee's.
   * @param lock keeps the node's row; only as the first statement of its transaction, or two of them may wait for each other
   * @returns false where the project does not lease the node any more
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
