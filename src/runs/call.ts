/** Calls with a waiting caller. A read is a short workflow, any other act a run of one step. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, ServiceError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import type { Inventory } from '../inventory';
import type { RunRow } from '../inventory/runs/runs';
import { type ErrorCode, errors, type Facts, raise, TemperError } from '../model/errors';
import type { RunUuid } from '../model/ids';
import { actRow, planActs } from '../model/lifecycle/steps';
import type { CallInput } from '../model/runs/calls';
import type { Timing } from '../model/runs/runs';
import { callId, controlQueue } from '../workflows/contract';
import type { CallOrder, RunOrder } from './contract';
import { lookPriority } from './priorities';

export type CallDeps = {
  readonly client: Client;
  readonly inventory: Inventory;
  readonly timing: Timing;
  readonly queuePrefix?: string;
  /** Maximum wait of the caller; default one minute. */
  readonly callTimeoutMs?: number;
  readonly start: (order: RunOrder) => Promise<{ run: RunUuid }>;
};

const startWithin = 2_000;
const aMinute = 60_000;

/** The act's deadline is shorter than the caller's, so that its own error can be returned. */
const limitsOf = ({ callTimeoutMs = aMinute }: CallDeps) => ({
  answerMs: callTimeoutMs,
  actMs: Math.ceil((callTimeoutMs * 5) / 6),
  attemptMs: Math.ceil(callTimeoutMs / 2),
});

export const call = (order: CallOrder, deps: CallDeps): Promise<unknown> =>
  actRow(order.act).effect === 'read' ? look(order, deps) : act(order, deps);

const look = async (order: CallOrder, deps: CallDeps): Promise<unknown> => {
  const { client } = deps;
  const { answerMs } = limitsOf(deps);
  const handle = await client
    .withDeadline(Date.now() + startWithin, () =>
      client.workflow.start('bmcCall', {
        workflowId: callId(order.node.uuid, order.asked.requester.request_id),
        taskQueue: controlQueue(deps.queuePrefix),
        args: [inputOf(order, deps)],
        workflowExecutionTimeout: answerMs,
        priority: lookPriority(order.asked.requester.project_id),
        staticSummary: `${actRow(order.act).says} of ${order.node.name ?? order.node.uuid}`.slice(0, 200),
      }),
    )
    .catch((thrown) => raise('EngineUnavailable', {}, { cause: thrown }));
  try {
    return await client.withDeadline(Date.now() + answerMs, () => handle.result());
  } catch (thrown) {
    throw lookFailure(thrown, order, answerMs);
  }
};

const inputOf = ({ node, act, args }: CallOrder, deps: CallDeps): CallInput => {
  const { actMs, attemptMs } = limitsOf(deps);
  return {
    node_uuid: node.uuid,
    act,
    args,
    timing: deps.timing,
    withinMs: attemptMs,
    timeoutMs: actMs,
    conductor_group: node.conductor_group,
    ...(deps.queuePrefix && { queue_prefix: deps.queuePrefix }),
  };
};

const deadlineExceeded = 4; // gRPC

const lookFailure = (thrown: unknown, { node }: CallOrder, answerMs: number): TemperError => {
  const cause = rootOf(thrown);
  if (cause instanceof ApplicationFailure)
    return rebuilt(cause.type, (cause.details?.[0] ?? {}) as Facts, cause.message);
  const late = cause instanceof TimeoutFailure || Number((cause as { code?: unknown }).code) === deadlineExceeded;
  const facts = { node: node.name ?? node.uuid, seconds: seconds(answerMs), outcome: 'nothing was changed, try again' };
  if (late || thrown instanceof WorkflowFailedError) return new TemperError('CallTimeout', facts, { cause: thrown });
  return new TemperError('EngineUnavailable', {}, { cause: thrown });
};

const rootOf = (thrown: unknown): unknown => {
  let cause = thrown;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause instanceof ServiceError ? (cause.cause ?? cause) : cause;
};

const seconds = (ms: number): number => Math.ceil(ms / 1_000);

/** Rebuilds the error of an act from its Temporal failure. */
const rebuilt = (code: string | null | undefined, facts: Facts, text: string): TemperError => {
  const known = typeof code === 'string' && Object.hasOwn(errors, code) && code !== 'Unexpected';
  if (!known) return new TemperError('RunFailed', { reason: text });
  const error = new TemperError(code as ErrorCode, facts);
  error.message = text;
  return error;
};

const orderOf = ({ node, act: name, args, asked, background }: CallOrder, actMs: number): RunOrder => ({
  node,
  verb: 'call',
  kind: 'call',
  event: null,
  ends: null,
  target: null,
  fault: null,
  runbook: null,
  asked,
  steps: [
    {
      index: 0,
      interface: 'management',
      step: name,
      args,
      acts: planActs([name]),
      waits: null,
      abortable: false,
      parks: false,
      ...(!background && { timeoutMs: actMs }),
    },
  ],
});

const act = async (order: CallOrder, deps: CallDeps): Promise<unknown> => {
  const { answerMs, actMs } = limitsOf(deps);
  const deadline = performance.now() + answerMs;
  const { run } = await deps.start(orderOf(order, actMs));
  if (order.background) return undefined;
  const ended = await endOf(run, deadline, deps);
  const { uuid, name } = order.node;
  const outcome = `run ${run} goes on and may still take effect`;
  if (!ended) return raise('CallTimeout', { node: name ?? uuid, seconds: seconds(answerMs), outcome });
  if (ended.state === 'succeeded') return deps.inventory.calls.answerOf(run);
  const text = ended.last_error ?? `Run ${run} ended: ${ended.state}.`;
  if (ended.state === 'aborted') return raise('Conflict', { reason: text });
  throw rebuilt(await deps.inventory.calls.failureOf(run), {}, text);
};

const firstLookMs = 50;
const longestPauseMs = 500;

/** Polls PostgreSQL, which has the end even while Temporal is away. */
const endOf = async (run: RunUuid, deadline: number, { inventory }: CallDeps): Promise<RunRow | undefined> => {
  for (let pause = firstLookMs; ; pause = Math.min(pause * 1.5, longestPauseMs)) {
    const row = await inventory.runs.find(run);
    if (row?.finished_at) return row;
    if (performance.now() >= deadline) return undefined;
    await sleep(pause);
  }
};
