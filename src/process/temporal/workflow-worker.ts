/** Temporal's worker, whose workflows run in our thread (workflow-thread.ts). */
import { join } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import { Worker } from '@temporalio/worker';
import { ThreadedVMWorkflowCreator, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm';

const thread = join(__dirname, 'workflow-thread.js');

export class WorkflowWorker extends Worker {
  // As in @temporalio/worker 1.24, lib/worker.js and lib/workflow/threaded-vm.js, for one thread and without patch callbacks.
  protected static override async createWorkflowCreator(
    ...[workflowBundle, options, logger]: Parameters<(typeof Worker)['createWorkflowCreator']>
  ): Promise<ThreadedVMWorkflowCreator> {
    const client = new WorkerThreadClient(new Thread(thread), logger);
    await client.send({
      type: 'init',
      workflowBundle,
      isolateExecutionTimeoutMs: options.isolateExecutionTimeoutMs,
      reuseV8Context: options.reuseV8Context,
      registeredActivityNames: new Set(options.activities.keys()),
      hasPatchActivationCallback: false,
    });
    return new ThreadedVMWorkflowCreator([client]);
  }
}
