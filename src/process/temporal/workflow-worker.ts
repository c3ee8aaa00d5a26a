/** Temporal's worker, with workflows in a thread of ours (workflow-thread.ts). */
import { extname, join } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import { Worker } from '@temporalio/worker';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface';
import { ThreadedVMWorkflowCreator, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm';

// Tests run the sources.
const thread = join(__dirname, `workflow-thread${extname(__filename)}`);

type Given = Parameters<(typeof Worker)['createWorkflowCreator']>;

export class WorkflowWorker extends Worker {
  // As the SDK's ThreadedVMWorkflowCreator.create, for one thread. test/replay/workflow-thread.test.ts compares the two.
  protected static override async createWorkflowCreator(...given: Given): Promise<WorkflowCreator> {
    const [workflowBundle, options, logger] = given;
    if (options.debugMode) return Worker.createWorkflowCreator(...given);
    const { isolateExecutionTimeoutMs, reuseV8Context } = options;
    const workerData = { limitMs: isolateExecutionTimeoutMs };
    const client = new WorkerThreadClient(new Thread(thread, { workerData }), logger);
    await client.send({
      type: 'init',
      workflowBundle,
      isolateExecutionTimeoutMs,
      reuseV8Context,
      registeredActivityNames: new Set(options.activities.keys()),
      hasPatchActivationCallback: false,
    });
    return new ThreadedVMWorkflowCreator([client]);
  }
}
