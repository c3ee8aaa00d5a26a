/** The SDK's thread of workflows, without a stack trace for each promise. */
import { promiseHooks } from 'node:v8';

// No setting of the SDK stops it. It is two fifths of a replay's CPU time, for the call stack in Temporal's UI.
promiseHooks.createHook = () => () => {};

import '@temporalio/worker/lib/workflow/workflow-worker-thread';
