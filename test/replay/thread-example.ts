/** Workflows for tests of the thread that runs workflows. */
import { condition } from '@temporalio/workflow';

export const waits = (): Promise<void> => condition(() => false);

const loop = (): never => {
  for (;;);
};

export const loopsAtOnce = async (): Promise<void> => loop();

/** In a microtask, after the call that started the workflow. */
export const loopsLater = async (): Promise<void> => {
  await Promise.resolve();
  loop();
};
