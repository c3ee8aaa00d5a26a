/** How much a run may carry: its input stays in its history and goes with every act. Pure. */
import { raise } from '../errors';
import type { Plan } from './plan-parts';

/** Of one run. The settings of a whole BIOS, 600 of them, are 40 KiB. */
export const maxPlanBytes = 64 * 1024;

/** Of the JSON text of a value, in UTF-8. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Throws InvalidSteps for a plan of too many bytes. */
export const requirePlanSize = (plan: Plan): void => {
  const bytes = jsonBytes(plan);
  if (bytes > maxPlanBytes)
    raise('InvalidSteps', {
      reason: `The steps hold ${bytes} bytes; a run carries at most ${maxPlanBytes}. Split them into several runs.`,
    });
};

/**
 * Counts what the arguments of a run come to before they are put together: a value that is named often, or goes to many nodes, is
 * not copied first and counted then.
 */
export class PlanRoom {
  private bytes = 0;

  /** Throws InvalidSteps once more is asked for than a run carries. */
  take(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > maxPlanBytes)
      raise('InvalidSteps', {
        reason: `The arguments of the steps come to more bytes than a run carries, which are at most ${maxPlanBytes}: a value counts each time that it is used, and on each node. Give shorter values, or split the steps into several runs.`,
      });
  }
}
