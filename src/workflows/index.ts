/** Workflow types of a control worker. Temporal histories contain the names. */
import { runWorkflow } from './node-run';

export { bmcCall } from './bmc-call';
export { reconcile } from './reconcile';
export { rollout } from './rollout';

/** Takes a node in use as it is, without a change. */
export const adopt = runWorkflow('adopt');
/** One act without a move: boot device, virtual media, indicator. */
export const call = runWorkflow('call');
/** Given, runbook or automatic steps on a node that is not in use. */
export const clean = runWorkflow('clean');
/** Also for rebuild. */
export const deploy = runWorkflow('deploy');
/** Through the BMC or a ramdisk. */
export const inspect = runWorkflow('inspect');
export const power = runWorkflow('power');
export const rescue = runWorkflow('rescue');
/** Approved or given steps on a node, which returns to use. */
export const service = runWorkflow('service');
/** Removes the instance, cleans the node and makes it available. */
export const undeploy = runWorkflow('undeploy');
export const unrescue = runWorkflow('unrescue');
/** Checks the credentials and reads the power state. */
export const verify = runWorkflow('verify');
