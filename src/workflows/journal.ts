/** Journal of a run in PostgreSQL, one transaction per record. */
import {
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { ControlActivities } from '../activities/control';
import type { Event, ProvisionState } from '../model/lifecycle/states';
import type { Awaited, PlannedStep, ReportedStep } from '../model/lifecycle/step-types';
import type { ActName } from '../model/lifecycle/steps';
import type { Lock, MarkedState, RunEnding, RunInput } from '../model/runs/runs';
import { attributes } from './contract';
import { locally, onStore } from './profiles';
import type { ExecutionState } from './state';
import { details, label } from './ui';

type Records = {
  readonly run: RunInput;
  readonly state: ExecutionState;
  readonly control: ReturnType<typeof proxyLocalActivities<ControlActivities>>;
  readonly remote: ReturnType<typeof proxyActivities<ControlActivities>>;
  /** Numbers the record, so that a late repeat finds no row. */
  project<T>(write: (next: Projection) => Promise<T>): Promise<T>;
  /** Updates the search attribute. */
  moved(provision_state: ProvisionState | null): void;
};

type Projection = { readonly lock: Lock; readonly seq: number };

export type Journal = ReturnType<typeof createJournal>;

export const createJournal = (run: RunInput, state: ExecutionState) => {
  const remote = proxyActivities<ControlActivities>(onStore);
  // Local, because a normal activity would cost six events and three writes in Temporal.
  const control = proxyLocalActivities<ControlActivities>(locally);
  const records: Records = {
    run,
    state,
    control,
    remote,
    async project(write) {
      state.seq += 1;
      const { seq } = state;
      const written = await write({ lock: run.lock, seq });
      state.projected = seq;
      return written;
    },
    moved(provision_state) {
      if (!provision_state) return;
      state.provision_state = provision_state;
      upsertSearchAttributes([{ key: attributes.provisionState, value: provision_state }]);
    },
  };
  return {
    ...claims(records),
    ...stepRecords(records),
    ...ramdiskRecords(records),
    ...endRecord(records),
    record: () => recordToolActs(records),
    get seq() {
      return state.seq;
    },
  };
};

/** Acts from Temporal's tools are recorded before they take effect. */
const recordToolActs = async ({ run, state, control }: Records): Promise<void> => {
  for (const entry of state.unrecorded.splice(0))
    await control.recordAct.executeWithOptions({ ...locally, summary: `record: ${entry.act}` }, [
      { lock: run.lock, ...entry },
    ]);
};

const claims = ({ run, control, remote }: Records) => ({
  /** @returns whether the run has its turn, if its class is limited */
  async claim(): Promise<boolean> {
    const { continuedFromExecutionRunId: previous } = workflowInfo();
    const limited = run.limit && (!run.carries || run.carries.waitsTurn);
    const { turn } = await control.claim.executeWithOptions({ ...locally, summary: 'take the run' }, [
      { lock: run.lock, ...(previous && { previous }), ...(limited && { limit: run.limit }) },
    ]);
    return turn;
  },
  turn: () =>
    control.turn
      .executeWithOptions({ ...locally, summary: `is it this run's turn?` }, [{ lock: run.lock, limit: run.limit! }])
      .then(({ turn }) => turn),
  giveTurnBack: () =>
    control.giveTurnBack.executeWithOptions({ ...locally, summary: 'let others work meanwhile' }, [{ lock: run.lock }]),
  displace: () =>
    remote.displace.executeWithOptions(
      {
        ...onStore,
        startToCloseTimeout: '10m',
        heartbeatTimeout: '20s',
        cancellationType: 'WAIT_CANCELLATION_COMPLETED',
        summary: 'wait until the run before has ended',
      },
      [{ lock: run.lock, displaced: run.displaces! }],
    ),
});

const ramdiskRecords = ({ run, state, control, project, moved }: Records) => ({
  /** @returns whether the ramdisk has called back already */
  async awaitContact(step: PlannedStep, awaits: Awaited): Promise<boolean> {
    const summary = `${label(state, step)}: wait for the ramdisk`;
    const answer = await project((next) =>
      control.awaitContact.executeWithOptions({ ...locally, summary }, [
        { ...next, index: step.index, awaits, waiting_for: state.waitingFor },
      ]),
    );
    state.contactSeq = state.seq;
    moved(answer.provision_state);
    return answer.contacted;
  },
  /** @returns whether the ramdisk has called back, even if the signal was lost */
  contacted: (awaits: Awaited) =>
    control.contacted
      .executeWithOptions({ ...locally, summary: 'has the ramdisk called back?' }, [{ lock: run.lock, awaits }])
      .then(({ contacted }) => contacted),
  async contactReceived(step: PlannedStep): Promise<void> {
    const summary = `${label(state, step)}: the ramdisk has called back`;
    const { provision_state } = await project((next) =>
      control.contactReceived.executeWithOptions({ ...locally, summary }, [{ ...next, index: step.index }]),
    );
    moved(provision_state);
  },
  /** Plans the rest from the ramdisk's report. */
  join: (step: PlannedStep, rest: readonly PlannedStep[], reported: readonly ReportedStep[]) =>
    control.join.executeWithOptions({ ...locally, summary: `${label(state, step)}: plan the rest` }, [
      {
        lock: run.lock,
        joins: run.joins ?? 'check',
        after: step.index,
        rest,
        reported,
        before: state.steps.slice(0, step.index + 1),
      },
    ]),
});

const stepRecords = ({ run, state, control, project, moved }: Records) => ({
  async move(event: Event): Promise<void> {
    const summary = `node: ${event}`;
    const { provision_state } = await project((next) =>
      control.move.executeWithOptions({ ...locally, summary }, [
        { ...next, event, state: state.state, waiting_for: state.waitingFor },
      ]),
    );
    moved(provision_state);
  },
  /** Records a state without a move or a step. */
  show: () =>
    project((next) =>
      control.show.executeWithOptions({ ...locally, summary: `run: ${state.state}` }, [
        {
          ...next,
          state: state.state,
          waiting_for: state.waitingFor,
          ...(state.waitsOn && { waits_on: state.waitsOn }),
        },
      ]),
    ),
  mark: (step: PlannedStep, to: MarkedState, facts: { note?: string; error?: string } = {}) =>
    project((next) =>
      control.mark.executeWithOptions({ ...locally, summary: `${label(state, step)}: ${to}` }, [
        { ...next, index: step.index, state: to, ...facts },
      ]),
    ),
  add: (steps: readonly PlannedStep[], ending: RunEnding) =>
    control.addSteps.executeWithOptions({ ...locally, summary: 'tidy up' }, [{ lock: run.lock, steps, ending }]),
  /** A retry by an operator. */
  async again(step: PlannedStep, args?: PlannedStep['args']): Promise<void> {
    await project((next) =>
      control.again.executeWithOptions({ ...locally, summary: `${label(state, step)}: again` }, [
        { ...next, index: step.index, ...(args && { args }) },
      ]),
    );
  },
  /** Bars an act whose command has not left, or any with `force`. @returns when it left */
  cut: (lock: Lock, step: PlannedStep, act: { act: ActName; nth: number; force: boolean }) =>
    control.cutAct.executeWithOptions({ ...locally, summary: `${label(state, step)}: cut short` }, [
      { lock, index: step.index, ...act },
    ]),
  frozen: ({ on }: PlannedStep) =>
    control.frozen
      .executeWithOptions({ ...locally, summary: 'is the node still frozen?' }, [
        { lock: run.lock, node_uuid: on?.node_uuid },
      ])
      .then(({ frozen }) => frozen),
  /** A restore of PostgreSQL or Temporal holds all runs back. */
  recovering: (): Promise<boolean> =>
    control.frozen
      .executeWithOptions({ ...locally, summary: 'is there a recovery?' }, [{ lock: run.lock }])
      .then(({ recovering }) => recovering),
});

const endRecord = ({ run, state, control, project, moved }: Records) => ({
  async finish(
    outcome: 'succeeded' | 'failed' | 'aborted',
    error?: string,
    cursor = state.cursor,
    untidy = false,
  ): Promise<void> {
    state.state = outcome;
    state.waitingFor = null;
    const at = outcome === 'succeeded' ? state.steps.length : cursor;
    state.cursor = at;
    setCurrentDetails(details(run, state, error));
    const { provision_state } = await project((next) =>
      control.finish.executeWithOptions({ ...locally, summary: `end: ${outcome}` }, [
        {
          ...next,
          outcome,
          ends: run.ends,
          fault: state.steps[at]?.system ? null : run.fault,
          error: error ?? null,
          cursor: at,
          power: run.power ?? null,
          ...(untidy && { untidy }),
        },
      ]),
    );
    moved(provision_state);
  },
});
