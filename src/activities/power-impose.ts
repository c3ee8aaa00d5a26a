/** Re-imposes the recorded power state by a normal run, which the relay starts. */
import { randomUUID } from 'node:crypto';
import type { Inventory } from '../inventory';
import type { DueNode } from '../inventory/nodes/power-sync';
import type { Sealer } from '../inventory/secrets/sealing';
import { isTemperError } from '../model/errors';
import { type PowerState, powerRefusedIn } from '../model/lifecycle/states';
import { powerSteps } from '../model/lifecycle/steps';
import type { Timing } from '../model/runs/runs';
import { accept } from '../runs/accept';

export type ImposeDeps = {
  readonly inventory: Inventory;
  readonly vault: Sealer;
  readonly timing: Timing;
  readonly queuePrefix?: string;
};

const asked = () => ({
  requester: {
    user_id: null,
    user_name: 'power sync',
    project_id: null,
    system_scope: 'all',
    strategy: 'none',
    request_id: `power-sync-${randomUUID()}`,
  },
  rule: 'TEMPER_FORCE_POWER_STATE',
  rule_set: 'none',
});

const orderOf = (node: DueNode, target: 'power on' | 'power off') => ({
  node,
  verb: 'power' as const,
  kind: 'power' as const,
  event: null,
  ends: null,
  target: null,
  fault: null,
  steps: powerSteps(target),
  power: { target },
  runbook: null,
  asked: asked(),
});

/** @returns a function without effect on a node that is frozen or must not be powered off */
export const createImpose =
  (deps: ImposeDeps) =>
  async (node: DueNode, state: PowerState): Promise<void> => {
    const barred = state === 'error' || (state === 'power off' && node.disable_power_off);
    if (barred || powerRefusedIn.includes(node.provision_state)) return;
    if (await deps.inventory.recovery.current()) return;
    if (await deps.inventory.freezes.active(node.uuid)) return;
    // The record changed during the probe. After a restore, the recorded power is unknown.
    const now = await deps.inventory.transaction((store) => store.powerSync.hold(node.uuid));
    if (now?.power_state !== state) return;
    try {
      await accept(orderOf(node, state), deps);
    } catch (thrown) {
      // Another run has the node; the next probe sees its result.
      if (!isTemperError(thrown, 'NodeLocked') && !isTemperError(thrown, 'NodeNotFound')) throw thrown;
    }
  };
