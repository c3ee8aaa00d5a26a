/** Outcomes of acts: stored for repeats, reduced for Temporal, without secrets. */
import type { ActLock } from '../inventory/fence';
import { hideTexts, maskText } from '../model/access/secrets';
import { isTemperError, raise, TemperError } from '../model/errors';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { ActName } from '../model/lifecycle/steps';
import type { ActOutcome, RunObserved } from '../model/runs/runs';
import type { BmcDeps } from './bmc-deps';
import { applyInspectionRules } from './inspection-rules';

/** The part that the workflow uses. */
export const outcomeForEngine = ({ note, rest, follows, reported }: ActOutcome): ActOutcome => ({
  is: 'done',
  ...(note && { note: maskText(note) }),
  ...(rest && { rest }),
  ...(follows && { follows }),
  ...(reported && { reported }),
});

/** The last act of a step that boots a ramdisk. */
export const bootsRamdisk = (step: PlannedStep, act: ActName): boolean =>
  step.awaits !== undefined && act === 'power_on';

type OfRamdisk = { readonly ends: boolean; readonly boots: boolean; readonly at: string };

const detailed = ['properties', 'macs', 'bios', 'firmware', 'raid_config', 'inventory'] as const;
const hasDetails = (seen: RunObserved | undefined): boolean =>
  seen !== undefined && detailed.some((name) => seen[name] !== undefined);

/** Stores the results before the act counts as done; idempotent. */
export const keepOutcome = async (
  lock: ActLock,
  { seen, reported }: ActOutcome,
  { ends, boots, at }: OfRamdisk,
  { inventory, log }: BmcDeps,
): Promise<void> => {
  if (!hasDetails(seen) && !reported && !ends && !boots) return;
  const contested = await inventory.transaction(async (store) => {
    // Fenced, so that a late worker does not delete the ramdisk of the next run.
    if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
    if (seen) await store.observedFacts.write(lock, seen);
    if (seen?.inventory) await applyInspectionRules(store, lock, log);
    if (reported) await store.details.report(lock.node_uuid, reported);
    if (boots) await store.ramdiskBoots.expect(lock);
    if (boots) await store.bootCapabilities.meet(lock);
    if (!ends) return false;
    // In this order: a concurrent lookup waits for the boot's row and then finds it ended.
    const [unnoticed] = await Promise.all([
      store.ramdiskBoots.end(lock, at),
      store.agents.forget(lock.node_uuid),
      store.bootCapabilities.end(lock.node_uuid),
    ]);
    return unnoticed;
  });
  if (contested) raise('RamdiskConflict', { node: lock.node_uuid });
};

/** Hides secrets, except in states: they come from a closed list, and a password equal to one must not alter them. */
export const hiddenOutcome = ({ seen, rest, follows, ...others }: ActOutcome, texts: readonly string[]): ActOutcome => {
  const { power_state, boot_mode, secure_boot, health, ...found } = seen ?? {};
  const states = { power_state, boot_mode, secure_boot, health };
  const known = Object.fromEntries(Object.entries(states).filter(([, value]) => value !== undefined));
  return {
    ...hideTexts(others, texts),
    ...(rest && { rest }),
    ...(follows && { follows }),
    ...(seen && { seen: { ...known, ...hideTexts(found, texts) } }),
  };
};

/** Hides secrets, because a BMC may quote its request in an error. */
export const hiddenError = (thrown: unknown, texts: readonly string[]): unknown => {
  if (isTemperError(thrown)) return new TemperError(thrown.code, hideTexts(thrown.facts, texts));
  // The message of a DOMException, as of a timeout, cannot be set.
  if (thrown instanceof Error && thrown.name !== 'CancelledFailure' && !(thrown instanceof DOMException))
    thrown.message = hideTexts(thrown.message, texts);
  return thrown;
};
