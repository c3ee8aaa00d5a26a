/** The room that accepts, starts and follows runs; the only one that holds a Temporal client. */
import type { Client } from '@temporalio/client';
import type { Inventory } from '../inventory';
import type { Vault } from '../inventory/vault';
import { raise } from '../model/errors';
import type { Timing } from '../model/runs';
import { next } from '../model/states';
import { accept } from './accept';
import type { MessageOrder, Runs } from './contract';
import { createEngine, type Engine } from './engine';

export type { LiveRun, MessageOrder, OrderedNode, RunOrder, Runs } from './contract';

type Log = { info(message: string, facts?: object): void; warn(message: string, facts?: object): void };

export type RunsHands = {
  readonly inventory: Inventory;
  readonly vault: Vault;
  readonly client: Client;
  readonly timing: Timing;
  readonly log: Log;
  /** Pause between the three tries for a held node; default a second. */
  readonly lockRetryMs?: number;
  /** First part of the queue names, where installations share a namespace. */
  readonly queuePrefix?: string;
};

/** @returns what the API asks of runs; see the contract for what each throws */
export const createRuns = (hands: RunsHands): Runs => {
  const engine = createEngine(hands.client);
  const { inventory, vault, timing, log } = hands;
  return {
    async start(order) {
      const accepted = await accept(order, {
        inventory,
        vault,
        timing,
        lockRetryMs: hands.lockRetryMs ?? 1_000,
        queuePrefix: hands.queuePrefix,
      });
      const { run } = accepted.input.lock;
      try {
        await engine.start(accepted.workflow_id, accepted.input, accepted.facts);
      } catch (thrown) {
        // Accepted is accepted: the relay starts it when the engine is back.
        log.warn('run accepted, start left to the relay', { run, reason: String(thrown) });
      }
      return { run };
    },

    async move({ node, event, asked }) {
      const to =
        next(node.provision_state, event) ??
        raise('InvalidState', { verb: event, node: node.name ?? node.uuid, state: node.provision_state });
      await inventory.transaction(async (store) => {
        const moved = await store.runs.moveAtOnce(node.uuid, node.provision_state, to);
        if (!moved) raise('NodeLocked', { node: node.name ?? node.uuid });
        const { owner = null, lessee = null } = (await store.runs.stateOf(node.uuid)) ?? {};
        await store.audit.write({
          ...asked,
          action: `node.${event}`,
          resource: 'node',
          resource_id: node.uuid,
          data: { from: node.provision_state, to },
        });
        await store.events.append({
          kind: 'node.moved',
          node_uuid: node.uuid,
          project: owner,
          lessee,
          data: { from: node.provision_state, to, event },
        });
      });
    },

    send: (order) => sendMessage(order, inventory, engine, log),

    async look(run) {
      const row = await inventory.runs.find(run);
      return row ? engine.look(row.workflow_id, run) : { sources: [] };
    },
  };
};

const sendMessage = async (order: MessageOrder, inventory: Inventory, engine: Engine, log: Log): Promise<void> => {
  const { node, kind, asked } = order;
  const { request_id, user_name, user_id } = asked.requester;
  const by = user_name ?? user_id ?? 'unknown';
  const message = await inventory.transaction(async (store) => {
    const run = (await store.runs.holding(node.uuid)) ?? raise('NodeLocked', { node: node.name ?? node.uuid });
    const payload = { operationId: run.id, requestId: request_id, by };
    const id = await store.runs.queueMessage(run.id, kind, payload);
    await store.audit.write({
      ...asked,
      action: `run.${kind}`,
      resource: 'node',
      resource_id: node.uuid,
      run_id: run.id,
    });
    await store.events.append({
      kind: `run.${kind}`,
      node_uuid: node.uuid,
      run_id: run.id,
      project: run.owner,
      lessee: run.lessee,
      data: { by },
    });
    return { id, payload, workflow_id: run.workflow_id };
  });
  try {
    await engine.send(message.workflow_id, kind, message.payload);
    await inventory.runs.messageSent(message.id);
  } catch (thrown) {
    log.warn('message kept for the relay', { kind, run: message.payload.operationId, reason: String(thrown) });
  }
};
