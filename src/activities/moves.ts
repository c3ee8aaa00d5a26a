/** Moves of a node in the state table, with side effects and events. */
import type { Queries } from '../inventory';
import type { HeldNode } from '../inventory/runs/runs';
import { raise } from '../model/errors';
import { type Event, forgets, next, type ProvisionState } from '../model/lifecycle/states';
import type { Lock } from '../model/runs/runs';

/** Throws StaleOperation. */
export const heldNode = async (store: Queries, lock: Lock): Promise<HeldNode> =>
  (await store.runs.held(lock)) ?? raise('StaleOperation', { node: lock.node_uuid, run: lock.run });

/**
 * No effect if the node's state has no such transition.
 * @param facts added to the event @returns the state after the move
 */
export const moveNode = async (
  store: Queries,
  lock: Lock,
  { provision_state: from, owner: project, lessee }: HeldNode,
  event: Event,
  facts: Readonly<Record<string, string>> = {},
): Promise<ProvisionState> => {
  const to = next(from, event);
  if (!to) return from;
  const forgotten = forgets(from, to);
  await store.runs.moveNode(lock, to, forgotten);
  if (forgotten) await store.secrets.dropUnused(lock.node_uuid);
  const data = { ...facts, from, to, event };
  await store.events.append({ kind: 'node.moved', node_uuid: lock.node_uuid, run_id: lock.run, project, lessee, data });
  return to;
};
