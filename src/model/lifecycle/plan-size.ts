/** Size limit of a run: Temporal keeps its input in the history and passes it to every act. Pure. */
import { raise } from '../errors';
import type { Plan } from './plan-parts';

/** All 600 settings of a BIOS take 40 KiB. */
export const maxPlanBytes = 64 * 1024;

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Throws InvalidSteps. */
export const requirePlanSize = (plan: Plan): void => {
  const bytes = jsonBytes(plan);
  if (bytes > maxPlanBytes)
    raise('InvalidSteps', {
      reason: `The steps hold ${bytes} bytes; a run carries at most ${maxPlanBytes}. Split them into several runs.`,
    });
};

/** Counts arguments before they are built, so that a value with many uses is refused before it is copied. */
export class PlanRoom {
  private bytes = 0;

  /** Throws InvalidSteps above the limit. */
  take(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > maxPlanBytes)
      raise('InvalidSteps', {
        reason: `The arguments of the steps come to more bytes than a run carries, at most ${maxPlanBytes}. A value counts each time that it is used, and on each node. Give shorter values, or split the steps into several runs.`,
      });
  }
}
