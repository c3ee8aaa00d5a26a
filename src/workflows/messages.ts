/** Handlers of a run's queries, signals and updates. */
import { setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { RecordedAct } from '../model/runs/run-acts';
import { endedStates, type RunInput } from '../model/runs/runs';
import {
  abortSignal,
  actTried,
  agentContact,
  attributes,
  type Contact,
  type Decision,
  failOperation,
  type Message,
  planQuery,
  progressQuery,
  projectedQuery,
  retryStep,
  setPaused,
  skipStep,
  unholdSignal,
} from './contract';
import type { DecisionKind } from './effects-contract';
import { type ExecutionState, progressOf, projectedOf } from './state';
import { details } from './ui';

type Handled = {
  readonly run: RunInput;
  readonly state: ExecutionState;
  /** For this run, and no repeat. */
  fresh(message: Message): boolean;
  /** An act from Temporal's tools, to be recorded before it takes effect. */
  unrecorded(act: RecordedAct, by: unknown, reason: unknown): void;
};

/** Called before the first await, so that no message is lost. Handlers only change the state. */
export const registerHandlers = (run: RunInput, state: ExecutionState): void => {
  const received = new Set<string>();
  const handled: Handled = {
    run,
    state,
    unrecorded: (act, by, reason) =>
      void state.unrecorded.push({
        act,
        by: String(by ?? '').slice(0, 200),
        reason: String(reason ?? '').slice(0, 1_000),
      }),
    fresh(message) {
      if (message.operationId !== run.lock.run || received.has(message.requestId)) return false;
      received.add(message.requestId);
      return true;
    },
  };
  setHandler(progressQuery, () => progressOf(run, state), { description: 'Where the run is' });
  setHandler(projectedQuery, () => projectedOf(state), { description: 'What it has recorded in PostgreSQL' });
  setHandler(planQuery, () => run.steps, { description: 'The steps as they were accepted' });
  registerSignals(handled);
  registerReports(handled);
  registerUpdates(handled);
};

const registerSignals = ({ run, state, fresh, unrecorded }: Handled): void => {
  setHandler(
    abortSignal,
    (message) => {
      if (!fresh(message)) return;
      if (message.via !== 'api') unrecorded('abort', message.by, '');
      state.aborted = true;
      state.abortedAt ??= Date.now();
      state.cutShort?.();
    },
    { description: 'End the run; a command that has left is waited for a while' },
  );
  setHandler(
    unholdSignal,
    (message) => {
      if (!fresh(message)) return;
      if (message.cursor !== undefined && message.cursor < state.cursor) return; // for a hold that is over
      if (message.via !== 'api') unrecorded('unhold', message.by, '');
      state.unheld = true;
    },
    { description: 'Go on after a hold step' },
  );
  setHandler(
    agentContact,
    ({ operationId, kind }: Contact) => {
      if (operationId !== run.lock.run) return;
      if (kind === 'unfreeze') state.unfreeze = true;
      else if (kind === 'lost') state.ramdiskLost = true;
      else state.contact = true;
    },
    { description: 'Something outside happened: look whether what the run waits for is there' },
  );
};

const registerReports = ({ run, state }: Handled): void => {
  setHandler(
    actTried,
    ({ operationId, nth, attempt }) => {
      if (operationId !== run.lock.run || nth !== state.nth) return;
      state.attempt = attempt;
      setCurrentDetails(details(run, state));
    },
    { description: 'A further attempt of the act under way has begun' },
  );
};

const registerUpdates = ({ state, unrecorded }: Handled): void => {
  const decide = (kind: DecisionKind) => (decision: Decision) => {
    if (decision.via !== 'api') unrecorded(kind, decision.by, decision.reason);
    // Only the API checks and seals arguments.
    state.decision = { kind, ...(decision.via === 'api' && decision.args && { args: decision.args }) };
  };
  const validator = (decision: Decision): void => {
    if (state.state !== 'parked') throw new Error('The run is not parked: there is nothing to decide');
    if (decision.cursor !== state.cursor) throw new Error(`The run is at step ${state.cursor}, not ${decision.cursor}`);
    if (state.decision) throw new Error('The decision was made already');
  };
  setHandler(
    setPaused,
    ({ paused, by, via }) => {
      if (via !== 'api') unrecorded(paused ? 'pause' : 'resume', by, '');
      state.paused = paused;
      upsertSearchAttributes([{ key: attributes.paused, value: paused }]);
    },
    {
      description: 'Stop before the next step, or go on',
      validator: ({ paused }: { paused: boolean; by: string }): void => {
        if (endedStates.includes(state.state)) throw new Error('The run has ended');
        if (paused === state.paused) throw new Error(paused ? 'The run is paused already' : 'The run is not paused');
      },
    },
  );
  setHandler(retryStep, decide('retry'), { validator, description: 'Run the parked step again' });
  setHandler(skipStep, decide('skip'), { validator, description: 'Go on as if the parked step were done' });
  setHandler(failOperation, decide('fail'), { validator, description: 'End the run as failed' });
};
