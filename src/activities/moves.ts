/** A node's move along the state table, with what it forgets on the way. */
import type { Queries } from '../inventory';
import type { HeldNode } from '../inventory/runs';
import type { Lock } from '../model/runs';
import { forgets, type ProvisionState } from '../model/states';

/** Moves a node that this lock holds. */
export const moveNode = async (store: Queries, lock: Lock, node: HeldNode, to: ProvisionState): Promise<void> => {
  const forgotten = forgets(node.provision_state, to);
  await store.runs.moveNode(lock, to, forgotten);
  if (forgotten) await store.secrets.dropUnused(lock.node_uuid);
};
