/** Effects of the interpreter on Temporal. */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { actRow } from '../model/lifecycle/steps';
import type { RunInput } from '../model/runs/runs';
import { createActs, isFailure } from './acts';
import { createContinuation } from './continue-as-new';
import { attributes } from './contract';
import type { Effects } from './effects-contract';
import { codeOf, isHeldBack } from './failures';
import type { Journal } from './journal';
import { type ExecutionState, endAsked } from './state';
import { details } from './ui';
import { createWaits } from './waits';

export const createEffects = (run: RunInput, state: ExecutionState, journal: Journal): Effects => {
  const acts = createActs(run, state, journal);
  return {
    ...acts,
    ...createWaits(run, state, journal, acts),
    ...createContinuation(run, state, journal),
    move: (event) => journal.move(event),
    async mark(step, stepState, facts) {
      if (stepState === 'parked') {
        state.error = facts?.error ?? null;
        setCurrentDetails(details(run, state));
      }
      await journal.mark(step, stepState, facts);
    },
    at(index, next, waitingFor) {
      // The attribute starts with the first step.
      if (index !== state.cursor) {
        state.attempt = 1;
        upsertSearchAttributes([{ key: attributes.stepIndex, value: index }]);
      }
      Object.assign(state, { cursor: index, state: next, waitingFor, error: null, unheld: false, decision: null });
      setCurrentDetails(details(run, state));
    },
    again: (step, args) => journal.again(step, args),
    abortAsked: () => endAsked(state),
    isFailure,
    isUnknown: (thrown) => codeOf(thrown) === 'StepOutcomeUnknown',
    startsOver: (thrown, step, index) =>
      codeOf(thrown) === 'AgentGone' && actRow(step.acts[index]!.act).startsOver === true,
    restsIn(step, index) {
      const { by, timeout } = actRow(step.acts[index]!.act);
      return by === 'agent' && timeout === 'job';
    },
    isFrozen: isHeldBack,
    async join(step, rest, reported) {
      const planned = await journal.join(step, rest, reported);
      state.steps = [...state.steps.slice(0, step.index + 1), ...planned];
      return planned;
    },
    boot: run.boot,
  };
};
