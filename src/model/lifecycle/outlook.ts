/** What a plan would do to its node, step by step: interrupt its power, destroy what is on its disks, take how long. Pure. */
import type { Plan } from './plan-parts';
import type { PlannedStep } from './step-types';
import { actRow, nameOf, steps } from './steps';

/** What the past says of one step on nodes of the same vendor and model, in milliseconds. */
export type StepDuration = { readonly expected_ms: number; readonly p95_ms: number };

export type StepOutlook = {
  /** How often the node is powered off or restarted at most; what the ramdisk restarts by itself is not known. */
  readonly power_cycles: number;
  /** Whether data on the node's disks is destroyed; null where only the ramdisk or the BMC knows. */
  readonly erases: boolean | null;
};

const erasing: readonly string[] = steps.filter(({ erases }) => erases).map(nameOf);
const catalogued: readonly string[] = steps.map(nameOf);

// Raw bytes may mean anything, and so may a step that only a node's own ramdisk has.
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

/** The whole of a plan. In automated cleaning the ramdisk brings its own list, which erases unless it was built otherwise. */
export const planOutlook = ({ steps: planned, joins }: Plan): StepOutlook => {
  const each = planned.map(stepOutlook);
  return {
    power_cycles: each.reduce((sum, { power_cycles }) => sum + power_cycles, 0),
    erases: joins === 'automatic' ? true : anyTrue(each.map(({ erases }) => erases)),
  };
};

/** Of all steps together; null where one of them has no past. */
export const totalDuration = (durations: readonly (StepDuration | undefined)[]): StepDuration | null => {
  let [expected_ms, p95_ms] = [0, 0];
  for (const one of durations) {
    if (!one) return null;
    expected_ms += one.expected_ms;
    p95_ms += one.p95_ms;
  }
  return { expected_ms, p95_ms };
};
