/** Relay: starts runs and delivers messages accepted while Temporal was away. */

import type { Client } from '@temporalio/client';
import type { Inventory } from '../inventory';
import type { RunRow } from '../inventory/runs/runs';
import type { RunUuid } from '../model/ids';
import type { Log } from '../model/log';
import { passUntil, pause } from '../model/passes';
import { endedStates, type RunInput } from '../model/runs/runs';
import type { Contact, Message } from '../workflows/contract';
import { endRun } from './ending';
import { createEngine, type Engine } from './engine';
import { isRefusal, isTooLarge, refusalOf } from './engine-refusals';
import { reconcileRun } from './gone';
import type { HistoryPlaces } from './retention';

export type RunRelayDeps = {
  readonly inventory: Inventory;
  readonly client: Client;
  readonly log: Log;
  /** All are kept if unset or 0. */
  readonly auditMonths?: number;
  /** For events and ended runs. */
  readonly historyMonths?: number;
  readonly historyPlaces?: HistoryPlaces;
  readonly observe?: (pass: { readonly started: number; readonly sent: number }) => void;
};

// Tries, one a pass, for a run too large for Temporal.
const maxStarts = 5;

/**
 * One pass. A refused run or message never blocks the others; if Temporal is away, the pass ends.
 * @returns how many runs were started and messages delivered
 */
export const relayOnce = async (
  deps: RunRelayDeps,
  olderThanMs = 2_500,
): Promise<{ started: number; sent: number }> => {
  // After a restore, Temporal may have had them already.
  if (await deps.inventory.recovery.current()) return { started: 0, sent: 0 };
  const engine = createEngine(deps.client);
  let started = 0;
  for (const { id } of await deps.inventory.runs.unstarted(olderThanMs))
    if (await startOne(id, engine, deps)) started++;
  return { started, sent: await deliver(deps, engine) };
};

const startOne = async (id: RunUuid, engine: Engine, { inventory, log }: RunRelayDeps): Promise<boolean> => {
  const [run, input] = await Promise.all([inventory.runs.find(id), inventory.runs.input(id)]);
  if (!run || !input) return false;
  const { user_name, user_id } = run.requester;
  const state = input.ends === null ? null : run.target;
  try {
    await engine.start(run.workflow_id, input, {
      owner: run.owner,
      lessee: run.lessee,
      requester: user_name ?? user_id ?? 'unknown',
      state,
      rollout: run.batch,
    });
    log.info('relay started a run', { run: id });
    return true;
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    const reason = refusalOf(thrown);
    const tried = await inventory.runs.startFailed(
      id,
      `Temporal to accept it; now Temporal refuses: ${reason}. It is asked again.`,
    );
    log.warn('Temporal refuses a run', { run: id, tried, reason: String(thrown) });
    // Other refusals end with time or by an operator: unregistered search attributes, a rate limit, a new namespace.
    if (tried >= maxStarts && isTooLarge(reason))
      await endUnstarted(run, input, `The workflow engine refuses to start this run: ${reason}`, 'failed', inventory);
    return false;
  }
};

/** Ends a run that never began. Its claim then fails, so a late start has no effect. */
export const endUnstarted = (
  run: RunRow,
  input: RunInput,
  error: string,
  outcome: 'failed' | 'aborted',
  inventory: Inventory,
): Promise<boolean> =>
  inventory.transaction(async (store) => {
    if (!(await store.runs.lockAccepted(run.id))) return false;
    await endRun(store, {
      lock: { run: run.id, node_uuid: run.node_uuid, fence: run.fence },
      outcome,
      ends: input.ends,
      fault: null,
      error,
      cursor: 0,
      power: input.power ?? null,
    });
    return true;
  });

const deliver = async ({ inventory, log }: RunRelayDeps, engine: Engine): Promise<number> => {
  let sent = 0;
  for (const { id, run_id, workflow_id, kind, payload, run_state } of await inventory.runs.unsentMessages()) {
    if (run_state === 'accepted') continue; // no workflow can receive it yet
    try {
      // An ended run receives nothing, so its message counts as sent.
      if (kind === 'cancel') await engine.cancel(workflow_id);
      else if (!endedStates.includes(run_state)) {
        const taken =
          kind === 'agentContact'
            ? await engine.contact(workflow_id, payload as unknown as Contact)
            : await engine.send(workflow_id, kind as 'abort' | 'unhold', payload as unknown as Message);
        const run = taken ? undefined : await inventory.runs.find(run_id);
        // The new execution takes the message, or reads from the record that the ramdisk has called back.
        if (run && (await reconcileRun(run, engine, { inventory, log })) === 'restarted') continue;
      }
      await inventory.runs.messageSent(id);
      sent++;
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      log.warn('Temporal refuses a message', { run: run_id, kind, reason: String(thrown) });
    }
  }
  return sent;
};

export const runRelay = (
  deps: RunRelayDeps,
  { everyMs = 1_000, signal }: { everyMs?: number; signal: AbortSignal },
): Promise<void> =>
  passUntil(
    { signal, log: deps.log, failing: 'relay cannot work now', wait: () => pause(everyMs, signal) },
    async () => {
      const pass = await relayOnce(deps);
      deps.observe?.(pass);
    },
  );
