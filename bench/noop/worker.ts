/** A worker of the no-op workflow, configured as the product's two workers are. Argument: `control` or `steps`. */
import { join } from 'node:path';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { answerParent } from '../child';
import { createNoopActivities } from './activities';
import { controlQueue, stepQueue } from './contract';

const roles: Readonly<Record<string, Partial<WorkerOptions> & { taskQueue: string }>> = {
  control: {
    taskQueue: controlQueue,
    workflowsPath: join(__dirname, 'workflows.js'),
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
  },
  steps: {
    taskQueue: stepQueue,
    maxConcurrentActivityTaskExecutions: 500,
    activityTaskPollerBehavior: { type: 'autoscaling' },
  },
};

export type Place = { readonly address: string; readonly namespace: string };

let stop: () => Promise<void> = async () => {};

/** Starts working; answers once the worker polls. */
const work = async ({ address, namespace }: Place): Promise<string> => {
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace,
    activities: createNoopActivities(),
    ...roles[process.argv[2] ?? '']!,
  });
  const running = worker.run();
  stop = async () => {
    worker.shutdown();
    await running;
    await connection.close();
  };
  return 'polling';
};

answerParent(work, () => stop());
