/** Effects of the interpreter, and the two errors by which an operator ends a run. No Temporal imports. */
import type { Event } from '../model/lifecycle/states';
import type { Awaited, PlannedStep, ReportedStep } from '../model/lifecycle/step-types';
import type { ActOutcome, MarkedState, RunState } from '../model/runs/runs';

export type DecisionKind = 'retry' | 'skip' | 'fail';

/** Decision about a parked step; `args` are for a retry. */
export type Decided = { readonly kind: DecisionKind; readonly args?: Readonly<Record<string, unknown>> };

/** An operator ended the run early. The message names an unknown effect of the last step. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

export class FailedByPerson extends Error {
  override readonly name = 'FailedByPerson';
}

export type Effects = {
  act(step: PlannedStep, index: number): Promise<ActOutcome>;
  /** Ignored by a run without that transition. */
  move(event: Event): Promise<void>;
  /** Records a step that runs in the workflow itself. */
  mark(step: PlannedStep, state: MarkedState, facts?: { note?: string; error?: string }): Promise<void>;
  at(index: number, state: RunState, waitingFor: string | null): void;
  sleep(ms: number, summary: string): Promise<void>;
  /** Throws Aborted if an abort comes first. */
  unheld(): Promise<void>;
  /** Resolves with an operator's decision. Throws Aborted if an abort comes first. */
  decided(step: PlannedStep): Promise<Decided>;
  /** A retry: earlier command records of the step no longer count. */
  again(step: PlannedStep, args?: PlannedStep['args']): Promise<void>;
  abortAsked(): boolean;
  /** Throws Aborted if an abort comes first. */
  unpaused(step: PlannedStep): Promise<void>;
  scoped<T>(abortable: boolean, work: () => Promise<T>): Promise<T>;
  /** The act's effect is unknown. */
  isUnknown(thrown: unknown): boolean;
  /** A known failure: no lost lock, no cancellation, no bug. */
  isFailure(thrown: unknown): boolean;
  describe(thrown: unknown): string;
  /** The act lost its ramdisk and may start over in another. */
  startsOver(thrown: unknown, step: PlannedStep, index: number): boolean;
  /** The act is work of the ramdisk, and the node is in its wait state meanwhile. */
  restsIn(step: PlannedStep, index: number): boolean;
  isFrozen(thrown: unknown): boolean;
  /** Throws Aborted if an abort comes first. */
  unfrozen(step: PlannedStep, why: string, options?: { readonly evenAborted?: boolean }): Promise<void>;
  /**
   * Waits until the ramdisk has called back. Throws on timeout.
   * `lost`: the database was restored to before the ramdisk's boot, so its messages are rejected.
   */
  contacted(step: PlannedStep, awaits: Awaited): Promise<'lost' | undefined>;
  /** Plans the rest from the ramdisk's report. Throws if it does not fit. */
  join(
    step: PlannedStep,
    rest: readonly PlannedStep[],
    reported: readonly ReportedStep[],
  ): Promise<readonly PlannedStep[]>;
  /** Boots the ramdisk again after a restart. */
  readonly boot?: PlannedStep;
  cutsHistory(): boolean;
  /** Waits for its turn in a new execution; never returns. */
  queueOn(): Promise<never>;
  /** Continues in a new execution; never returns. */
  goOn(from: number, steps: readonly PlannedStep[]): Promise<never>;
};
