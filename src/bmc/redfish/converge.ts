/** The loop behind acts that set a state, under the name that redfish's acts know. */
export { converge, type Goal, type Reached } from '../converge';
