/** What becomes of an act's outcome: kept in the store for a repeat, cut down for the engine, and without secrets in either. */
import type { ActLock } from '../inventory/fence';
import { hideTexts, maskText } from '../model/access/secrets';
import { isTemperError, raise, TemperError } from '../model/errors';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { ActName } from '../model/lifecycle/steps';
import type { ActOutcome, RunObserved } from '../model/runs/runs';
import type { BmcDeps } from './bmc-deps';
import { applyInspectionRules } from './inspection-rules';

/** The part of an outcome that the workflow goes on with; everything else stands in the store. */
export const outcomeForEngine = ({ note, rest, follows, reported }: ActOutcome): ActOutcome => ({
  is: 'done',
  ...(note && { note: maskText(note) }),
  ...(rest && { rest }),
  ...(follows && { follows }),
  ...(reported && { reported }),
});

/** Whether a ramdisk is expected once this act has ended: the last of those that boot it. */
export const bootsRamdisk = (step: PlannedStep, act: ActName): boolean =>
  step.awaits !== undefined && act === 'power_on';

type OfRamdisk = { readonly ends: boolean; readonly boots: boolean; readonly at: string };

const detailed = ['properties', 'macs', 'bios', 'firmware', 'raid_config', 'inventory'] as const;
const hasDetails = (seen: RunObserved | undefined): boolean =>
  seen !== undefined && detailed.some((name) => seen[name] !== undefined);

/** What an act saw and did, kept before it counts as done: a repeat writes the same. */
export const keepOutcome = async (
  lock: ActLock,
  { seen, reported }: ActOutcome,
  { ends, boots, at }: OfRamdisk,
  { inventory, log }: BmcDeps,
): Promise<void> => {
  if (!hasDetails(seen) && !reported && !ends && !boots) return;
  const contested = await inventory.transaction(async (store) => {
    // Under the fence: a worker that comes late must not forget the ramdisk of the run after it.
    if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
    if (seen) await store.observedFacts.write(lock, seen);
    if (seen?.inventory) await applyInspectionRules(store, lock, log);
    if (reported) await store.details.report(lock.node_uuid, reported);
    if (boots) await store.ramdiskBoots.expect(lock);
    if (boots) await store.bootCapabilities.meet(lock);
    if (!ends) return false;
    // Sent at once, the boot first: a lookup at this moment waits for its row, and finds it gone.
    const [unnoticed] = await Promise.all([
      store.ramdiskBoots.end(lock, at),
      store.agents.forget(lock.node_uuid),
      store.bootCapabilities.end(lock.node_uuid),
    ]);
    return unnoticed;
  });
  if (contested) raise('RamdiskConflict', { node: lock.node_uuid });
};

/** The outcome without them; states come from a closed list, and a password that reads like one must not alter it. */
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

/** The error without the secrets of this act: a BMC may quote in its refusal what it was sent. */
export const hiddenError = (thrown: unknown, texts: readonly string[]): unknown => {
  if (isTemperError(thrown)) return new TemperError(thrown.code, hideTexts(thrown.facts, texts));
  if (!(thrown instanceof Error) || thrown.name === 'CancelledFailure') return thrown;
  thrown.message = hideTexts(thrown.message, texts);
  return thrown;
};
