/** Temporal for workers: connection, identity, search attributes, and the mark's schedule. */
import { hostname } from 'node:os';
import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { attributes, controlQueue, reconcileId } from '../../workflows/contract';
import { connectionOptions, type TemporalSettings } from './client';

export const workerConnection = (settings: TemporalSettings): Promise<NativeConnection> =>
  NativeConnection.connect(connectionOptions(settings));

/** Shown in Temporal's UI. */
export const workerIdentity = (role: string, group: string, name?: string): string =>
  `${name ?? hostname()}/${role}/${group || 'default'}/${process.pid}`;

/** Throws with the missing search attributes. Without them runs cannot start. */
export const checkAttributes = async (connection: NativeConnection, namespace: string): Promise<void> => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(attributes)
    .map(({ name }) => name)
    .filter((name) => !customAttributes?.[name]);
  if (missing.length > 0)
    throw new Error(
      `Temporal namespace ${namespace} lacks the search attributes ${missing.join(', ')}; run the migrate command with TEMPER_TEMPORAL_ADDRESS set`,
    );
};

/**
 * Creates the schedule with Temporal's mark (runs/marks.ts), if missing. It is paused and has no times: control
 * workers reconcile on their own timer. Triggering it runs one pass.
 * @param prefix first part of the queue names; one schedule per installation in a namespace
 */
export const ensureMarkHolder = async (client: Client, prefix: string): Promise<void> => {
  try {
    await client.schedule.create({
      scheduleId: reconcileId(prefix),
      spec: {},
      action: {
        type: 'startWorkflow',
        workflowType: 'reconcile',
        taskQueue: controlQueue(prefix),
        workflowId: reconcileId(prefix),
        staticSummary: 'put right what fell between store and engine',
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP },
      state: { paused: true },
    });
  } catch (thrown) {
    if (!(thrown instanceof ScheduleAlreadyRunning)) throw thrown;
  }
};
