/** Thread that runs workflows: the SDK's, with less CPU time for each run (docs/decisions/0082). */
import { Script } from 'node:vm';
import { workerData } from 'node:worker_threads';
import { BaseVMWorkflow, globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';
import '@temporalio/worker/lib/workflow/workflow-worker-thread';

const { limitMs } = workerData as { readonly limitMs: number };

// Otherwise the SDK takes a stack trace of each promise of a run. Without the hook, which Bun lacks, it answers the query
// __stack_trace with an error.
Object.assign(globalHandlers, { setPromiseHook: () => {} });

// Node starts and joins a native thread for each call with a time limit. An activation is three calls or more, so the
// whole of it has one limit instead.
const { activate } = BaseVMWorkflow.prototype;
const { runInContext } = Script.prototype;
let withinActivation = false;
Script.prototype.runInContext = function (context, options) {
  return runInContext.call(this, context, withinActivation ? { ...options, timeout: undefined } : options);
};

const caller = new Script('temperActivation()');

/** @throws ERR_SCRIPT_EXECUTION_TIMEOUT */
const withinLimit = <T>(work: () => T): T => {
  Object.assign(globalThis, { temperActivation: work });
  withinActivation = true;
  try {
    return caller.runInThisContext({ timeout: limitMs }) as T;
  } finally {
    withinActivation = false;
  }
};

type Activate = BaseVMWorkflow['activate'];

abstract class LimitedWorkflow extends BaseVMWorkflow {
  override activate(activation: Parameters<Activate>[0]): ReturnType<Activate> {
    try {
      return withinLimit(() => activate.call(this, activation));
    } catch (thrown) {
      // As the SDK's does: the task fails, and the run stays.
      return Promise.resolve({ runId: this.runId, failed: { failure: this.activator.errorToFailure(thrown) } });
    }
  }
}
BaseVMWorkflow.prototype.activate = LimitedWorkflow.prototype.activate;
