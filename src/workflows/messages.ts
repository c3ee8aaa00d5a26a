/** What a run answers and receives: queries, signals, and updates. */
import { setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { endedStates, type RunInput } from '../model/runs/runs';
import {
  abortSignal,
  agentContact,
  attributes,
  type Contact,
  type Decision,
  failOperation,
  type Message,
  planQuery,
  progressQuery,
  retryStep,
  setPaused,
  skipStep,
  unholdSignal,
} from './contract';
import { type Here, progressOf } from './here';
import type { DecisionKind } from './interpreter';

/** Registers every handler; called before the first await, so that no message finds none. Handlers only note, they never act. */
export const listen = (run: RunInput, here: Here): void => {
  const heard = new Set<string>();
  const unrecorded = (act: string, by: unknown, reason: unknown): void => {
    here.unrecorded.push({ act, by: String(by ?? '').slice(0, 200), reason: String(reason ?? '').slice(0, 1_000) });
  };
  const fresh = (message: Message): boolean => {
    if (message.operationId !== run.lock.run || heard.has(message.requestId)) return false;
    heard.add(message.requestId);
    return true;
  };
  setHandler(progressQuery, () => progressOf(run, here), { description: 'Where the run is' });
  setHandler(planQuery, () => run.steps, { description: 'The steps as they were accepted' });
  setHandler(
    abortSignal,
    (message) => {
      if (!fresh(message)) return;
      if (message.via !== 'api') unrecorded('abort', message.by, '');
      here.aborted = true;
      here.abortedAt ??= Date.now();
      here.cutShort?.();
    },
    { description: 'End the run; a command that has left is waited for a while' },
  );
  setHandler(
    unholdSignal,
    (message) => {
      if (!fresh(message)) return;
      if (message.cursor !== undefined && message.cursor < here.cursor) return; // for a hold that is over
      if (message.via !== 'api') unrecorded('unhold', message.by, '');
      here.unheld = true;
    },
    { description: 'Go on after a hold step' },
  );
  setHandler(
    agentContact,
    ({ operationId, kind }: Contact) => {
      if (operationId !== run.lock.run) return;
      if (kind === 'thaw') here.thaw = true;
      else here.contact = true;
    },
    { description: 'Something outside happened: look whether what the run waits for is there' },
  );
  const decide = (kind: DecisionKind) => (decision: Decision) => {
    if (decision.via !== 'api') unrecorded(kind, decision.by, decision.reason);
    // Arguments are checked and sealed by the API alone.
    here.decision = { kind, ...(decision.via === 'api' && decision.args && { args: decision.args }) };
  };
  const validator = (decision: Decision): void => {
    if (here.state !== 'parked') throw new Error('The run is not parked: there is nothing to decide');
    if (decision.cursor !== here.cursor) throw new Error(`The run is at step ${here.cursor}, not ${decision.cursor}`);
    if (here.decision) throw new Error('The decision was made already');
  };
  setHandler(
    setPaused,
    ({ paused, by, via }) => {
      if (via !== 'api') unrecorded(paused ? 'pause' : 'resume', by, '');
      here.paused = paused;
      upsertSearchAttributes([{ key: attributes.paused, value: paused }]);
    },
    {
      description: 'Stop before the next step, or go on',
      validator: ({ paused }: { paused: boolean; by: string }): void => {
        if (endedStates.includes(here.state)) throw new Error('The run has ended');
        if (paused === here.paused) throw new Error(paused ? 'The run is paused already' : 'The run is not paused');
      },
    },
  );
  setHandler(retryStep, decide('retry'), { validator, description: 'Run the parked step again' });
  setHandler(skipStep, decide('skip'), { validator, description: 'Go on as if the parked step were done' });
  setHandler(failOperation, decide('fail'), { validator, description: 'End the run as failed' });
};
