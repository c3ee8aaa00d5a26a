/** Wakes the workflows of rollouts: for what has happened, and where one was not looked at for a while. */
import type { Inventory } from '../inventory';
import type { RolloutUuid } from '../model/ids';
import type { Log } from '../model/log';
import { passUntil, pause } from '../model/passes';

export type WakingDeps = {
  readonly inventory: Inventory;
  /** Signals the rollout's workflow, and starts it where there is no open one. */
  readonly wake: (rollout: RolloutUuid) => Promise<void>;
  readonly log: Log;
  /** After so many hours a plan that was not begun is expired; never where absent. */
  readonly planHours?: number;
};

// Each wake costs a few events of history; what has happened meanwhile is seen by the same look.
const everyMs = 1_000;
const silentForMs = 60_000;

/** One pass. @returns how many workflows were woken */
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

/** Ends plans that were not begun in time, each with its event. */
export const expirePlans = async ({ inventory, planHours }: WakingDeps): Promise<number> => {
  if (planHours === undefined || (await inventory.recovery.current())) return 0;
  return inventory.transaction(async (store) => {
    const expired = await store.rollouts.expire(planHours);
    for (const { id, project } of expired)
      await store.events.append({ kind: 'rollout.expired', project, rollout_id: id, data: { rollout: id } });
    return expired.length;
  });
};

/** Wakes those that were not looked at for a minute: their workflow was terminated, or lost with the engine's store. */
export const wakeSilent = async ({ inventory, wake }: WakingDeps, olderThanMs = silentForMs): Promise<number> => {
  if (await inventory.recovery.current()) return 0;
  const silent = await inventory.rolloutWakes.silent(olderThanMs);
  for (const rollout of silent) await wake(rollout);
  return silent.length;
};

/** Passes until the signal. */
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
