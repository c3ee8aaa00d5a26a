/** Ramdisk acts fail at once if a second ramdisk contacts the API for the same node. */
import type { ActContext } from '../bmc/contract';
import type { Inventory } from '../inventory';
import { TemperError } from '../model/errors';
import type { Lock } from '../model/runs/runs';

const defaultLookMs = 5_000;

type Watched = {
  readonly lock: Lock;
  /** Step and act, recorded with a conflict. */
  readonly at: string;
  readonly node: string;
};
type ConflictDeps = { readonly inventory: Pick<Inventory, 'ramdiskBoots'>; readonly conflictLookMs?: number };

/**
 * Checks before, after, and every `conflictLookMs`; a conflict aborts the work's signal.
 * Throws RamdiskConflict, or what `work` throws.
 */
export const whileOneRamdisk = async <T>(
  { inventory, conflictLookMs = defaultLookMs }: ConflictDeps,
  { lock, at, node }: Watched,
  context: ActContext,
  work: (context: ActContext) => Promise<T>,
): Promise<T> => {
  const conflict = new AbortController();
  const look = async (): Promise<void> => {
    if (await inventory.ramdiskBoots.contested(lock, at)) conflict.abort(new TemperError('RamdiskConflict', { node }));
  };
  await look();
  conflict.signal.throwIfAborted();
  // The next check repeats a failed one; only the last one must succeed.
  const timer = setInterval(() => void look().catch(() => {}), conflictLookMs);
  try {
    const done = await work({ ...context, signal: AbortSignal.any([context.signal, conflict.signal]) });
    await look();
    return done;
  } finally {
    clearInterval(timer);
    conflict.signal.throwIfAborted();
  }
};
