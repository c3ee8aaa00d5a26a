/** State of an execution, shared by messages and steps. */

import type { ProvisionState } from '../model/lifecycle/states';
import type { Awaited, PlannedStep } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import type { RecordedAct } from '../model/runs/run-acts';
import type { RunEnding, RunInput, RunState, WaitsOn } from '../model/runs/runs';
import type { Progress, Projected } from './contract';
import type { Decided } from './effects-contract';

/** An act from Temporal's tools. */
type Unrecorded = { readonly act: RecordedAct; readonly by: string; readonly reason: string };

export type ExecutionState = {
  state: RunState;
  cursor: number;
  waitingFor: string | null;
  /** Set if a decision depends on it. */
  waitsOn: WaitsOn | null;
  /** Set while the run waits for a decision. */
  error: string | null;
  aborted: boolean;
  /** By Temporal's tools, or by a run that takes over the node. */
  cancelled: boolean;
  /** Epoch milliseconds of Temporal's clock. */
  abortedAt: number | null;
  /** Deadline of the clean-up after an abort. */
  tidyBy: number | null;
  paused: boolean;
  unheld: boolean;
  decision: Decided | null;
  /** To be recorded before the run continues. */
  unrecorded: Unrecorded[];
  contact: boolean;
  ramdiskLost: boolean;
  awaits: Awaited | null;
  /** Sequence number of the last record, which may be unconfirmed. */
  seq: number;
  /** Sequence numbers of the last confirmed record, and of the last wait for the ramdisk. */
  projected: number;
  contactSeq: number;
  /** Set before the clean-up. */
  ending: RunEnding | null;
  /** Set before the boot: a run that ends early must remove the ramdisk. */
  booted: boolean;
  /** A freeze may have ended. */
  unfreeze: boolean;
  /** Grows when the ramdisk reports its steps. */
  steps: readonly PlannedStep[];
  /** For display only. */
  provision_state: ProvisionState | null;
  /** Current act of this execution, from 1; 0 before the first. */
  nth: number;
  /** Reported by BMC workers. */
  attempt: number;
  /** Cancels the current work; null if an abort must not. */
  cutShort: (() => void) | null;
};

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
  unfreeze: false,
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
