/** Effects that the interpreter uses, and the two errors by which an operator ends a run. No Temporal imports. */
import type { Event } from '../model/lifecycle/states';
import type { Awaited, PlannedStep, ReportedStep } from '../model/lifecycle/step-types';
import type { ActOutcome, MarkedState, RunState } from '../model/runs/runs';

export type DecisionKind = 'retry' | 'skip' | 'fail';

/** An operator's decision about a parked step; `args` are new arguments for a retry. */
export type Decided = { readonly kind: DecisionKind; readonly args?: Readonly<Record<string, unknown>> };

/** An operator ended the run early. The message says what is unknown about the last step. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** An operator failed a parked run. */
export class FailedByPerson extends Error {
  override readonly name = 'FailedByPerson';
}

export type Effects = {
  /** Runs one act as an activity. */
  act(step: PlannedStep, index: number): Promise<ActOutcome>;
  /** Moves the node; ignored by a run without that transition. */
  move(event: Event): Promise<void>;
  /** Records the state of a step that runs in the workflow itself. */
  mark(step: PlannedStep, state: MarkedState, facts?: { note?: string; error?: string }): Promise<void>;
  /** Shows the position of the run in query and UI. */
  at(index: number, state: RunState, waitingFor: string | null): void;
  sleep(ms: number, summary: string): Promise<void>;
  /** Resolves on unhold; throws Aborted if an abort comes first. */
  unheld(): Promise<void>;
  /** Resolves with an operator's decision; throws Aborted if an abort comes first. */
  decided(step: PlannedStep): Promise<Decided>;
  /** Records a retry. Earlier command records of the step no longer count. */
  again(step: PlannedStep, args?: PlannedStep['args']): Promise<void>;
  abortAsked(): boolean;
  /** Resolves when the run is not paused; throws Aborted if an abort comes first. */
  unpaused(step: PlannedStep): Promise<void>;
  /** Runs work that an abort may or may not cancel. */
  scoped<T>(abortable: boolean, work: () => Promise<T>): Promise<T>;
  /** True if the effect of the act is unknown. */
  isUnknown(thrown: unknown): boolean;
  /** True if an act failed for a known reason: no lost lock, no cancellation, no bug. */
  isFailure(thrown: unknown): boolean;
  describe(thrown: unknown): string;
  /** True if an act lost its ramdisk and may start over in another. */
  startsOver(thrown: unknown, step: PlannedStep, index: number): boolean;
  /** True for work of the ramdisk, during which the node is in its wait state. */
  restsIn(step: PlannedStep, index: number): boolean;
  /** True if an operator's freeze held the act back. */
  isFrozen(thrown: unknown): boolean;
  /** Resolves when no freeze holds the node; throws Aborted if an abort comes first. */
  thawed(step: PlannedStep, why: string, options?: { readonly evenAborted?: boolean }): Promise<void>;
  /**
   * Waits in the wait state until the ramdisk has called back. Throws on timeout.
   * Returns `lost` if the database was restored to before its boot, so that its messages are rejected.
   */
  contacted(step: PlannedStep, awaits: Awaited): Promise<'lost' | undefined>;
  /** Plans the rest after the ramdisk has reported its steps. Throws if they do not fit. */
  join(
    step: PlannedStep,
    rest: readonly PlannedStep[],
    reported: readonly ReportedStep[],
  ): Promise<readonly PlannedStep[]>;
  /** The step that boots the ramdisk; used again after a restart of the node. */
  readonly boot?: PlannedStep;
  /** True if the history has grown long enough for continue-as-new. */
  cutsHistory(): boolean;
  /** Continues the wait for a turn in a new execution; never returns. */
  queueOn(): Promise<never>;
  /** Continues with these steps in a new execution; never returns. */
  goOn(from: number, steps: readonly PlannedStep[]): Promise<never>;
};
