/** State of an execution, shared by its messages and its steps. */

import type { ProvisionState } from '../model/lifecycle/states';
import type { Awaited, PlannedStep } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import type { RecordedAct } from '../model/runs/run-acts';
import type { RunEnding, RunInput, RunState, WaitsOn } from '../model/runs/runs';
import type { Progress, Projected } from './contract';
import type { Decided } from './effects-contract';

/** An act on the run from Temporal's tools. */
type Unrecorded = { readonly act: RecordedAct; readonly by: string; readonly reason: string };

export type ExecutionState = {
  state: RunState;
  cursor: number;
  waitingFor: string | null;
  /** The object of a wait, if a decision depends on it. */
  waitsOn: WaitsOn | null;
  /** Reason of a wait for a decision; null otherwise. */
  error: string | null;
  aborted: boolean;
  /** Cancelled in Temporal, by an operator's tools or by a run that takes over the node. */
  cancelled: boolean;
  /** Time of the abort; epoch milliseconds of Temporal's clock. */
  abortedAt: number | null;
  /** Deadline of the clean-up after an abort; null before. */
  tidyBy: number | null;
  paused: boolean;
  unheld: boolean;
  decision: Decided | null;
  /** Messages without the API, to be recorded before the run continues. */
  unrecorded: Unrecorded[];
  /** The ramdisk has called back during the wait. */
  contact: boolean;
  /** A restore has lost the ramdisk that the run awaits. */
  ramdiskLost: boolean;
  /** The awaited event from the ramdisk. */
  awaits: Awaited | null;
  /** Sequence number of its records; the last one may be unconfirmed. */
  seq: number;
  /** Sequence numbers of the last confirmed record, and of the last wait for the ramdisk. */
  projected: number;
  contactSeq: number;
  /** The outcome, set before the clean-up. */
  ending: RunEnding | null;
  /** Set before the boot of the ramdisk. A run that ends early must then remove it. */
  booted: boolean;
  /** A freeze may have ended. */
  thaw: boolean;
  /** The current plan; it grows when the ramdisk reports its steps. */
  steps: readonly PlannedStep[];
  /** Provision state of the node, for display only. */
  provision_state: ProvisionState | null;
  /** The current act of this execution, counted from 1; 0 before the first. */
  nth: number;
  /** Attempt of the current act, reported by BMC workers. */
  attempt: number;
  /** Cancels the current work; null if an abort must not cut it short. */
  cutShort: (() => void) | null;
};

/** True if the run has to end early. */
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

/** Fields that the projected query copies from the state. */
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

export const projectedOf = (state: ExecutionState): Projected => ({
  seq: state.projected,
  ...(Object.fromEntries(projectedFields.map((name) => [name, state[name]])) as Pick<
    ExecutionState,
    (typeof projectedFields)[number]
  >),
});
