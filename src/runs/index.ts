/** Acceptance, start and messages of runs. No other room holds a Temporal client. */

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Inventory, Queries } from '../inventory';
import type { RunRow } from '../inventory/runs/runs';
import type { Holding, Sealer } from '../inventory/secrets/sealing';
import { quotaProject } from '../model/access/callers';
import { isTemperError, raise } from '../model/errors';
import type { NodeUuid, RunUuid } from '../model/ids';
import { next, states } from '../model/lifecycle/states';
import type { Log } from '../model/log';
import type { RecordedAct, RunAct } from '../model/runs/run-acts';
import type { Timing } from '../model/runs/runs';
import type { ContactKind } from '../workflows/contract';
import { accept, sideOf } from './accept';
import { call } from './call';
import type { ActOrder, BeforeAcceptance, Delivered, MessageOrder, RunAudit, RunOrder, Runs } from './contract';
import { recovered } from './ending';
import { createEngine, type Engine } from './engine';
import { reconcileRun } from './gone';
import { recover } from './recovering';
import { endUnstarted } from './relay';

export type { RunOrder, Runs } from './contract';

export type RunsDeps = {
  readonly inventory: Inventory;
  readonly vault: Sealer;
  readonly client: Client;
  readonly timing: Timing;
  readonly log: Log;
  /** Separates installations that share a Temporal namespace. */
  readonly queuePrefix?: string;
  /** Maximum wait of a caller for a BMC; default one minute. */
  readonly callTimeoutMs?: number;
  /** Maximum of open runs per project; unlimited if absent or 0. */
  readonly quota?: number;
};

const startRun = async (
  order: RunOrder,
  deps: RunsDeps,
  engine: Engine,
  before?: BeforeAcceptance,
): Promise<{ run: RunUuid }> => {
  const { inventory, vault, timing, log, queuePrefix } = deps;
  await inventory.quotas.require('runs', quotaProject(order.asked.requester), deps.quota ?? 0);
  const accepted = await accept(order, { inventory, vault, timing, queuePrefix, ...(before && { before }) });
  const { run } = accepted.input.lock;
  if (accepted.ended) return { run };
  try {
    await engine.start(accepted.workflow_id, accepted.input, accepted.facts);
  } catch (thrown) {
    // The acceptance is final: the relay starts the run when Temporal is back.
    log.warn('run accepted, start left to the relay', { run, reason: String(thrown) });
  }
  return { run };
};

const moveAtOnce = async ({ node, event, asked }: Parameters<Runs['move']>[0], inventory: Inventory): Promise<void> => {
  const to =
    next(node.provision_state, event) ??
    raise('InvalidState', { verb: event, node: node.name ?? node.uuid, state: node.provision_state });
  await inventory.transaction(async (store) => {
    const moved = await store.runs.moveAtOnce(node.uuid, node.provision_state, to);
    if (!moved) raise('NodeLocked', { node: node.name ?? node.uuid });
    const { owner = null, lessee = null } = (await store.runs.stateOf(node.uuid)) ?? {};
    if (states[to].kind === 'stable') await recovered(store, { uuid: node.uuid, owner, lessee });
    await store.audit.write({
      ...asked,
      action: `node.${event}`,
      resource: 'node',
      resource_id: node.uuid,
      data: { from: node.provision_state, to, ...(asked.reason !== undefined && { reason: asked.reason }) },
    });
    await store.events.append({
      kind: 'node.moved',
      node_uuid: node.uuid,
      project: owner,
      lessee,
      data: { from: node.provision_state, to, event },
    });
  });
};

export const createRuns = (deps: RunsDeps): Runs => {
  const engine = createEngine(deps.client);
  const { inventory, log } = deps;
  const start: Runs['start'] = (order, before) => startRun(order, deps, engine, before);
  return {
    start,
    move: (order) => moveAtOnce(order, inventory),
    recover: (yes) => recover(deps, yes),
    send: (order) => sendMessage(order, inventory, engine, log),
    operate: (order) => operate(order, deps, engine),
    agentContact: (contact) => notifyContact(contact, deps, engine),
    call: (order) => call(order, { ...deps, start }),
    async look(run) {
      const row = await inventory.runs.find(run);
      return row ? engine.read(row.workflow_id) : { sources: [] };
    },
  };
};

const byOf = ({ requester: { user_name, user_id } }: RunAudit): string => user_name ?? user_id ?? 'unknown';

/** Stores a message with its audit row, then delivers it; otherwise the relay does. */
const deliver = async (
  run: RunRow,
  kind: 'abort' | 'unhold',
  { asked, reason }: { asked: RunAudit; reason?: string },
  { inventory, engine, log }: { inventory: Inventory; engine: Engine; log: Log },
): Promise<Delivered> => {
  const payload = {
    operationId: run.id,
    requestId: asked.requester.request_id,
    by: byOf(asked),
    via: 'api' as const,
    cursor: run.cursor,
  };
  const id = await inventory.transaction(async (store) => {
    await record(store, run, kind, asked, reason);
    if (kind === 'abort') await store.runs.abortAsked(run.id, byOf(asked));
    return store.runs.queueMessage(run.id, kind, payload);
  });
  try {
    if (!(await engine.send(run.workflow_id, kind, payload))) {
      const done = await reconcileNow(run, engine, { inventory, log });
      if (done !== 'open') return done;
    }
    await inventory.runs.messageSent(id);
    return 'taken';
  } catch (thrown) {
    log.warn('message kept for the relay', { kind, run: run.id, reason: String(thrown) });
    return 'kept';
  }
};

/** `open` if the run has ended meanwhile. */
const reconcileNow = async (
  run: RunRow,
  engine: Engine,
  deps: { inventory: Inventory; log: Log },
): Promise<'ended' | 'restarted' | 'open'> => {
  const now = await deps.inventory.runs.find(run.id);
  return (now && !now.finished_at && (await reconcileRun(now, engine, deps))) || 'open';
};

const record = async (
  store: Queries,
  run: RunRow,
  act: RecordedAct | `${Exclude<RunAct, 'abort'>}.refused`,
  asked: RunAudit,
  reason?: string,
): Promise<void> => {
  const { node_uuid, id: run_id, owner: project, lessee } = run;
  const data = { by: byOf(asked), ...(reason !== undefined && { reason }) };
  await store.audit.write({ ...asked, action: `run.${act}`, resource: 'node', resource_id: node_uuid, run_id, data });
  await store.events.append({ kind: `run.${act}`, node_uuid, run_id, project, lessee, data });
};

/** Ends a run that has not begun. False if it has begun meanwhile. */
const abortUnstarted = async (run: RunRow, asked: RunAudit, reason: string, inventory: Inventory): Promise<boolean> => {
  const input = await inventory.runs.input(run.id);
  if (
    !input ||
    !(await endUnstarted(run, input, 'By request, the run was aborted before it began.', 'aborted', inventory))
  )
    return false;
  await inventory.transaction((store) => record(store, run, 'abort', asked, reason));
  return true;
};

const sendMessage = async (
  { node, kind, asked }: MessageOrder,
  inventory: Inventory,
  engine: Engine,
  log: Log,
): Promise<void> => {
  const run = (await inventory.runs.holding(node.uuid)) ?? raise('NodeLocked', { node: node.name ?? node.uuid });
  await deliver(run, kind, { asked, reason: asked.reason }, { inventory, engine, log });
};

/** Contacts by what a run must await. Of a thousand heartbeats, only the awaited one is sent. */
const awaited: Readonly<Record<ContactKind, readonly (string | null)[]>> = {
  heartbeat: ['heartbeat'],
  inspection: ['inspection'],
  unfreeze: [null, 'heartbeat', 'inspection'],
  lost: ['heartbeat', 'inspection'],
};

const notifyContact = async (
  { node, kind }: { node: NodeUuid; kind: ContactKind },
  { inventory, log }: RunsDeps,
  engine: Engine,
): Promise<void> => {
  const waiting = await inventory.contacts.waiting(node);
  if (!waiting || !awaited[kind].includes(waiting.awaits)) return;
  const { run, workflow_id } = waiting;
  const payload = { operationId: run, contactId: randomUUID(), kind };
  const id = await inventory.runs.queueMessage(run, 'agentContact', payload);
  try {
    if (!(await engine.contact(workflow_id, payload))) {
      const row = await inventory.runs.find(run);
      if (row) await reconcileNow(row, engine, { inventory, log });
    }
    await inventory.runs.messageSent(id);
  } catch (thrown) {
    log.warn('message kept for the relay', { kind, run, reason: String(thrown) });
  }
};

/** Sealed for the BMC of the step's node. */
const holdingOfArgs = async (run: RunRow, cursor: number, inventory: Inventory): Promise<Holding> => {
  const on = (await inventory.runs.input(run.id))!.steps[cursor]?.on;
  const side = await sideOf(inventory, on?.node_uuid ?? run.node_uuid);
  const groups = await inventory.runs.groupsOf(run.id);
  return { holder: 'run', holder_id: run.id, field: 'args', groups, side };
};

const operate = async (
  { run: id, act, cursor, reason, args, asked }: ActOrder,
  { inventory, vault, log }: RunsDeps,
  engine: Engine,
): Promise<Delivered> => {
  const run = (await inventory.runs.find(id)) ?? raise('RunNotFound', { run: id });
  if (run.finished_at) raise('Conflict', { reason: `Run ${id} has ended: ${run.state}.` });
  if (act === 'abort' && run.state === 'accepted' && (await abortUnstarted(run, asked, reason, inventory)))
    return 'taken';
  if (act === 'abort') return deliver(run, act, { asked, reason }, { inventory, engine, log });
  const sealed = args && vault.seal(args, await holdingOfArgs(run, cursor, inventory));
  // Before the update, because a worker may read them at once. Unused ones are deleted with the run.
  if (sealed) await inventory.secrets.insert(sealed.secrets);
  // Before the update, which may take effect even if its response is lost.
  await inventory.transaction((store) => record(store, run, act, asked, reason));
  const refused = (thrown: unknown) =>
    isTemperError(thrown, 'Conflict')
      ? inventory.transaction((store) => record(store, run, `${act}.refused`, asked, thrown.message))
      : undefined;
  const order = {
    cursor,
    by: byOf(asked),
    reason,
    requestId: asked.requester.request_id,
    ...(sealed && { args: sealed.document }),
  };
  try {
    if (await engine.update(run.workflow_id, act, order)) return 'taken';
    const done = await reconcileNow(run, engine, { inventory, log });
    const why = {
      open: 'The run has ended.',
      ended: 'The run had ended in the workflow engine.',
      restarted: 'The workflow engine had lost this run; it goes on from its record now. Look at it and ask again.',
    };
    return raise('Conflict', { reason: why[done] });
  } catch (thrown) {
    await refused(thrown);
    throw thrown;
  }
};
