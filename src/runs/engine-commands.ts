/** Temporal calls that change a workflow. */
import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
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
  retryStep,
  rolloutId,
  setPaused,
  skipStep,
  unholdSignal,
  wakeSignal,
} from '../workflows/contract';
import { found, startWithin, type TemporalAccess } from './engine-reach';
import { priorityOf, urgent } from './priorities';

/** Facts for search attributes and summary. */
export type RunFacts = {
  readonly owner: string | null;
  readonly lessee: string | null;
  readonly requester: string;
  readonly state: string | null;
  readonly rollout?: string | null;
};

/** Acts sent as updates, which return a result. An abort is a signal. */
export type UpdateAct = Exclude<RunAct, 'abort'>;

const updateWithin = 5_000;

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

const startRun = async ({ client, within }: TemporalAccess, workflowId: string, run: RunInput, facts: RunFacts) => {
  try {
    await within(startWithin, () =>
      client.workflow.start(run.kind, {
        workflowId,
        taskQueue: controlQueue(run.queue_prefix),
        args: [run],
        // A resumed run had an execution with this id. Its claim prevents two at once.
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

/** Temporal deduplicates updates by `requestId`. */
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

const updateRun = async (
  { client, within }: TemporalAccess,
  workflowId: string,
  act: UpdateAct,
  order: UpdateOrder,
) => {
  try {
    const handle = client.workflow.getHandle(workflowId);
    return await found(() => within(updateWithin, () => executeUpdate(handle, act, order)));
  } catch (thrown) {
    if (thrown instanceof WorkflowUpdateFailedError)
      raise('Conflict', { reason: thrown.cause?.message ?? 'The run refused.' });
    return raise('ActUnanswered', {}, { cause: thrown });
  }
};

/**
 * Raises the run's priority. Errors are ignored, so that an abort also works on a server without priorities.
 * Workflow code does not see the history event.
 */
const raisePriority = async ({ client, within }: TemporalAccess, workflowId: string): Promise<void> => {
  try {
    await within(startWithin, () =>
      client.workflowService.updateWorkflowExecutionOptions({
        namespace: client.options.namespace,
        workflowExecution: { workflowId },
        workflowExecutionOptions: { priority: urgent },
        updateMask: { paths: ['priority.priority_key'] },
      }),
    );
  } catch {}
};

export const commandsOf = (reach: TemporalAccess) => {
  const { client, within } = reach;
  const handleOf = (workflowId: string) => client.workflow.getHandle(workflowId);
  const sent = (work: () => Promise<unknown>) => found(() => within(startWithin, work));
  return {
    /** Idempotent, even if the workflow has ended. */
    start: (workflowId: string, run: RunInput, facts: RunFacts): Promise<void> =>
      startRun(reach, workflowId, run, facts),

    /** False if no workflow with this id is open. */
    async send(workflowId: string, kind: 'abort' | 'unhold', message: Message): Promise<boolean> {
      if (kind === 'abort') await raisePriority(reach, workflowId);
      return sent(() => handleOf(workflowId).signal(kind === 'abort' ? abortSignal : unholdSignal, message));
    },

    /** False if no workflow with this id is open. */
    contact: (workflowId: string, contact: Contact): Promise<boolean> =>
      sent(() => handleOf(workflowId).signal(agentContact, contact)),

    /** Reports another attempt to the execution that scheduled the act. False if it is closed. */
    tried: (workflowId: string, execution: string, report: ActTried): Promise<boolean> =>
      sent(() => client.workflow.getHandle(workflowId, execution).signal(actTried, report)),

    /** Waits for the result. False if no workflow with this id is open. Throws Conflict with the run's reason, ActUnanswered. */
    update: (workflowId: string, act: UpdateAct, order: UpdateOrder): Promise<boolean> =>
      updateRun(reach, workflowId, act, order),

    /** Starts the rollout's workflow if none is open. */
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

    /** No effect on an ended workflow. */
    async cancel(workflowId: string): Promise<void> {
      await sent(() => handleOf(workflowId).cancel());
    },

    /** False if no workflow is open. */
    terminate: (workflowId: string, reason: string): Promise<boolean> =>
      sent(() => handleOf(workflowId).terminate(reason)),
  };
};
