/** The store's side of a run: claim, moves, marks and the end, each an activity on the control queue. */
import { proxyActivities, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { ControlActivities } from '../activities/control';
import type { RunInput, StepState } from '../model/runs';
import type { Event } from '../model/states';
import type { PlannedStep } from '../model/steps';
import { attributes } from './contract';
import type { Here } from './here';
import { onStore } from './profiles';
import { details, label } from './telling';

export type Recorder = ReturnType<typeof recorder>;

/** Every projection carries a counter, so that a late repeat finds no row. */
export const recorder = (run: RunInput, here: Here) => {
  const control = proxyActivities<ControlActivities>(onStore);
  let seq = 0;
  const next = () => ({ lock: run.lock, seq: ++seq });
  return {
    claim: () => control.claim.executeWithOptions({ ...onStore, summary: 'take the run' }, [{ lock: run.lock }]),
    async move(event: Event): Promise<void> {
      const summary = `node: ${event}`;
      const { provision_state } = await control.move.executeWithOptions({ ...onStore, summary }, [
        { ...next(), event, state: here.state, waiting_for: here.waitingFor },
      ]);
      upsertSearchAttributes([{ key: attributes.provisionState, value: provision_state }]);
    },
    /** Shows a state that no move of the node and no step goes with. */
    show: () =>
      control.show.executeWithOptions({ ...onStore, summary: `run: ${here.state}` }, [
        { ...next(), state: here.state, waiting_for: here.waitingFor },
      ]),
    mark: (step: PlannedStep, state: StepState, facts: { note?: string; error?: string } = {}) =>
      control.mark.executeWithOptions({ ...onStore, summary: `${label(run, step)}: ${state}` }, [
        { ...next(), index: step.index, state, ...facts },
      ]),
    async finish(outcome: 'succeeded' | 'failed' | 'aborted', error?: string): Promise<void> {
      here.state = outcome;
      here.waitingFor = null;
      if (outcome === 'succeeded') here.cursor = run.steps.length;
      setCurrentDetails(details(run, here, error));
      const { provision_state } = await control.finish.executeWithOptions({ ...onStore, summary: `end: ${outcome}` }, [
        {
          ...next(),
          outcome,
          ends: run.ends,
          fault: run.fault,
          error: error ?? null,
          cursor: here.cursor,
          power: run.power ?? null,
        },
      ]);
      if (provision_state) upsertSearchAttributes([{ key: attributes.provisionState, value: provision_state }]);
    },
  };
};
