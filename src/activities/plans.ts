/** Acts of a run on its own plan: it grows when the ramdisk reports what it has, and when a run ends early. */
import type { Inventory } from '../inventory';
import { raise } from '../model/errors';
import { joined } from '../model/lifecycle/plan-reported';
import type { Joins, PlannedStep, ReportedStep } from '../model/lifecycle/step-types';
import type { Lock, RunEnding } from '../model/runs/runs';
import { guarded } from './failures';

export type JoinInput = {
  readonly lock: Lock;
  readonly joins: Joins;
  /** Index of the step that asked. */
  readonly after: number;
  readonly rest: readonly PlannedStep[];
  readonly reported: readonly ReportedStep[];
  /** The steps before. */
  readonly before: readonly PlannedStep[];
};

export type AgainInput = {
  readonly lock: Lock;
  readonly seq: number;
  readonly index: number;
  readonly args?: PlannedStep['args'];
};

export type AddInput = { readonly lock: Lock; readonly steps: readonly PlannedStep[]; readonly ending?: RunEnding };

/** @returns the activities that change a plan; every one harmless to repeat */
export const planActivities = (inventory: Inventory) => ({
  /** Plans the rest of the run. Throws InvalidSteps where the ramdisk lacks what was asked for. */
  join: guarded(async ({ lock, joins, after, rest, reported, before }: JoinInput): Promise<readonly PlannedStep[]> => {
    const steps = joined(joins, rest, reported, after + 1);
    await inventory.transaction(async (store) => {
      if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
      await store.runSteps.replaceAfter(lock, after, steps);
      await store.runs.replan(lock, [...before, ...steps]);
    });
    return steps;
  }),

  /** Adds steps at the end. */
  addSteps: guarded(
    async ({ lock, steps, ending }: AddInput): Promise<void> =>
      inventory.transaction(async (store) => {
        if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
        await store.runSteps.insert(lock.run, steps);
        if (ending) await store.runs.endsAs(lock, ending);
      }),
  ),

  /** A person has decided that a step is tried again: what was announced of it no longer counts. */
  again: guarded(
    async ({ lock, seq, index, args }: AgainInput): Promise<void> =>
      inventory.transaction(async (store) => {
        if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
        if (!(await store.runs.counted(lock, seq))) return; // a repeat that comes late would forget what is under way
        await store.runSteps.again(lock, index, args);
      }),
  ),
});
