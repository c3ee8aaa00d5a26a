/** Acts of a run on the store: claim, move, mark, finish; each one transaction, each harmless to repeat. */

import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Inventory } from '../inventory';
import type { Cut, CutAct } from '../inventory/runs/run-steps';
import { raise } from '../model/errors';
import type { NodeUuid, RolloutUuid } from '../model/ids';
import type { Event, ProvisionState } from '../model/lifecycle/states';
import type { Log } from '../model/log';
import type { RecordedAct } from '../model/runs/run-acts';
import type { Lock, MarkedState, RunInput, RunState, WaitsOn } from '../model/runs/runs';
import { advanceRollout, type Progress } from '../rollouts/advance';
import type { RolloutDeps } from '../rollouts/contract';
import { type Ending, endRun } from '../runs/ending';
import { reconcileOnce } from '../runs/reconcile';
import { contactActivities } from './contacts';
import { type Displaced, endWorkflow } from './displace';
import { recordEngineAct } from './engine-acts';
import { guarded } from './failures';
import { heldNode, moveNode } from './moves';
import { planActivities } from './plans';

export type ControlDeps = {
  readonly inventory: Inventory;
  readonly client: Client;
  readonly log: Log;
  /** How many months of the audit trail are kept; all when unset or 0. */
  readonly auditMonths?: number;
  readonly historyMonths?: number;
  /** How long a run has to end whose node was taken over, until it is ended by force; milliseconds, five minutes when unset. */
  readonly displaceWithinMs?: number;
  /** What admission of a rollout's targets asks; absent where the settings of the process do not say. */
  readonly rollouts?: RolloutDeps;
};

type Projection = { readonly lock: Lock; readonly seq: number };
export type MoveInput = Projection & {
  readonly event: Event;
  readonly state: RunState;
  readonly waiting_for: string | null;
};
export type ShowInput = Projection & {
  readonly state: RunState;
  readonly waiting_for: string | null;
  readonly waits_on?: WaitsOn | null;
};
export type MarkInput = Projection & {
  readonly index: number;
  readonly state: MarkedState;
  readonly note?: string;
  readonly error?: string;
};
export type FinishInput = Projection & Ending;
export type CutInput = { readonly lock: Lock } & CutAct;
type Limit = NonNullable<RunInput['limit']>;
export type ClaimInput = { readonly lock: Lock; readonly previous?: string; readonly limit?: Limit };
/** Whether it is the run's turn. */
export type Turn = { readonly turn: boolean };

/** Why no command leaves for a node now. */
type HeldBack = { readonly frozen: boolean; readonly recovering: boolean };

/** Thousands may ask while all turns are taken: they cost one statement each, and only those that may get one wait for each other. */
const takeTurn = async (inventory: Inventory, lock: Lock, limit: Limit): Promise<boolean> => {
  const { has, full } = await inventory.turns.look(lock.run, limit);
  if (has || full) return has;
  return inventory.transaction((store) => store.turns.give(lock, limit));
};

/** The run's claim on its node and on a slot of its limit. */
const claimActivities = ({ inventory, client, displaceWithinMs }: ControlDeps) => ({
  /** Makes the run this workflow's own. A forged or fenced-off start ends here. */
  claim: guarded(async ({ lock, previous, limit }: ClaimInput): Promise<Turn> => {
    const { runId } = activityInfo().workflowExecution!;
    if (!(await inventory.runs.claim(lock, runId, previous)))
      raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
    return { turn: !limit || (await takeTurn(inventory, lock, limit)) };
  }),

  /** Whether the run may work, where only so many may at once; it has its turn from then on. */
  turn: guarded(
    async ({ lock, limit }: { lock: Lock; limit: Limit }): Promise<Turn> => ({
      turn: await takeTurn(inventory, lock, limit),
    }),
  ),

  /** The run waits for time to pass, and others may work meanwhile. */
  giveTurnBack: guarded(({ lock }: { lock: Lock }): Promise<void> => inventory.turns.giveBack(lock)),

  /** Signals the run that held the node before to end, and waits until it has: nothing of it is under way any more. */
  displace: guarded(async ({ displaced }: { lock: Lock; displaced: Displaced }): Promise<void> => {
    await endWorkflow(client, displaced.workflow_id, cancellationSignal(), () => heartbeat(), displaceWithinMs);
  }),
});

/** What the store shows of a run while it works. */
const journalActivities = ({ inventory }: ControlDeps) => ({
  /** Moves the node along the state table. @returns where it is now */
  move: guarded(
    async ({ lock, seq, event, state, waiting_for }: MoveInput): Promise<{ provision_state: ProvisionState }> =>
      inventory.transaction(async (store) => {
        const node = await heldNode(store, lock);
        if (!(await store.runs.advance(lock, seq, state, waiting_for)))
          return { provision_state: node.provision_state };
        return { provision_state: await moveNode(store, lock, node, event) };
      }),
  ),

  /** Shows a state of the run that changes neither node nor step. */
  show: guarded(async ({ lock, seq, state, waiting_for, waits_on }: ShowInput): Promise<void> => {
    await inventory.runs.advance(lock, seq, state, waiting_for, waits_on);
  }),

  /** Writes a step that needs no BMC: waiting, parked, skipped, done. */
  mark: guarded(
    async ({ lock, seq, index, state, note, error }: MarkInput): Promise<void> =>
      inventory.transaction(async (store) => {
        const node = await heldNode(store, lock);
        if (!(await store.runs.counted(lock, seq))) return; // a repeat that comes late
        await store.runSteps.mark(lock, index, state, { note, error });
        const { owner: project, lessee } = node;
        await store.events.append({
          kind: `step.${state}`,
          node_uuid: lock.node_uuid,
          run_id: lock.run,
          project,
          lessee,
          data: { index, note, error },
        });
      }),
  ),

  /** Bars an act of an aborted run whose command has not left; with `force` any. @returns when it left, if it did */
  cutAct: guarded(
    async ({ lock, ...act }: CutInput): Promise<Cut> => inventory.transaction((store) => store.runSteps.cut(lock, act)),
  ),
});

/** @returns the activities of the control queue */
export const createControlActivities = (deps: ControlDeps) => {
  const { inventory, client, log, auditMonths, historyMonths } = deps;
  return {
    ...claimActivities(deps),
    ...journalActivities(deps),
    ...contactActivities(inventory, log),
    ...planActivities(inventory),

    /** Whether an operator's freeze still holds the node back, or a recovery all of them (`recovering`). */
    frozen: guarded(async ({ lock, node_uuid }: { lock: Lock; node_uuid?: NodeUuid }): Promise<HeldBack> => {
      const recovering = (await inventory.recovery.current()) !== undefined;
      const frozen = recovering || (await inventory.freezes.active(node_uuid ?? lock.node_uuid)) !== undefined;
      return { frozen, recovering };
    }),

    /** Records what was done to the run by the engine's own tools, which know no caller of Temper's. */
    recordAct: guarded(
      async ({ lock, act, by, reason }: { lock: Lock; act: RecordedAct; by: string; reason: string }): Promise<void> =>
        inventory.transaction((store) => recordEngineAct(store, lock, { act, by, reason })),
    ),

    /** Ends the run and frees the node. @returns where the node rests; null when the run had nothing to change */
    finish: guarded(
      async (input: FinishInput): Promise<{ provision_state: ProvisionState | null }> => ({
        provision_state: await inventory.transaction((store) => endRun(store, input)),
      }),
    ),

    /** Looks at a rollout: begins what has room, ends what is over. @returns when to look again */
    tendRollout: guarded(async ({ rollout }: { rollout: RolloutUuid }): Promise<Progress> => {
      if (deps.rollouts) return advanceRollout(deps.rollouts, rollout);
      log.warn('this worker has no settings for rollouts', { rollout });
      const reason = 'A control worker has no TEMPER_SECRETS_PUBLIC_KEYS and begins nothing.';
      await inventory.rollouts.waitsFor(rollout, reason);
      return { over: false, nextMs: 30_000 };
    }),

    /** Starts what was accepted and ends what is gone. */
    reconcile: guarded(() =>
      reconcileOnce({ inventory, client, log, auditMonths, historyMonths }, { beat: () => heartbeat() }),
    ),
  };
};

export type ControlActivities = ReturnType<typeof createControlActivities>;
