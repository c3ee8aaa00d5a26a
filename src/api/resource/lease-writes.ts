/** Writes of lessees: they are stamped and end with the lease. */
import type { Queries } from '../../inventory';
import type { Caller } from '../../model/access/callers';
import type { NodeUuid, ProjectId } from '../../model/ids';
import { lostLockRace } from '../server/lock-wait';

type Leased = { readonly uuid: NodeUuid; readonly owner: ProjectId | null; readonly lessee: ProjectId | null };

/** True if the caller's project leases the node and does not own it, and the caller has no system scope. */
export const isLessee = (who: Caller, { owner, lessee }: Leased): boolean =>
  who.system_scope === null && lessee !== null && who.project_id === lessee && lessee !== owner;

/**
 * Stamps a lessee's write, in its transaction and before it. Runs no query for other callers.
 * Throws NodeLocked if the lease has just ended.
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
