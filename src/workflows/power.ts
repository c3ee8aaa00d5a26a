/** Power: one request for a power state; the provision state stays as it is. */
import { story } from './frame';
import { runSteps } from './interpreter';

export const power = story('power', async (run, hands) => {
  await runSteps(run.steps, hands);
});
