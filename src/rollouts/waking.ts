/** Wakes rollout workflows after events, and after a minute without a pass. */
import type { Inventory } from '../inventory';
import type { RolloutUuid } from '../model/ids';
import type { Log } from '../model/log';
import { passUntil, pause } from '../model/passes';

export type WakingDeps = {
  readonly inventory: Inventory;
  /** Starts the workflow if none is open. */
  readonly wake: (rollout: RolloutUuid) => Promise<void>;
  readonly log: Log;
  /** Plans that were not begun expire after it; never if absent. */
  readonly planHours?: number;
};

// A wake costs history events, so one covers the whole interval.
const everyMs = 1_000;
const silentForMs = 60_000;

/** @returns how many workflows were woken */
export const wakeOnce = async ({ inventory, wake }: WakingDeps): Promise<number> => {
  if (await inventory.recovery.current()) return 0;
  const unsent = await inventory.rolloutWakes.unsent(everyMs);
  for (const one of unsent) {
    await wake(one.rollout);
    await inventory.rolloutWakes.sent(one);
  }
  const due = await inventory.rolloutWakes.due();
  for (const rollout of due) await wake(rollout);
  return unsent.length + due.length;
};

/** Expires plans that were not begun in time. */
export const expirePlans = async ({ inventory, planHours }: WakingDeps): Promise<number> => {
  if (planHours === undefined || (await inventory.recovery.current())) return 0;
  return inventory.transaction(async (store) => {
    const expired = await store.rollouts.expire(planHours);
    for (const { id, project } of expired)
      await store.events.append({ kind: 'rollout.expired', project, rollout_id: id, data: { rollout: id } });
    return expired.length;
  });
};

/** For rollouts whose workflow was terminated or lost by Temporal. */
export const wakeSilent = async ({ inventory, wake }: WakingDeps, olderThanMs = silentForMs): Promise<number> => {
  if (await inventory.recovery.current()) return 0;
  const silent = await inventory.rolloutWakes.silent(olderThanMs);
  for (const rollout of silent) await wake(rollout);
  return silent.length;
};

export const runWaking = async (deps: WakingDeps, signal: AbortSignal): Promise<void> => {
  let lookedAt = Number.NEGATIVE_INFINITY;
  const wait = () => pause(everyMs / 4, signal);
  await passUntil({ signal, log: deps.log, failing: 'rollouts cannot be woken now', wait }, async () => {
    await wakeOnce(deps);
    if (performance.now() - lookedAt < silentForMs / 4) return;
    await wakeSilent(deps);
    await expirePlans(deps);
    lookedAt = performance.now();
  });
};
