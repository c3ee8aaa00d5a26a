/** Every workflow type a control worker knows. */
export { adopt } from './adopt';
export { bmcCall } from './bmc-call';
export { call } from './call';
export { clean } from './clean';
export { deploy } from './deploy';
export { inspect } from './inspect';
export { power } from './power';
export { reconcile } from './reconcile';
export { rescue } from './rescue';
export { service } from './service';
export { undeploy } from './undeploy';
export { unrescue } from './unrescue';
export { verify } from './verify';
