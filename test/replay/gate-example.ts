/** A change behind a gate, as docs/changing-workflows.md asks for it: a workflow as it was, as it was changed, and without its gate. */
import { patched, sleep } from '@temporalio/workflow';

/** As it was. Its recorded history is that of a run under way while workers of the next build take over. */
export const before = async (): Promise<string> => {
  await sleep('1 ms');
  return 'slept once';
};

/** The change: a second timer, for runs that begin on this code. */
export const gated = async (): Promise<string> => {
  await sleep('1 ms');
  if (!patched('2026-11-an-example')) return 'slept once';
  await sleep('1 ms');
  return 'slept twice';
};

/** The same change without a gate. */
export const ungated = async (): Promise<string> => {
  await sleep('1 ms');
  await sleep('1 ms');
  return 'slept twice';
};
