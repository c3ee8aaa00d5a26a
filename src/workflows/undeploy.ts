/** Undeploying: the instance is taken off the node, which is cleaned and becomes available. */
import { story } from './frame';

export const undeploy = story('undeploy');
