/** Where a run is: the little state that its messages and its story share. */
import type { RunInput, RunState } from '../model/runs';
import { nameOf } from '../model/steps';
import type { Progress } from './contract';
import type { DecisionKind } from './interpreter';

export type Here = {
  state: RunState;
  cursor: number;
  waitingFor: string | null;
  aborted: boolean;
  paused: boolean;
  unheld: boolean;
  decision: DecisionKind | null;
  /** Cancels what an abort may cut short now; null while nothing may be. */
  cutShort: (() => void) | null;
};

export const startingPoint = (): Here => ({
  state: 'running',
  cursor: 0,
  waitingFor: null,
  aborted: false,
  paused: false,
  unheld: false,
  decision: null,
  cutShort: null,
});

/** What the progress query answers. */
export const progressOf = (run: RunInput, here: Here): Progress => ({
  verb: run.verb,
  state: here.state,
  cursor: here.cursor,
  total: run.steps.length,
  step: run.steps[here.cursor] ? nameOf(run.steps[here.cursor]!) : null,
  waitingFor: here.waitingFor,
  parked: here.state === 'parked',
  abortAsked: here.aborted,
});
