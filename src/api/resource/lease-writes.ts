/** Whose a write is: what a lessee writes about its node is stamped, and ends with its lease. */
import type { Queries } from '../../inventory';
import type { Caller } from '../../model/access/callers';
import type { NodeUuid, ProjectId } from '../../model/ids';
import { lostLockRace } from '../http/lock-wait';

type Leased = { readonly uuid: NodeUuid; readonly owner: ProjectId | null; readonly lessee: ProjectId | null };

/** Whether the caller is of the project that leases the node, and neither of its owner nor of the system. */
export const isLessee = (who: Caller, { owner, lessee }: Leased): boolean =>
  who.system_scope === null && lessee !== null && who.project_id === lessee && lessee !== owner;

/**
 * Before a caller's write about a node, in its transaction: a lessee's is stamped. Costs nothing for other callers.
 * Throws NodeLocked where the lease has just ended.
 * @param lock for a write of the node's own row, as the first statement
 */
export const stampLessee = async (
  inventory: Pick<Queries, 'leaseWrites'>,
  who: Caller,
  node: Leased,
  options: { readonly lock?: boolean } = {},
): Promise<void> => {
  if (isLessee(who, node) && !(await inventory.leaseWrites.begin(node.uuid, node.lessee!, options)))
    lostLockRace(node.uuid);
};
