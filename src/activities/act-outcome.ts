/** Outcomes of acts: stored for repeats, reduced for Temporal, and stripped of secrets. */
import type { ActLock } from '../inventory/fence';
import { hideTexts, maskText } from '../model/access/secrets';
import { isTemperError, raise, TemperError } from '../model/errors';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { ActName } from '../model/lifecycle/steps';
import type { ActOutcome, RunObserved } from '../model/runs/runs';
import type { BmcDeps } from './bmc-deps';
import { applyInspectionRules } from './inspection-rules';

/** The part of an outcome that the workflow uses; the rest is in PostgreSQL. */
export const outcomeForEngine = ({ note, rest, follows, reported }: ActOutcome): ActOutcome => ({
  is: 'done',
  ...(note && { note: maskText(note) }),
  ...(rest && { rest }),
  ...(follows && { follows }),
  ...(reported && { reported }),
});

/** True for the act that starts a ramdisk: the last of its step. */
export const bootsRamdisk = (step: PlannedStep, act: ActName): boolean =>
  step.awaits !== undefined && act === 'power_on';

type OfRamdisk = { readonly ends: boolean; readonly boots: boolean; readonly at: string };

const detailed = ['properties', 'macs', 'bios', 'firmware', 'raid_config', 'inventory'] as const;
const hasDetails = (seen: RunObserved | undefined): boolean =>
  seen !== undefined && detailed.some((name) => seen[name] !== undefined);

/** Stores the results of an act before it counts as done; idempotent. */
export const keepOutcome = async (
  lock: ActLock,
  { seen, reported }: ActOutcome,
  { ends, boots, at }: OfRamdisk,
  { inventory, log }: BmcDeps,
): Promise<void> => {
  if (!hasDetails(seen) && !reported && !ends && !boots) return;
  const contested = await inventory.transaction(async (store) => {
    // Checked under the fence, so that a late worker does not delete the ramdisk of the next run.
    if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
    if (seen) await store.observedFacts.write(lock, seen);
    if (seen?.inventory) await applyInspectionRules(store, lock, log);
    if (reported) await store.details.report(lock.node_uuid, reported);
    if (boots) await store.ramdiskBoots.expect(lock);
    if (boots) await store.bootCapabilities.meet(lock);
    if (!ends) return false;
    // Not awaited one by one, the boot first: a concurrent lookup waits for the boot's row and then finds it ended.
    const [unnoticed] = await Promise.all([
      store.ramdiskBoots.end(lock, at),
      store.agents.forget(lock.node_uuid),
      store.bootCapabilities.end(lock.node_uuid),
    ]);
    return unnoticed;
  });
  if (contested) raise('RamdiskConflict', { node: lock.node_uuid });
};

/** Removes secrets. States come from a closed list, and a password equal to one must not alter them. */
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

/** Removes the act's secrets from the error, because a BMC may quote its request. */
export const hiddenError = (thrown: unknown, texts: readonly string[]): unknown => {
  if (isTemperError(thrown)) return new TemperError(thrown.code, hideTexts(thrown.facts, texts));
  if (!(thrown instanceof Error) || thrown.name === 'CancelledFailure') return thrown;
  thrown.message = hideTexts(thrown.message, texts);
  return thrown;
};
