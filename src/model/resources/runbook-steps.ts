/** The steps of a runbook: their order, what may repeat, and which stored step a given one stands for. */
import { raise } from '../errors';
import type { StepInterface, StepSettings } from '../lifecycle/step-types';
import { isReserved, maxSteps, nameOf } from '../lifecycle/steps';

/** A step as a runbook stores it; secrets in `args` are references. `temper` is ours. */
export type RunbookStep = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly order: number;
  readonly args: Readonly<Record<string, unknown>>;
  readonly temper?: StepSettings;
};

/** Steps as they run and are listed: by `order`, and by position where that is equal. */
export const inOrder = <Step extends { order: number }>(steps: readonly Step[]): Step[] =>
  steps
    .map((step, position) => ({ step, position }))
    .sort((a, b) => a.step.order - b.step.order || a.position - b.position)
    .map(({ step }) => step);

/**
 * Refuses more steps than a run takes, and a pair of interface and step that comes twice. The original refuses every
 * duplicate; here the reserved steps (power_on, wait, ...) may repeat, because a second pause is no mistake.
 * Throws InvalidSteps.
 */
export const checkRunbookSteps = (steps: readonly RunbookStep[]): void => {
  if (steps.length > maxSteps)
    raise('InvalidSteps', { reason: `A runbook has at most ${maxSteps} steps; ${steps.length} came.` });
  const seen = new Set<string>();
  for (const step of steps.filter((one) => !isReserved(one.step))) {
    if (seen.has(nameOf(step)))
      raise('InvalidSteps', { reason: `Step ${nameOf(step)} comes twice; a runbook may hold each step once.` });
    seen.add(nameOf(step));
  }
};

/** Names each step by interface, step and how often that pair came before, so that repeated steps keep apart. */
const keyed = (steps: readonly RunbookStep[]): (readonly [string, RunbookStep])[] => {
  const counts = new Map<string, number>();
  return steps.map((step) => {
    const nth = counts.get(nameOf(step)) ?? 0;
    counts.set(nameOf(step), nth + 1);
    return [`${nameOf(step)}#${nth}`, step] as const;
  });
};

/** Each given step beside the stored one of the same interface and step, whatever place it has moved to. */
export const withStored = (
  given: readonly RunbookStep[],
  stored: readonly RunbookStep[],
): { readonly step: RunbookStep; readonly before: RunbookStep | undefined }[] => {
  const known = new Map(keyed(stored));
  return keyed(given).map(([key, step]) => ({ step, before: known.get(key) }));
};
