/** Starts and delivers what was accepted while the engine was away. */
import type { Client } from '@temporalio/client';
import type { Inventory } from '../inventory';
import { endedStates } from '../model/runs';
import type { Message } from '../workflows/contract';
import { createEngine, type Engine } from './engine';

type Log = { info(message: string, facts?: object): void; warn(message: string, facts?: object): void };
export type RelayHands = { readonly inventory: Inventory; readonly client: Client; readonly log: Log };

/** One pass. @returns how many runs were started and messages delivered */
export const relayOnce = async (
  { inventory, client, log }: RelayHands,
  olderThanMs = 2_500,
): Promise<{ started: number; sent: number }> => {
  const engine = createEngine(client);
  let started = 0;
  for (const { id, workflow_id } of await inventory.runs.unstarted(olderThanMs)) {
    const [run, input] = await Promise.all([inventory.runs.find(id), inventory.runs.input(id)]);
    if (!run || !input) continue;
    const { user_name, user_id } = run.requester;
    const state = input.ends === null ? null : run.target;
    await engine.start(workflow_id, input, {
      owner: run.owner,
      lessee: run.lessee,
      requester: user_name ?? user_id ?? 'unknown',
      state,
    });
    log.info('relay started a run', { run: id });
    started++;
  }
  return { started, sent: await deliver(inventory, engine) };
};

const deliver = async (inventory: Inventory, engine: Engine): Promise<number> => {
  let sent = 0;
  for (const { id, workflow_id, kind, payload, run_state } of await inventory.runs.unsentMessages()) {
    // A run that has ended hears nothing any more; its message is done with.
    if (!endedStates.includes(run_state))
      await engine.send(workflow_id, kind as 'abort' | 'unhold', payload as unknown as Message);
    await inventory.runs.messageSent(id);
    sent++;
  }
  return sent;
};

/** Passes for ever, a second apart, until the signal. An engine or store that is away is tried again at the next pass. */
export const runRelay = async (
  hands: RelayHands,
  { everyMs = 1_000, signal }: { everyMs?: number; signal: AbortSignal },
): Promise<void> => {
  let quiet = false;
  while (!signal.aborted) {
    try {
      await relayOnce(hands);
      quiet = false;
    } catch (thrown) {
      if (!quiet) hands.log.warn('relay cannot work now', { reason: String(thrown) });
      quiet = true;
    }
    await pause(everyMs, signal);
  }
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
