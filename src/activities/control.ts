/** Database activities of a run. Each is one transaction and idempotent. */

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
  /** All are kept if unset or 0. */
  readonly auditMonths?: number;
  readonly historyMonths?: number;
  /** Until a displaced run is terminated; five minutes if unset. */
  readonly displaceWithinMs?: number;
  /** Absent if the settings of the process lack them. */
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
export type Turn = { readonly turn: boolean };

type HeldBack = { readonly frozen: boolean; readonly recovering: boolean };

/** Thousands may poll: one statement each while all turns are taken. Only runs that may get a turn lock each other. */
const takeTurn = async (inventory: Inventory, lock: Lock, limit: Limit): Promise<boolean> => {
  const { has, full } = await inventory.turns.look(lock.run, limit);
  if (has || full) return has;
  return inventory.transaction((store) => store.turns.give(lock, limit));
};

const claimActivities = ({ inventory, client, displaceWithinMs }: ControlDeps) => ({
  /** Binds the run to this workflow. A forged or fenced-off start fails here. */
  claim: guarded(async ({ lock, previous, limit }: ClaimInput): Promise<Turn> => {
    const { runId } = activityInfo().workflowExecution!;
    if (!(await inventory.runs.claim(lock, runId, previous)))
      raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
    return { turn: !limit || (await takeTurn(inventory, lock, limit)) };
  }),

  /** If true, the run keeps its turn. */
  turn: guarded(
    async ({ lock, limit }: { lock: Lock; limit: Limit }): Promise<Turn> => ({
      turn: await takeTurn(inventory, lock, limit),
    }),
  ),

  /** Frees the turn during a long wait. */
  giveTurnBack: guarded(({ lock }: { lock: Lock }): Promise<void> => inventory.turns.giveBack(lock)),

  /** Ends the node's previous run, and waits until nothing of it is under way. */
  displace: guarded(async ({ displaced }: { lock: Lock; displaced: Displaced }): Promise<void> => {
    await endWorkflow(client, displaced.workflow_id, cancellationSignal(), () => heartbeat(), displaceWithinMs);
  }),
});

const journalActivities = ({ inventory }: ControlDeps) => ({
  move: guarded(
    async ({ lock, seq, event, state, waiting_for }: MoveInput): Promise<{ provision_state: ProvisionState }> =>
      inventory.transaction(async (store) => {
        const node = await heldNode(store, lock);
        if (!(await store.runs.advance(lock, seq, state, waiting_for)))
          return { provision_state: node.provision_state };
        return { provision_state: await moveNode(store, lock, node, event) };
      }),
  ),

  /** Records a state without a move or a step. */
  show: guarded(async ({ lock, seq, state, waiting_for, waits_on }: ShowInput): Promise<void> => {
    await inventory.runs.advance(lock, seq, state, waiting_for, waits_on);
  }),

  /** Records a step without a BMC act. */
  mark: guarded(
    async ({ lock, seq, index, state, note, error }: MarkInput): Promise<void> =>
      inventory.transaction(async (store) => {
        const node = await heldNode(store, lock);
        if (!(await store.runs.counted(lock, seq))) return; // a late repeat
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

  /** Bars an act whose command has not left, or any with `force`. @returns when it left */
  cutAct: guarded(
    async ({ lock, ...act }: CutInput): Promise<Cut> => inventory.transaction((store) => store.runSteps.cut(lock, act)),
  ),
});

export const createControlActivities = (deps: ControlDeps) => {
  const { inventory, client, log, auditMonths, historyMonths } = deps;
  return {
    ...claimActivities(deps),
    ...journalActivities(deps),
    ...contactActivities(inventory, log),
    ...planActivities(inventory),

    /** A recovery counts as a freeze of every node. */
    frozen: guarded(async ({ lock, node_uuid }: { lock: Lock; node_uuid?: NodeUuid }): Promise<HeldBack> => {
      const recovering = (await inventory.recovery.current()) !== undefined;
      const frozen = recovering || (await inventory.freezes.active(node_uuid ?? lock.node_uuid)) !== undefined;
      return { frozen, recovering };
    }),

    /** Acts from Temporal's tools, which have no Temper caller. */
    recordAct: guarded(
      async ({ lock, act, by, reason }: { lock: Lock; act: RecordedAct; by: string; reason: string }): Promise<void> =>
        inventory.transaction((store) => recordEngineAct(store, lock, { act, by, reason })),
    ),

    /** @returns the resting state; null if the run had none to change */
    finish: guarded(
      async (input: FinishInput): Promise<{ provision_state: ProvisionState | null }> => ({
        provision_state: await inventory.transaction((store) => endRun(store, input)),
      }),
    ),

    /** @returns when the next pass is due */
    advanceRollout: guarded(async ({ rollout }: { rollout: RolloutUuid }): Promise<Progress> => {
      if (deps.rollouts) return advanceRollout(deps.rollouts, rollout);
      log.warn('this worker has no settings for rollouts', { rollout });
      const reason = 'A control worker has no TEMPER_SECRETS_PUBLIC_KEYS and begins nothing.';
      await inventory.rollouts.waitsFor(rollout, reason);
      return { over: false, nextMs: 30_000 };
    }),

    reconcile: guarded(() =>
      reconcileOnce({ inventory, client, log, auditMonths, historyMonths }, { beat: () => heartbeat() }),
    ),
  };
};

export type ControlActivities = ReturnType<typeof createControlActivities>;
