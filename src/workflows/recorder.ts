/** The store's side of a run: claim, moves, marks and the end, each one transaction of the worker that has the workflow task. */
import {
  patched,
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
import type { Lock, RunEnding, RunInput, StepState } from '../model/runs/runs';
import { attributes } from './contract';
import type { Here } from './here';
import { locally, onStore } from './profiles';
import { details, label } from './telling';

export type Recorder = ReturnType<typeof recorder>;

/** Every projection carries a counter, so that a late repeat finds no row. */
export const recorder = (run: RunInput, here: Here) => {
  const remote = proxyActivities<ControlActivities>(onStore);
  // Each record is one short transaction: by a queue it would cost the engine six events and three writes.
  const local = run.store === 'local';
  const control = local ? proxyLocalActivities<ControlActivities>(locally) : remote;
  const options = local ? locally : onStore;
  let seq = run.carries?.seq ?? 0;
  const next = () => ({ lock: run.lock, seq: ++seq });
  const moved = (provision_state: ProvisionState | null): void => {
    if (!provision_state) return;
    here.provision_state = provision_state;
    upsertSearchAttributes([{ key: attributes.provisionState, value: provision_state }]);
  };

  /** What came by the engine's own tools is written before anything follows from it. */
  const record = async (): Promise<void> => {
    if (here.unrecorded.length === 0 || !patched('2026-11-engine-tools-recorded')) return;
    for (const entry of here.unrecorded.splice(0))
      await control.recordAct.executeWithOptions({ ...options, summary: `record: ${entry.act}` }, [
        { lock: run.lock, ...entry },
      ]);
  };

  return {
    record,
    get seq() {
      return seq;
    },
    /** Takes the run. @returns whether its turn has come, where only so many may work at once */
    async claim(): Promise<boolean> {
      const { continuedFromExecutionRunId: previous } = workflowInfo();
      const limited = run.limit && (!run.carries || run.carries.waitsTurn);
      const claimed = await control.claim.executeWithOptions({ ...options, summary: 'take the run' }, [
        { lock: run.lock, ...(previous && { previous }), ...(limited && { limit: run.limit }) },
      ]);
      return claimed?.turn ?? true; // an older worker answered nothing
    },
    turn: () =>
      control.turn
        .executeWithOptions({ ...options, summary: `is it this run's turn?` }, [{ lock: run.lock, limit: run.limit! }])
        .then(({ turn }) => turn),
    giveTurnBack: () =>
      control.giveTurnBack.executeWithOptions({ ...options, summary: 'let others work meanwhile' }, [
        { lock: run.lock },
      ]),
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
    async move(event: Event): Promise<void> {
      const summary = `node: ${event}`;
      const { provision_state } = await control.move.executeWithOptions({ ...options, summary }, [
        { ...next(), event, state: here.state, waiting_for: here.waitingFor },
      ]);
      moved(provision_state);
    },
    /** Shows a state that no move of the node and no step goes with. */
    show: () =>
      control.show.executeWithOptions({ ...options, summary: `run: ${here.state}` }, [
        { ...next(), state: here.state, waiting_for: here.waitingFor, ...(here.waitsOn && { waits_on: here.waitsOn }) },
      ]),
    mark: (step: PlannedStep, state: StepState, facts: { note?: string; error?: string } = {}) =>
      control.mark.executeWithOptions({ ...options, summary: `${label(here, step)}: ${state}` }, [
        { ...next(), index: step.index, state, ...facts },
      ]),
    /** Into the wait state. @returns whether the ramdisk was quicker */
    async awaitContact(step: PlannedStep, awaits: Awaited): Promise<boolean> {
      const summary = `${label(here, step)}: wait for the ramdisk`;
      const answer = await control.awaitContact.executeWithOptions({ ...options, summary }, [
        { ...next(), index: step.index, awaits, waiting_for: here.waitingFor },
      ]);
      moved(answer.provision_state);
      return answer.contacted;
    },
    /** @returns whether the ramdisk has called back, message or not */
    contacted: (awaits: Awaited) =>
      control.contacted
        .executeWithOptions({ ...options, summary: 'has the ramdisk called back?' }, [{ lock: run.lock, awaits }])
        .then(({ contacted }) => contacted),
    async heard(step: PlannedStep): Promise<void> {
      const summary = `${label(here, step)}: the ramdisk has called back`;
      const { provision_state } = await control.heard.executeWithOptions({ ...options, summary }, [
        { ...next(), index: step.index },
      ]);
      moved(provision_state);
    },
    /** The plan as it goes on once the ramdisk's steps are known. */
    join: (step: PlannedStep, rest: readonly PlannedStep[], reported: readonly ReportedStep[]) =>
      control.join.executeWithOptions({ ...options, summary: `${label(here, step)}: plan the rest` }, [
        {
          lock: run.lock,
          joins: run.joins ?? 'check',
          after: step.index,
          rest,
          reported,
          before: here.steps.slice(0, step.index + 1),
        },
      ]),
    /** Steps that were not part of the plan from the beginning. */
    add: (steps: readonly PlannedStep[], ending: RunEnding) =>
      control.addSteps.executeWithOptions({ ...options, summary: 'tidy up' }, [{ lock: run.lock, steps, ending }]),
    /** A person has decided that the step is tried again. */
    async again(step: PlannedStep, args?: PlannedStep['args']): Promise<void> {
      if (!patched('2026-11-retry-forgets-intents')) return;
      await control.again.executeWithOptions({ ...options, summary: `${label(here, step)}: once more` }, [
        { ...next(), index: step.index, ...(args && { args }) },
      ]);
    },
    /** Bars an act whose command has not left, or any with `force`. @returns when it left, if it did */
    cut: (lock: Lock, step: PlannedStep, act: { act: ActName; nth: number; force: boolean }) =>
      control.cutAct.executeWithOptions({ ...options, summary: `${label(here, step)}: cut short` }, [
        { lock, index: step.index, ...act },
      ]),
    frozen: ({ on }: PlannedStep) =>
      control.frozen
        .executeWithOptions({ ...options, summary: 'is the node still frozen?' }, [
          { lock: run.lock, node_uuid: on?.node_uuid },
        ])
        .then(({ frozen }) => frozen),
    async finish(
      outcome: 'succeeded' | 'failed' | 'aborted',
      error?: string,
      cursor = here.cursor,
      untidy = false,
    ): Promise<void> {
      here.state = outcome;
      here.waitingFor = null;
      const at = outcome === 'succeeded' ? here.steps.length : cursor;
      here.cursor = at;
      setCurrentDetails(details(run, here, error));
      const { provision_state } = await control.finish.executeWithOptions({ ...options, summary: `end: ${outcome}` }, [
        {
          ...next(),
          outcome,
          ends: run.ends,
          fault: here.steps[at]?.system ? null : run.fault,
          error: error ?? null,
          cursor: at,
          power: run.power ?? null,
          ...(untidy && { untidy }),
        },
      ]);
      moved(provision_state);
    },
  };
};
