/** Activities that change a run's plan; all idempotent. */
import type { Inventory } from '../inventory';
import { raise } from '../model/errors';
import { joined } from '../model/lifecycle/plan-reported';
import type { Joins, PlannedStep, ReportedStep } from '../model/lifecycle/step-types';
import type { Lock, RunEnding } from '../model/runs/runs';
import { guarded } from './failures';

export type JoinInput = {
  readonly lock: Lock;
  readonly joins: Joins;
  /** Index of the step that fetched the report. */
  readonly after: number;
  readonly rest: readonly PlannedStep[];
  readonly reported: readonly ReportedStep[];
  readonly before: readonly PlannedStep[];
};

export type AgainInput = {
  readonly lock: Lock;
  readonly seq: number;
  readonly index: number;
  readonly args?: PlannedStep['args'];
};

export type AddInput = { readonly lock: Lock; readonly steps: readonly PlannedStep[]; readonly ending?: RunEnding };

export const planActivities = (inventory: Inventory) => ({
  /** Throws InvalidSteps if the ramdisk lacks a requested step. */
  join: guarded(async ({ lock, joins, after, rest, reported, before }: JoinInput): Promise<readonly PlannedStep[]> => {
    const steps = joined(joins, rest, reported, after + 1);
    await inventory.transaction(async (store) => {
      if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
      await store.runSteps.replaceAfter(lock, after, steps);
      await store.runs.replan(lock, [...before, ...steps]);
    });
    return steps;
  }),

  addSteps: guarded(
    async ({ lock, steps, ending }: AddInput): Promise<void> =>
      inventory.transaction(async (store) => {
        if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
        await store.runSteps.insert(lock.run, steps);
        if (ending) await store.runs.endsAs(lock, ending);
      }),
  ),

  /** A retry by an operator. Earlier intents of the step no longer count. */
  again: guarded(
    async ({ lock, seq, index, args }: AgainInput): Promise<void> =>
      inventory.transaction(async (store) => {
        if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
        if (!(await store.runs.counted(lock, seq))) return; // a late repeat would forget what is under way
        await store.runSteps.again(lock, index, args);
      }),
  ),
});
