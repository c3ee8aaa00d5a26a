/** Where a run is: the state that its messages and its steps share. */

import type { ProvisionState } from '../model/lifecycle/states';
import type { Awaited, PlannedStep } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import type { RecordedAct } from '../model/runs/run-acts';
import type { RunEnding, RunInput, RunState, WaitsOn } from '../model/runs/runs';
import type { Progress, Projected } from './contract';
import type { Decided } from './effects-contract';

/** An act on the run that came by the engine's own tools. */
type Unrecorded = { readonly act: RecordedAct; readonly by: string; readonly reason: string };

export type ExecutionState = {
  state: RunState;
  cursor: number;
  waitingFor: string | null;
  /** What it waits on, where that decides something. */
  waitsOn: WaitsOn | null;
  /** Why the run waits for a decision; null while it does not. */
  error: string | null;
  aborted: boolean;
  /** The engine was asked to cancel it, by an operator with the engine's own tools or by a run that takes its node. */
  cancelled: boolean;
  /** When the end was asked for; epoch milliseconds of the engine's clock. */
  abortedAt: number | null;
  /** Until when an aborted run may tidy up; null while it does not. */
  tidyBy: number | null;
  paused: boolean;
  unheld: boolean;
  decision: Decided | null;
  /** A message came without the API; written down before it goes on. */
  unrecorded: Unrecorded[];
  /** The ramdisk has called back since the run began to wait for it. */
  contact: boolean;
  /** The store has lost the ramdisk that the run waits for. */
  ramdiskLost: boolean;
  /** What it waits for from the ramdisk. */
  awaits: Awaited | null;
  /** Counter of its records in the store; the last one may not be confirmed yet. */
  seq: number;
  /** The same of the last that was confirmed, and of the last with which it began to wait for the ramdisk. */
  projected: number;
  contactSeq: number;
  /** How it ends, once it tidies up. */
  ending: RunEnding | null;
  /** The ramdisk has been booted, or was about to be: what ends early must take it off the node again. */
  booted: boolean;
  /** A freeze may have ended. */
  thaw: boolean;
  /** The plan as it is now; it grows when the ramdisk reports what it has. */
  steps: readonly PlannedStep[];
  /** Of the node, as far as it is known; only shown, never decided by. */
  provision_state: ProvisionState | null;
  /** Which act of this execution is under way, counted from 1; 0 before the first. */
  nth: number;
  /** Which attempt of it, as BMC workers report. */
  attempt: number;
  /** Cancels what an abort may cut short now; null while nothing may be. */
  cutShort: (() => void) | null;
};

/** Whether the run is to end before its time. */
export const endAsked = ({ aborted, cancelled }: ExecutionState): boolean => aborted || cancelled;

export const initialState = (run: RunInput): ExecutionState => ({
  state: 'running',
  cursor: run.carries?.from ?? 0,
  waitingFor: null,
  waitsOn: null,
  error: null,
  aborted: false,
  cancelled: false,
  abortedAt: null,
  tidyBy: null,
  paused: run.carries?.paused ?? false,
  unheld: false,
  decision: null,
  unrecorded: [],
  contact: false,
  ramdiskLost: false,
  awaits: null,
  seq: run.carries?.seq ?? 0,
  projected: run.carries?.seq ?? 0,
  contactSeq: run.carries?.seq ?? 0,
  ending: run.carries?.ending ?? null,
  booted: run.carries?.booted ?? false,
  thaw: false,
  steps: run.carries?.steps ?? run.steps,
  provision_state: run.provision_state ?? null,
  nth: 0,
  attempt: 1,
  cutShort: null,
});

/** What the progress query answers. */
export const progressOf = (run: RunInput, state: ExecutionState): Progress => ({
  verb: run.verb,
  state: state.state,
  cursor: state.cursor,
  total: state.steps.length,
  step: state.steps[state.cursor] ? nameOf(state.steps[state.cursor]!) : null,
  waitingFor: state.waitingFor,
  parked: state.state === 'parked',
  abortAsked: state.aborted,
  run: run.lock.run,
  node: { uuid: run.lock.node_uuid, name: run.node_name },
  provision_state: state.provision_state,
  target_provision_state: state.state === 'succeeded' ? null : run.target,
  attempt: state.attempt,
});

/** What the projected query answers as the state has it. */
const projectedFields = [
  'state',
  'cursor',
  'waitingFor',
  'error',
  'provision_state',
  'steps',
  'ending',
  'awaits',
  'contactSeq',
] as const satisfies readonly (keyof Projected & keyof ExecutionState)[];

/** What the projected query answers. */
export const projectedOf = (state: ExecutionState): Projected => ({
  seq: state.projected,
  ...(Object.fromEntries(projectedFields.map((name) => [name, state[name]])) as Pick<
    ExecutionState,
    (typeof projectedFields)[number]
  >),
});
