/** All workflow types of a control worker. All but three run the plan of one node. Temporal histories contain the names. */
import { runWorkflow } from './node-run';

export { bmcCall } from './bmc-call';
export { reconcile } from './reconcile';
export { rollout } from './rollout';

/** Takes a node in use as it is, after one read and without a change. */
export const adopt = runWorkflow('adopt');
/** One act that changes a node without its provision state: boot device, virtual media, indicator. */
export const call = runWorkflow('call');
/** Steps of a caller, of a runbook or of the automatic list, on a node that is not in use. */
export const clean = runWorkflow('clean');
/** Writes an image and starts the node from it; also for rebuild. */
export const deploy = runWorkflow('deploy');
/** Reads the inventory of the node through its BMC or a ramdisk. */
export const inspect = runWorkflow('inspect');
export const power = runWorkflow('power');
/** Starts the node from the rescue ramdisk, with a password for its user. */
export const rescue = runWorkflow('rescue');
/** Approved or given steps on a node in use, which returns to use afterwards. */
export const service = runWorkflow('service');
/** Removes the instance from the node, cleans it and makes it available. */
export const undeploy = runWorkflow('undeploy');
/** Starts the node from its own disk again. */
export const unrescue = runWorkflow('unrescue');
/** Checks that the BMC responds and accepts the credentials, and reads the power state. */
export const verify = runWorkflow('verify');
