/** Servicing: approved or given steps on a node in use, which returns to it afterwards. */
import { story } from './frame';
import { runSteps } from './interpreter';

export const service = story('service', async (run, hands) => {
  await runSteps(run.steps, hands);
});
