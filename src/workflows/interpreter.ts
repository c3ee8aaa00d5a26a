/** How steps are run, as pure logic over a few hands: no engine in here, so that plain tests cover every branch. */
import type { ActOutcome, RunState, StepState } from '../model/runs';
import type { Event } from '../model/states';
import { nameOf, type PlannedStep } from '../model/steps';

export type DecisionKind = 'retry' | 'skip' | 'fail';

/** Why a run ended before its time, by somebody's wish. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** A parked run was failed by a person. */
export class FailedByPerson extends Error {
  override readonly name = 'FailedByPerson';
}

export type Hands = {
  /** One act on the BMC: an activity. `last` says that the step is done with it. */
  act(step: PlannedStep, index: number): Promise<ActOutcome>;
  /** Moves the node, where this story has such a move; a story without wait states ignores it. */
  move(event: Event): Promise<void>;
  /** Projects a step that the workflow itself carries: waiting, parked, skipped, done. */
  mark(step: PlannedStep, state: StepState, facts?: { note?: string; error?: string }): Promise<void>;
  /** Shows where the run is: progress query, details in the UI. */
  at(index: number, state: RunState, waitingFor: string | null): void;
  sleep(ms: number, summary: string): Promise<void>;
  /** Resolves on unhold; throws Aborted when abort comes first. */
  unheld(): Promise<void>;
  /** Resolves with what a person decided; throws Aborted when abort comes first. */
  decided(step: PlannedStep): Promise<DecisionKind>;
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
};

/** Runs the steps in order. Throws Aborted, FailedByPerson, or what an act failed with. */
export const runSteps = async (steps: readonly PlannedStep[], hands: Hands): Promise<void> => {
  for (const step of steps) {
    if (hands.abortAsked()) throw new Aborted();
    await hands.unpaused(step);
    hands.at(step.index, 'running', null);
    await runStep(step, hands);
  }
  if (hands.abortAsked()) throw new Aborted();
};

const runStep = async (step: PlannedStep, hands: Hands): Promise<void> => {
  switch (step.waits) {
    case 'time':
      return waitStep(step, Number(step.args.seconds), hands);
    case 'unhold':
      return holdStep(step, hands);
    case null:
      return hands.scoped(step.abortable, () => actStep(step, hands));
  }
};

const waitStep = async (step: PlannedStep, seconds: number, hands: Hands): Promise<void> => {
  hands.at(step.index, 'waiting', `${seconds} s to pass`);
  await hands.mark(step, 'waiting');
  await hands.move('wait');
  await hands.scoped(true, () => hands.sleep(seconds * 1_000, `${nameOf(step)}: ${seconds} s`));
  await hands.move('resume');
  await hands.mark(step, 'done');
};

// The original goes back to its wait state and may rest there for ever; here a hold ends where the work goes on.
const holdStep = async (step: PlannedStep, hands: Hands): Promise<void> => {
  hands.at(step.index, 'waiting', 'unhold');
  await hands.mark(step, 'waiting');
  await hands.move('hold');
  await hands.unheld();
  await hands.move('unhold');
  await hands.move('resume');
  await hands.mark(step, 'done');
};

const actStep = async (step: PlannedStep, hands: Hands): Promise<void> => {
  for (let index = 0; index < step.acts.length; index++) {
    try {
      const outcome = await hands.act(step, index);
      if (outcome.rest === 'skip') return;
    } catch (thrown) {
      const unknown = hands.isUnknown(thrown);
      if (!unknown && hands.isFailure(thrown) && step.on_failure === 'continue') {
        await hands.mark(step, 'failed', { error: hands.describe(thrown) });
        return;
      }
      const mayPark = unknown ? step.parks : hands.isFailure(thrown) && step.on_failure === 'park';
      if (!mayPark) throw thrown;
      switch (await park(step, hands.describe(thrown), unknown, hands)) {
        case 'retry':
          index -= 1;
          break;
        case 'skip':
          return hands.mark(step, 'skipped');
        case 'fail':
          throw new FailedByPerson(hands.describe(thrown));
      }
    }
  }
};

const park = async (step: PlannedStep, error: string, unknown: boolean, hands: Hands): Promise<DecisionKind> => {
  const why = unknown ? 'whether the step took effect cannot be known' : 'the step failed';
  hands.at(step.index, 'parked', `a person: ${why}`);
  await hands.mark(step, 'parked', { error });
  await hands.move('wait');
  const decision = await hands.decided(step);
  await hands.move('resume');
  hands.at(step.index, 'running', null);
  return decision;
};
