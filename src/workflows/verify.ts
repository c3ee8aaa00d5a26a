/** Verifying: the BMC answers, accepts the credentials and says in which state the node is. */
import { story } from './frame';
import { runSteps } from './interpreter';

export const verify = story('verify', async (run, hands) => {
  await runSteps(run.steps, hands);
});
