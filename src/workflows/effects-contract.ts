/** What the interpreter has done for it, and the two errors by which a person ends a run: no engine in here. */
import type { Event } from '../model/lifecycle/states';
import type { Awaited, PlannedStep, ReportedStep } from '../model/lifecycle/step-types';
import type { ActOutcome, MarkedState, RunState } from '../model/runs/runs';

export type DecisionKind = 'retry' | 'skip' | 'fail';

/** What a person decided about a parked step; `args` are those it is tried again with. */
export type Decided = { readonly kind: DecisionKind; readonly args?: Readonly<Record<string, unknown>> };

/** Why a run ended before its time, because a person asked for it; the message says what is not known of its last step. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** A parked run was failed by a person. */
export class FailedByPerson extends Error {
  override readonly name = 'FailedByPerson';
}

export type Effects = {
  /** One act on the BMC: an activity. `last` says that the step is done with it. */
  act(step: PlannedStep, index: number): Promise<ActOutcome>;
  /** Moves the node, where this run has such a move; a run without wait states ignores it. */
  move(event: Event): Promise<void>;
  /** Projects a step that the workflow itself carries: waiting, parked, skipped, done. */
  mark(step: PlannedStep, state: MarkedState, facts?: { note?: string; error?: string }): Promise<void>;
  /** Shows where the run is: progress query, details in the UI. */
  at(index: number, state: RunState, waitingFor: string | null): void;
  sleep(ms: number, summary: string): Promise<void>;
  /** Resolves on unhold; throws Aborted when abort comes first. */
  unheld(): Promise<void>;
  /** Resolves with what a person decided; throws Aborted when abort comes first. */
  decided(step: PlannedStep): Promise<Decided>;
  /** A person wants the step tried again: what was announced of it no longer counts. */
  again(step: PlannedStep, args?: PlannedStep['args']): Promise<void>;
  abortAsked(): boolean;
  /** Resolves when the run is not paused; throws Aborted when abort comes first. */
  unpaused(step: PlannedStep): Promise<void>;
  /** Runs work that an abort may cancel in the middle, or may not. */
  scoped<T>(abortable: boolean, work: () => Promise<T>): Promise<T>;
  /** Whether an error says that an act's effect cannot be known. */
  isUnknown(thrown: unknown): boolean;
  /** Whether an act failed for a reason that is known: not a lost lock, not a cancellation, not a bug of ours. */
  isFailure(thrown: unknown): boolean;
  describe(thrown: unknown): string;
  /** Whether an act lost its ramdisk and may be done anew in another. */
  startsOver(thrown: unknown, step: PlannedStep, index: number): boolean;
  /** Whether an act is work of the ramdisk, during which the node rests in its wait state. */
  restsIn(step: PlannedStep, index: number): boolean;
  /** Whether an act was held back by an operator's freeze of the node. */
  isFrozen(thrown: unknown): boolean;
  /** Resolves when no freeze holds the node any more; throws Aborted when abort comes first. */
  thawed(step: PlannedStep, why: string, options?: { readonly evenAborted?: boolean }): Promise<void>;
  /**
   * Rests in the wait state until the ramdisk has called back, then goes on. Throws where it never does. `lost` where what it sends
   * is not taken any more, because the store was set back to before its boot.
   */
  contacted(step: PlannedStep, awaits: Awaited): Promise<'lost' | undefined>;
  /** The rest of the plan once the ramdisk has reported what it has. Throws what does not fit. */
  join(
    step: PlannedStep,
    rest: readonly PlannedStep[],
    reported: readonly ReportedStep[],
  ): Promise<readonly PlannedStep[]>;
  /** The step that boots the ramdisk, for steps that restart the node. */
  readonly boot?: PlannedStep;
  /** Whether the run should go on in a new execution, because its history has grown long. */
  cutsHistory(): boolean;
  /** Goes on waiting for its turn in a new execution; never returns. */
  queueOn(): Promise<never>;
  /** Goes on in a new execution with these steps still to do; never returns. */
  goOn(from: number, steps: readonly PlannedStep[]): Promise<never>;
};
