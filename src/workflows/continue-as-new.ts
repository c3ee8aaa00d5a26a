/** Continue-as-new of a run whose history has grown long. */
import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { RunInput } from '../model/runs/runs';
import { Aborted } from './effects-contract';
import type { Journal } from './journal';
import { type ExecutionState, endAsked } from './state';

type Carried = Pick<NonNullable<RunInput['carries']>, 'from' | 'steps' | 'booted' | 'waitsTurn'>;

export const createContinuation = (run: RunInput, state: ExecutionState, journal: Journal) => {
  const next = async (carried: Carried): Promise<never> => {
    await journal.record();
    if (endAsked(state)) throw new Aborted(); // received with the last workflow task
    return continueAsNew<(run: RunInput) => Promise<unknown>>({
      ...run,
      ...(state.provision_state ? { provision_state: state.provision_state } : {}),
      carries: { ...carried, seq: journal.seq, paused: state.paused },
    });
  };
  return {
    cutsHistory(): boolean {
      const { continueAsNewSuggested, historyLength } = workflowInfo();
      return continueAsNewSuggested || historyLength > (run.timing.historyLength ?? Number.POSITIVE_INFINITY);
    },
    queueOn: () => next({ from: 0, steps: run.steps, waitsTurn: true }),
    goOn: (from: number, steps: readonly PlannedStep[]) => next({ from, steps, booted: state.booted }),
  };
};
