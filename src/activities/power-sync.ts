/** Power sync: the workers of a group look at their nodes' power in turn, so that a button pressed in the aisle is known here. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { DueNode } from '../inventory/nodes/power-sync';
import { type Looked, type LookHands, lookAtPower } from './power-probe';

export type PowerSyncHands = Omit<LookHands, 'holder' | 'maxFailures'>;

export type PowerSyncOptions = {
  readonly signal: AbortSignal;
  readonly conductor_group: string;
  /** The drivers that this worker has. */
  readonly drivers: readonly string[];
  /** From one look at a node to the next; 0 switches the whole off. */
  readonly everyMs: number;
  /** The same for nodes whose power failed; 300 s, openstack/ironic:ironic/conf/conductor.py power_failure_recovery_interval. */
  readonly recoverEveryMs?: number;
  /** Looks at once. */
  readonly workers: number;
  readonly maxFailures: number;
  /** Called with the end of every read. */
  readonly looked?: (node: DueNode, how: Looked) => void;
};

// Nodes become due one by one, so a round is a small part of the interval.
const roundsPerInterval = 8;
// Enough that one slow BMC does not hold up a round, few enough that another worker of the group finds some too.
const claimsPerWorker = 4;

type Looking = PowerSyncOptions & { readonly hands: LookHands };

const lookAt = async (node: DueNode, { hands, signal, looked }: Looking): Promise<void> => {
  try {
    const how = await lookAtPower(node, hands, signal);
    looked?.(node, how);
  } catch (error) {
    hands.log.warn('power sync: could not keep what was seen', { node_uuid: node.uuid, error });
  }
};

const lookAtAll = async (due: readonly DueNode[], options: Looking): Promise<void> => {
  const limit = pLimit(options.workers);
  await Promise.all(due.map((node) => limit(async () => options.signal.aborted || lookAt(node, options))));
};

/** Looks at everything that is due, no more than `workers` at once. */
export const syncPowerOnce = async (options: Looking): Promise<void> => {
  const { hands, workers, everyMs, signal, drivers, conductor_group } = options;
  const recoverEveryMs = options.recoverEveryMs ?? Math.max(everyMs, 300_000);
  const limit = workers * claimsPerWorker;
  await hands.inventory.powerSync.enlist(conductor_group, everyMs);
  for (let full = true; full && !signal.aborted; ) {
    const due = await hands.inventory.powerSync.claim({ conductor_group, drivers, limit, everyMs, recoverEveryMs });
    await lookAtAll(due, options);
    full = due.length === limit;
  }
};

/** Goes on until `signal` aborts. A round that fails because the store is away is tried again with the next one. */
export const runPowerSync = async (given: PowerSyncHands, options: PowerSyncOptions): Promise<void> => {
  const { signal, everyMs, maxFailures } = options;
  if (everyMs <= 0) return;
  const hands: LookHands = { ...given, maxFailures, holder: randomUUID() };
  while (!signal.aborted) {
    await syncPowerOnce({ ...options, hands }).catch((error) => hands.log.warn('power sync: round failed', { error }));
    // Not in step with the other workers of the group.
    const pauseMs = (everyMs / roundsPerInterval) * (0.75 + Math.random() / 2);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
};
