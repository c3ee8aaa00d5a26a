/** Every workflow type a control worker knows. All but three run a frozen plan on one node; their names are on the wire. */
import { runWorkflow } from './node-run';

export { bmcCall } from './bmc-call';
export { reconcile } from './reconcile';
export { rollout } from './rollout';

/** A node in use is taken as it stands, after one read and without a change. */
export const adopt = runWorkflow('adopt');
/** One act that changes a node: a boot device, virtual media, a light; the provision state stays. */
export const call = runWorkflow('call');
/** The steps of a caller, of a runbook, or of the automatic list, on a node that is not in use. */
export const clean = runWorkflow('clean');
/** An image comes onto the disk and the node starts from it; rebuilding is the same again. */
export const deploy = runWorkflow('deploy');
/** What is in the node, through its BMC or a ramdisk. */
export const inspect = runWorkflow('inspect');
/** Power on, off, or restart. */
export const power = runWorkflow('power');
/** The node starts from the rescue ramdisk, with a password for its user. */
export const rescue = runWorkflow('rescue');
/** Approved or given steps on a node in use, which returns to it afterwards. */
export const service = runWorkflow('service');
/** The instance is taken off the node, which is cleaned and becomes available. */
export const undeploy = runWorkflow('undeploy');
/** The node starts from its own disk again. */
export const unrescue = runWorkflow('unrescue');
/** The BMC answers, accepts the credentials and says in which state the node is. */
export const verify = runWorkflow('verify');
