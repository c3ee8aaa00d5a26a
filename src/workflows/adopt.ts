/** Adopting: a node in use is taken as it stands, after one look and without a touch. */
import { story } from './frame';
import { runSteps } from './interpreter';

export const adopt = story('adopt', async (run, hands) => {
  await runSteps(run.steps, hands);
});
