/** The few things asked of Temporal, each with a deadline, so that a silent engine never holds a request. */
import {
  ApplicationFailure,
  type Client,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { NamespaceNotFoundError, TypedSearchAttributes } from '@temporalio/common';
import { raise } from '../model/errors';
import type { RolloutUuid } from '../model/ids';
import { nameOf } from '../model/lifecycle/steps';
import type { RunAct } from '../model/runs/run-acts';
import type { RunInput } from '../model/runs/runs';
import {
  type ActTried,
  abortSignal,
  actTried,
  agentContact,
  attributes,
  type Contact,
  controlQueue,
  failOperation,
  type Message,
  type Projected,
  progressQuery,
  projectedQuery,
  retryStep,
  rolloutId,
  setPaused,
  skipStep,
  unholdSignal,
  wakeSignal,
} from '../workflows/contract';
import type { LiveRun } from './contract';
import { pendingOf } from './engine-pending';
import { priorityOf, urgent } from './priorities';

/** Who a run is for, as search attributes and summary show it. */
export type RunFacts = {
  readonly owner: string | null;
  readonly lessee: string | null;
  readonly requester: string;
  readonly state: string | null;
  /** The rollout that it is a part of. */
  readonly rollout?: string | null;
};

/** How a run ended by the word of its workflow; `says` is null where it went well. */
type SaidEnding = { readonly outcome: 'succeeded' | 'failed' | 'aborted'; readonly says: string | null };

// temporal.api.enums.v1.PendingActivityState: waiting for a worker, and for its next attempt.
const scheduled = 1;

const startWithin = 2_000;
const answerWithin = 1_000;
const updateWithin = 5_000;
// A worker that has just started replays the whole history first.
const queryWithin = 10_000;
const queryTries = 4;

/** Acts that the run answers, as against signals, which it only receives. */
export type UpdateAct = Exclude<RunAct, 'abort'>;

// gRPC status codes with which the server says that this very request will never do.
const refusals = new Set([3, 8, 9, 11]); // INVALID_ARGUMENT, RESOURCE_EXHAUSTED (too large), FAILED_PRECONDITION, OUT_OF_RANGE

const causeOf = (thrown: unknown): { code?: unknown; details?: unknown } =>
  thrown instanceof ServiceError ? ((thrown.cause ?? {}) as { code?: unknown; details?: unknown }) : {};

/** Whether the engine refused this request, rather than being away. A namespace that is not there refuses every request. */
export const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof NamespaceNotFoundError || refusals.has(Number(causeOf(thrown).code));

/** The engine's own words for a refusal; of a missing namespace those of its client, without the error's name. */
export const refusalOf = (thrown: unknown): string =>
  thrown instanceof NamespaceNotFoundError
    ? `namespace ${thrown.namespace} is not there`
    : String(causeOf(thrown).details ?? thrown).slice(0, 300);

// temporalio/temporal:common/util.go "Blob data size exceeds limit", "exceeds size limit"; grpc-go "message larger than max".
const tooLarge = /too large|larger than max|size exceeds|exceeds size/i;

/** Whether a refusal is of this very request for ever, not of what the server lacks or is busy with now. */
export const isTooLarge = (refusal: string): boolean => tooLarge.test(refusal);

/** The client, and a way to call it that gives up after so many milliseconds. */
type Reach = { readonly client: Client; within<T>(ms: number, work: () => Promise<T>): Promise<T> };

/** @returns whether the engine has an open workflow for the work */
const found = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return false;
    throw thrown;
  }
};

const startRun = async ({ client, within }: Reach, workflowId: string, run: RunInput, facts: RunFacts) => {
  try {
    await within(startWithin, () =>
      client.workflow.start(run.story, {
        workflowId,
        taskQueue: controlQueue(run.queue_prefix),
        args: [run],
        // A run that goes on from its record had an execution of this id before; its claim is what makes it one.
        workflowIdReusePolicy: run.carries?.resumed ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        staticSummary: summaryOf(run).slice(0, 200),
        staticDetails: detailsOf(run),
        typedSearchAttributes: attributesOf(run, facts),
        memo: { rule_set: run.rule_set },
        priority: priorityOf(run, facts),
      }),
    );
  } catch (thrown) {
    if (!(thrown instanceof WorkflowExecutionAlreadyStartedError)) throw thrown;
  }
};

/** What an update carries; `requestId` makes a repeat harmless. */
type UpdateOrder = {
  readonly cursor: number;
  readonly by: string;
  readonly reason: string;
  readonly requestId: string;
  readonly args?: Readonly<Record<string, unknown>>;
};

const executeUpdate = (
  handle: WorkflowHandle,
  act: UpdateAct,
  { cursor, by, reason, requestId: updateId, args }: UpdateOrder,
): Promise<void> => {
  const decision = { cursor, by, reason, via: 'api' as const };
  switch (act) {
    case 'pause':
      return handle.executeUpdate(setPaused, { args: [{ paused: true, by, via: 'api' }], updateId });
    case 'resume':
      return handle.executeUpdate(setPaused, { args: [{ paused: false, by, via: 'api' }], updateId });
    case 'retry':
      return handle.executeUpdate(retryStep, { args: [{ ...decision, ...(args && { args }) }], updateId });
    case 'skip':
      return handle.executeUpdate(skipStep, { args: [decision], updateId });
    case 'fail':
      return handle.executeUpdate(failOperation, { args: [decision], updateId });
  }
};

const updateRun = async ({ client, within }: Reach, workflowId: string, act: UpdateAct, order: UpdateOrder) => {
  try {
    const handle = client.workflow.getHandle(workflowId);
    return await found(() => within(updateWithin, () => executeUpdate(handle, act, order)));
  } catch (thrown) {
    if (thrown instanceof WorkflowUpdateFailedError)
      raise('Conflict', { reason: thrown.cause?.message ?? 'The run refused.' });
    return raise('ActUnanswered', {}, { cause: thrown });
  }
};

const readRun = async ({ client, within }: Reach, workflowId: string): Promise<LiveRun> => {
  const handle = client.workflow.getHandle(workflowId);
  const [described, progress] = await Promise.allSettled([
    within(answerWithin, () => handle.describe()),
    within(answerWithin, () => handle.query(progressQuery)),
  ]);
  return {
    sources: [
      ...(described.status === 'fulfilled' ? (['describe'] as const) : []),
      ...(progress.status === 'fulfilled' ? (['query'] as const) : []),
    ],
    ...(described.status === 'fulfilled' && {
      status: described.value.status.name,
      pending: pendingOf(described.value.raw),
    }),
    ...(progress.status === 'fulfilled' && { progress: progress.value }),
  };
};

/**
 * Lets a run's work go first from here on. A server that cannot is no reason to keep an abort back: it takes its turn then.
 * Leaves an event in the history, which a workflow does not see.
 */
const hurry = async ({ client, within }: Reach, workflowId: string): Promise<void> => {
  try {
    await within(startWithin, () =>
      client.workflowService.updateWorkflowExecutionOptions({
        namespace: client.options.namespace,
        workflowExecution: { workflowId },
        workflowExecutionOptions: { priority: urgent },
        updateMask: { paths: ['priority.priority_key'] },
      }),
    );
  } catch {
    // It takes its turn, then.
  }
};

/** What changes a workflow. */
const commandsOf = (reach: Reach) => {
  const { client, within } = reach;
  const handleOf = (workflowId: string) => client.workflow.getHandle(workflowId);
  const sent = (work: () => Promise<unknown>) => found(() => within(startWithin, work));
  return {
    /** Starts the workflow of an accepted run; one that runs or has ended already is as good. */
    start: (workflowId: string, run: RunInput, facts: RunFacts): Promise<void> =>
      startRun(reach, workflowId, run, facts),

    /** Delivers a message; false when the engine has no open workflow of this id. */
    async send(workflowId: string, kind: 'abort' | 'unhold', message: Message): Promise<boolean> {
      if (kind === 'abort') await hurry(reach, workflowId);
      return sent(() => handleOf(workflowId).signal(kind === 'abort' ? abortSignal : unholdSignal, message));
    },

    /** Delivers what happened outside; false when the engine has no open workflow of this id. */
    contact: (workflowId: string, contact: Contact): Promise<boolean> =>
      sent(() => handleOf(workflowId).signal(agentContact, contact)),

    /** Reports a further attempt of an act to the execution that asked for it; false when that one is closed. */
    tried: (workflowId: string, execution: string, report: ActTried): Promise<boolean> =>
      sent(() => client.workflow.getHandle(workflowId, execution).signal(actTried, report)),

    /**
     * Asks a run to do something, and answers once it has; false when the engine has no open workflow of this id. Throws Conflict
     * with the run's own words, ActUnanswered.
     */
    update: (workflowId: string, act: UpdateAct, order: UpdateOrder): Promise<boolean> =>
      updateRun(reach, workflowId, act, order),

    /** Wakes the workflow of a rollout, and starts it where there is no open one. */
    wake: async (rollout: RolloutUuid, queuePrefix?: string): Promise<void> => {
      await within(startWithin, () =>
        client.workflow.signalWithStart('rollout', {
          workflowId: rolloutId(rollout),
          taskQueue: controlQueue(queuePrefix),
          args: [{ rollout }],
          signal: wakeSignal,
          signalArgs: [],
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          staticSummary: `rollout ${rollout}`,
        }),
      );
    },

    /** Cancels a workflow; does nothing to one that has ended already. */
    async cancel(workflowId: string): Promise<void> {
      await sent(() => handleOf(workflowId).cancel());
    },

    /** Terminates a workflow, which is not asked; false when there is no open one. */
    terminate: (workflowId: string, reason: string): Promise<boolean> =>
      sent(() => handleOf(workflowId).terminate(reason)),
  };
};

/** What lists workflows, as the engine's visibility store has them: late, perhaps. */
const listsOf = ({ client }: Reach) => ({
  /** Ids of open workflows on an installation's control queue. */
  async *open(queuePrefix?: string): AsyncGenerator<string> {
    const query = `ExecutionStatus = 'Running' and TaskQueue = '${controlQueue(queuePrefix)}'`;
    for await (const { workflowId } of client.workflow.list({ query })) yield workflowId;
  },

  /** Ids of workflows on an installation's control queue that have closed, of those that began after a time. */
  async *closed(queuePrefix: string | undefined, since: Date): AsyncGenerator<string> {
    const queue = `TaskQueue = '${controlQueue(queuePrefix)}'`;
    const query = `ExecutionStatus != 'Running' and ${queue} and StartTime > '${since.toISOString()}'`;
    for await (const { workflowId } of client.workflow.list({ query })) yield workflowId;
  },
});

/** What asks the engine about one workflow. */
const readsOf = (reach: Reach) => {
  const { client, within } = reach;
  const handleOf = (workflowId: string) => client.workflow.getHandle(workflowId);
  return {
    /** How a closed workflow says that its run ended; undefined where it was ended from outside and says nothing. */
    async ending(workflowId: string): Promise<SaidEnding | undefined> {
      try {
        const result: unknown = await within(answerWithin, () => handleOf(workflowId).result());
        const { outcome } = result as { outcome?: unknown };
        if (outcome === 'aborted') return { outcome, says: 'By request, the run was aborted.' };
        return outcome === 'succeeded' ? { outcome, says: null } : undefined;
      } catch (thrown) {
        if (!(thrown instanceof WorkflowFailedError) || !(thrown.cause instanceof ApplicationFailure)) return undefined;
        return { outcome: 'failed', says: thrown.cause.message };
      }
    },

    /**
     * What an open workflow has had recorded in the store; undefined where no worker answers, which is tried a few times, or one of
     * before that.
     */
    async projected(workflowId: string): Promise<Projected | undefined> {
      for (let tried = 0; tried < queryTries; tried++) {
        try {
          return await reach.within(queryWithin, () => handleOf(workflowId).query(projectedQuery));
        } catch (thrown) {
          if (thrown instanceof QueryNotRegisteredError) return undefined;
        }
      }
      return undefined;
    },

    /** Id of a workflow's newest execution. */
    async execution(workflowId: string): Promise<string> {
      return (await reach.within(startWithin, () => handleOf(workflowId).describe())).runId;
    },

    /** Acts of an open workflow of which a worker has had an attempt, as `execution/activity`. */
    async begunActs(workflowId: string): Promise<string[]> {
      const { raw, runId } = await within(startWithin, () => handleOf(workflowId).describe());
      return (raw.pendingActivities ?? [])
        .filter(({ attempt, state }) => (attempt ?? 1) > 1 || state !== scheduled)
        .map(({ activityId }) => `${runId}/${activityId}`);
    },

    /** Whether a workflow is open, closed (with its status), or unknown to the engine. */
    async status(workflowId: string): Promise<string> {
      let name = 'UNKNOWN';
      await found(async () => {
        ({ name } = (await within(5_000, () => handleOf(workflowId).describe())).status);
      });
      return name;
    },

    /** What the engine knows of a run beyond the store; sources that do not answer in time are left out. */
    read: (workflowId: string): Promise<LiveRun> => readRun(reach, workflowId),
  };
};

/** @param client may be lazy: the API boots without Temporal */
export const createEngine = (client: Client) => {
  const reach: Reach = { client, within: (ms, work) => client.withDeadline(Date.now() + ms, work) };
  return { ...commandsOf(reach), ...listsOf(reach), ...readsOf(reach) };
};

export type Engine = ReturnType<typeof createEngine>;

const titleOf = (run: RunInput): string =>
  run.power ? `${run.power.target}` : run.runbook ? `${run.verb} with runbook ${run.runbook}` : run.verb;

const summaryOf = (run: RunInput): string =>
  `${titleOf(run)} on ${run.node_name ?? run.lock.node_uuid} (${run.steps.length} ${run.steps.length === 1 ? 'step' : 'steps'})`;

const detailsOf = (run: RunInput): string =>
  [
    `Run ${run.lock.run} on node ${run.lock.node_uuid}, driver ${run.driver}.`,
    '',
    ...run.steps.map((step) => `${step.index + 1}. ${nameOf(step)}`),
  ].join('\n');

const attributesOf = (run: RunInput, facts: RunFacts): TypedSearchAttributes =>
  new TypedSearchAttributes([
    { key: attributes.nodeUuid, value: run.lock.node_uuid },
    { key: attributes.verb, value: run.verb },
    { key: attributes.requester, value: facts.requester },
    { key: attributes.conductorGroup, value: run.conductor_group || 'default' },
    { key: attributes.stepIndex, value: 0 },
    ...(run.node_name ? [{ key: attributes.nodeName, value: run.node_name }] : []),
    ...(facts.owner ? [{ key: attributes.owner, value: facts.owner }] : []),
    ...(facts.lessee ? [{ key: attributes.lessee, value: facts.lessee }] : []),
    ...(facts.state ? [{ key: attributes.provisionState, value: facts.state }] : []),
    ...(run.runbook ? [{ key: attributes.runbook, value: run.runbook }] : []),
  ]);
