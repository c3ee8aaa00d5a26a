/** Replays a run's history from Temporal on this build's workflows. */
import { Client, Connection, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { DefaultLogger, type ReplayWorkerOptions, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { type Replayed, type RunName, stop } from '../../cli';
import type { NodeUuid, RunUuid } from '../../model/ids';
import { workflowId } from '../../workflows/contract';
import { ConfigFault } from '../settings/fault';
import { type LookedAt, lookedAt } from '../settings/temper-settings';
import { workflowsFrom } from './bundle';
import { connectionOptions, type TemporalSettings } from './client';

const replaySettings = (env: NodeJS.ProcessEnv): LookedAt & TemporalSettings => {
  try {
    const settings = lookedAt(env);
    const TEMPER_TEMPORAL_ADDRESS =
      settings.TEMPER_TEMPORAL_ADDRESS ??
      stop(
        'usage',
        'Histories lie in Temporal: set TEMPER_TEMPORAL_ADDRESS, and TEMPER_TEMPORAL_NAMESPACE if it is not temper.',
      );
    return { ...settings, TEMPER_TEMPORAL_ADDRESS };
  } catch (thrown) {
    if (thrown instanceof ConfigFault) return stop('usage', thrown.message);
    throw thrown;
  }
};

/** The same workflow code as a control worker's. Throws CliFault. */
const replayOptions = ({ TEMPER_WORKFLOW_BUNDLE }: LookedAt): ReplayWorkerOptions => {
  try {
    const { workflowModules, ...workflows } = workflowsFrom(TEMPER_WORKFLOW_BUNDLE);
    return { ...workflows, ...(workflowModules && { interceptors: { workflowModules } }) };
  } catch (thrown) {
    if (thrown instanceof ConfigFault) return stop('usage', thrown.message);
    throw thrown;
  }
};

const grpcNotFound = 5;

/** For histories the server returns NOT_FOUND instead of the SDK's error. */
const isUnknown = (thrown: unknown): boolean =>
  thrown instanceof WorkflowNotFoundError || (isGrpcServiceError(thrown) && thrown.code === grpcNotFound);

const optionsOf = (settings: TemporalSettings) => {
  try {
    return connectionOptions(settings);
  } catch (thrown) {
    if (thrown instanceof ConfigFault) return stop('usage', thrown.message);
    throw thrown;
  }
};

const fetched = async (id: string, settings: TemporalSettings) => {
  const at = settings.TEMPER_TEMPORAL_ADDRESS;
  const connection = await Connection.connect(optionsOf(settings)).catch(() =>
    stop('unreachable', `Temporal at ${at} did not answer.`),
  );
  try {
    const client = new Client({ connection, namespace: settings.TEMPER_TEMPORAL_NAMESPACE });
    return await client.workflow.getHandle(id).fetchHistory();
  } catch (thrown) {
    if (!isUnknown(thrown)) throw thrown;
    const where = `Temporal at ${at}, namespace ${settings.TEMPER_TEMPORAL_NAMESPACE},`;
    return stop('refused', `${where} has no history of ${id}: it was kept for a while only, or never began there.`);
  } finally {
    await connection.close();
  }
};

const idOf = (of: RunName | string): string =>
  typeof of === 'string' ? of : workflowId(of.node_uuid as NodeUuid, of.verb.replaceAll(' ', '-'), of.uuid as RunUuid);

/**
 * Throws CliFault without a history or workflow code.
 * @public src/bin/temper.ts loads this file only for the commands that need it
 */
export const replayRun = async (of: RunName | string, env: NodeJS.ProcessEnv): Promise<Replayed> => {
  const settings = replaySettings(env);
  const options = replayOptions(settings);
  const id = idOf(of);
  const history = await fetched(id, settings);
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });
  const events = history.events?.length ?? 0;
  try {
    await Worker.runReplayHistory(options, history, id);
    return { events, fault: null };
  } catch (thrown) {
    if (thrown instanceof DeterminismViolationError) return { events, fault: thrown.message };
    throw thrown;
  }
};
