/** A node's move along the state table, with what it forgets on the way and the event that tells of it. */
import type { Queries } from '../inventory';
import type { HeldNode } from '../inventory/runs';
import type { Lock } from '../model/runs';
import { forgets, type ProvisionState } from '../model/states';

/** Moves a node that this lock holds. */
export const moveNode = (store: Queries, lock: Lock, node: HeldNode, to: ProvisionState): Promise<void> =>
  store.runs.moveNode(lock, to, forgets(node.provision_state, to));
