/** Acts of the ramdisk end at once, and count for nothing, where a second ramdisk speaks for the same node. */
import type { ActContext } from '../bmc/contract';
import type { Inventory } from '../inventory';
import { TemperError } from '../model/errors';
import type { Lock } from '../model/runs/runs';

const defaultLookMs = 5_000;

type Watched = {
  readonly lock: Lock;
  /** Step and act, for the record of where the run learned of it. */
  readonly at: string;
  /** Name or UUID, for the error. */
  readonly node: string;
};
type ConflictDeps = { readonly inventory: Pick<Inventory, 'ramdiskBoots'>; readonly conflictLookMs?: number };

/**
 * Runs `work` while no second ramdisk has spoken for the node, looking before, after, and every `conflictLookMs` between.
 * Its context's signal aborts when one has. Throws RamdiskConflict, or what `work` throws.
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
  // A store that is away for a moment is asked again; the look at the end has to succeed.
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
