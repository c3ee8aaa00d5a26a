/** Temporal calls with deadlines, so that an unresponsive server never blocks a request. */
import {
  ApplicationFailure,
  type Client,
  QueryNotRegisteredError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { controlQueue, type Projected, progressQuery, projectedQuery } from '../workflows/contract';
import type { LiveRun } from './contract';
import { commandsOf } from './engine-commands';
import { pendingOf } from './engine-pending';
import { answerWithin, found, startWithin, type TemporalAccess } from './engine-reach';

/** As the workflow returned it; `says` is null for a success. */
type SaidEnding = { readonly outcome: 'succeeded' | 'failed' | 'aborted'; readonly says: string | null };

// temporal.api.enums.v1.PendingActivityState: waiting for a worker, and for its next attempt.
const scheduled = 1;

// Generous, because a Temporal server may be slow after a restore.
const endingWithin = 20_000;
// A worker that has just started replays the whole history.
const queryWithin = 10_000;
const queryTries = 4;

const readRun = async ({ client, within }: TemporalAccess, workflowId: string): Promise<LiveRun> => {
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
 * Undefined if the workflow was ended from outside. Throws if Temporal does not respond, so that a successful run
 * is never ended as failed.
 */
const endingOf = async ({ client, within }: TemporalAccess, workflowId: string): Promise<SaidEnding | undefined> => {
  try {
    const result: unknown = await within(endingWithin, () => client.workflow.getHandle(workflowId).result());
    const { outcome } = result as { outcome?: unknown };
    if (outcome === 'aborted') return { outcome, says: 'By request, the run was aborted.' };
    return outcome === 'succeeded' ? { outcome, says: null } : undefined;
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return undefined;
    if (!(thrown instanceof WorkflowFailedError)) throw thrown;
    if (!(thrown.cause instanceof ApplicationFailure)) return undefined;
    return { outcome: 'failed', says: thrown.cause.message };
  }
};

/** Lists from Temporal's visibility, which may lag. */
const listsOf = ({ client }: TemporalAccess) => ({
  /** Ids of an installation's open workflows. */
  async *open(queuePrefix?: string): AsyncGenerator<string> {
    const query = `ExecutionStatus = 'Running' and TaskQueue = '${controlQueue(queuePrefix)}'`;
    for await (const { workflowId } of client.workflow.list({ query })) yield workflowId;
  },

  /** Ids of an installation's closed workflows that began after a time. */
  async *closed(queuePrefix: string | undefined, since: Date): AsyncGenerator<string> {
    const queue = `TaskQueue = '${controlQueue(queuePrefix)}'`;
    const query = `ExecutionStatus != 'Running' and ${queue} and StartTime > '${since.toISOString()}'`;
    for await (const { workflowId } of client.workflow.list({ query })) yield workflowId;
  },
});

const readsOf = (reach: TemporalAccess) => {
  const { client, within } = reach;
  const handleOf = (workflowId: string) => client.workflow.getHandle(workflowId);
  return {
    ending: (workflowId: string) => endingOf(reach, workflowId),

    /** Undefined if no worker answers within a few tries, or if the workflow's code is older than this query. */
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

    /** Id of the newest execution. */
    async execution(workflowId: string): Promise<string> {
      return (await reach.within(startWithin, () => handleOf(workflowId).describe())).runId;
    },

    /** Acts that a worker has attempted, as `execution/activity`. */
    async begunActs(workflowId: string): Promise<string[]> {
      const { raw, runId } = await within(startWithin, () => handleOf(workflowId).describe());
      return (raw.pendingActivities ?? [])
        .filter(({ attempt, state }) => (attempt ?? 1) > 1 || state !== scheduled)
        .map(({ activityId }) => `${runId}/${activityId}`);
    },

    /** `UNKNOWN` if Temporal does not have the workflow. */
    async status(workflowId: string): Promise<string> {
      let name = 'UNKNOWN';
      await found(async () => {
        ({ name } = (await within(5_000, () => handleOf(workflowId).describe())).status);
      });
      return name;
    },

    /** Sources that do not respond in time are left out. */
    read: (workflowId: string): Promise<LiveRun> => readRun(reach, workflowId),
  };
};

/** @param client may be lazy: the API starts without Temporal */
export const createEngine = (client: Client) => {
  const reach: TemporalAccess = { client, within: (ms, work) => client.withDeadline(Date.now() + ms, work) };
  return { ...commandsOf(reach), ...listsOf(reach), ...readsOf(reach) };
};

export type Engine = ReturnType<typeof createEngine>;
