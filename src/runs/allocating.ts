/** Allocation passes, without a workflow: if a pass dies, its rows stay unchanged for the next one. */

import type { Inventory, Queries } from '../inventory';
import type { WaitingAllocation } from '../inventory/allocation-passes';
import { brokenUnique, isStoreAway } from '../inventory/database';
import type { AllocationUuid } from '../model/ids';
import type { Log } from '../model/log';
import { passUntil } from '../model/passes';
import { failureText, reservePauseMs, reserveTries } from '../model/resources/allocations';

export type Settled = { readonly outcome: 'active' | 'error'; readonly seconds: number };
export type AllocatingDeps = {
  readonly inventory: Inventory;
  readonly log: Log;
  /** Called after the commit. */
  readonly onSettled?: (settled: Settled) => void;
};

const allocationsAtOnce = 50;

/** Reserves a node, or records why there is none. If suitable nodes are locked, a later pass retries. */
const settle = async (store: Queries, waiting: WaitingAllocation): Promise<Settled['outcome'] | 'later'> => {
  const { uuid, tries } = waiting;
  if (await store.allocationPasses.reserve(waiting)) return 'active';
  const shortage = await store.allocationPasses.shortage(waiting);
  if (shortage.suitable > 0 && tries < reserveTries) {
    await store.allocationPasses.postpone(uuid, reservePauseMs);
    return 'later';
  }
  await store.allocationPasses.fail(uuid, failureText(uuid, waiting, shortage));
  return 'error';
};

const passOver = async (
  { inventory, onSettled }: AllocatingDeps,
  among?: readonly AllocationUuid[],
): Promise<number> => {
  const all = await inventory.transaction(async (store) => {
    const taken = await store.allocationPasses.take(allocationsAtOnce, among);
    return Promise.all(taken.map(async (waiting) => ({ waiting, outcome: await settle(store, waiting) })));
  });
  for (const { waiting, outcome } of all) if (outcome !== 'later') onSettled?.({ outcome, seconds: waiting.age_s });
  return all.length;
};

const taken = 'its UUID is the instance of another node';
const refusedText = 'PostgreSQL refused it; the log of the control worker has the reason';

/** Processes one allocation alone after a failed pass. A failure that may be chance is retried. */
const passAlone = async (uuid: AllocationUuid, deps: AllocatingDeps): Promise<void> => {
  const { inventory, log } = deps;
  try {
    await passOver(deps, [uuid]);
  } catch (thrown) {
    if (isStoreAway(thrown)) throw thrown;
    log.warn('an allocation cannot be processed', { allocation_uuid: uuid, reason: String(thrown) });
    const given = brokenUnique(thrown) !== undefined;
    if (!given && (await inventory.allocationPasses.postpone(uuid, reservePauseMs)) <= reserveTries) return;
    const why = given ? taken : refusedText;
    await inventory.allocationPasses.fail(uuid, `Failed to process allocation ${uuid}: ${why}.`);
  }
};

/** One pass. A failing allocation never blocks the others. @returns how many were processed */
export const allocateOnce = async (deps: AllocatingDeps): Promise<number> => {
  try {
    return await passOver(deps);
  } catch (thrown) {
    if (isStoreAway(thrown)) throw thrown;
    const waiting = await deps.inventory.allocationPasses.waiting(allocationsAtOnce);
    for (const uuid of waiting) await passAlone(uuid, deps);
    return waiting.length;
  }
};

/** Passes until none is due. @returns how many were processed */
export const allocateAll = async (deps: AllocatingDeps, signal?: AbortSignal): Promise<number> => {
  let all = 0;
  for (let seen = -1; seen !== 0 && !signal?.aborted; all += seen) seen = await allocateOnce(deps);
  return all;
};

/** A ring before a sleep ends that sleep at once. */
const createAlarm = (signal: AbortSignal) => {
  let rung = false;
  let wake = (): void => {};
  const ring = (): void => {
    rung = true;
    wake();
  };
  signal.addEventListener('abort', ring);
  return {
    ring,
    sleep: async (ms: number): Promise<void> => {
      if (!rung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      rung = signal.aborted;
    },
  };
};

/** Passes at every notification, and at an interval in case one is lost. */
export const runAllocating = async (
  deps: AllocatingDeps,
  { everyMs = 1_000, signal }: { everyMs?: number; signal: AbortSignal },
): Promise<void> => {
  const { inventory, log } = deps;
  const alarm = createAlarm(signal);
  const quietly = (thrown: unknown) => void log.warn('allocations are not announced now', { reason: String(thrown) });
  const listening = inventory.allocationsChannel.listen(alarm.ring).catch(quietly);
  const wait = () => alarm.sleep(everyMs);
  await passUntil({ signal, log, failing: 'allocations cannot be processed now', wait }, () =>
    allocateAll(deps, signal),
  );
  await (await listening)?.close().catch(() => {});
};
