/** Verifying: the BMC answers, accepts the credentials and says in which state the node is. */
import { story } from './frame';

export const verify = story('verify');
