/** Every workflow type a control worker knows. */
export { adopt } from './adopt';
export { clean } from './clean';
export { power } from './power';
export { reconcile } from './reconcile';
export { service } from './service';
export { verify } from './verify';
