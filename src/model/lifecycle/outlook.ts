/** Effects of a plan on its node: power cycles, erased disks, duration. Pure. */
import type { Plan } from './plan-parts';
import type { PlannedStep } from './step-types';
import { actRow, nameOf, steps } from './steps';

/** Milliseconds, on nodes of the same vendor and model. */
export type StepDuration = { readonly expected_ms: number; readonly p95_ms: number };

export type StepOutlook = {
  /** At most, without restarts by the ramdisk itself. */
  readonly power_cycles: number;
  /** Null if only the ramdisk or the BMC can determine it. */
  readonly erases: boolean | null;
};

const erasing: readonly string[] = steps.filter(({ erases }) => erases).map(nameOf);
const catalogued: readonly string[] = steps.map(nameOf);

// Raw bytes and a ramdisk's own steps may do anything.
const unknowable = (step: PlannedStep): boolean =>
  step.acts.some(({ act }) => act === 'send_raw' || (act === 'agent_step' && !catalogued.includes(nameOf(step))));

const erasesData = (step: PlannedStep): boolean | null => {
  if (step.acts.some(({ act }) => actRow(act).erases)) return true;
  if (step.acts.some(({ act }) => act === 'agent_step') && erasing.includes(nameOf(step))) return true;
  return unknowable(step) ? null : false;
};

export const stepOutlook = (step: PlannedStep): StepOutlook => ({
  power_cycles: step.acts.filter(({ act }) => actRow(act).endsAgent).length,
  erases: erasesData(step),
});

const anyTrue = (found: readonly (boolean | null)[]): boolean | null =>
  found.includes(true) ? true : found.includes(null) ? null : false;

/** In automated cleaning the ramdisk has its own list, which erases by default. */
export const planOutlook = ({ steps: planned, joins }: Plan): StepOutlook => {
  const each = planned.map(stepOutlook);
  return {
    power_cycles: each.reduce((sum, { power_cycles }) => sum + power_cycles, 0),
    erases: joins === 'automatic' ? true : anyTrue(each.map(({ erases }) => erases)),
  };
};

/** Null if one step has no past durations. */
export const totalDuration = (durations: readonly (StepDuration | undefined)[]): StepDuration | null => {
  let [expected_ms, p95_ms] = [0, 0];
  for (const one of durations) {
    if (!one) return null;
    expected_ms += one.expected_ms;
    p95_ms += one.p95_ms;
  }
  return { expected_ms, p95_ms };
};
