/** Turns: runs of a limited class poll until they may work. */
import { condition, setCurrentDetails } from '@temporalio/workflow';
import type { RunInput } from '../model/runs/runs';
import { Aborted } from './effects-contract';
import type { Journal } from './journal';
import type { ExecutionState } from './state';
import { details } from './ui';

// One statement while all turns are taken, so thousands may poll.
const firstLookMs = 1_000;
const longestLookMs = 60_000;

/**
 * Throws Aborted if an abort comes first.
 * @param betweenLooks may cut a long history
 */
export const waitForTurn = async (
  run: RunInput,
  state: ExecutionState,
  journal: Journal,
  betweenLooks: () => Promise<void> = async () => {},
): Promise<void> => {
  state.state = 'waiting';
  state.waitingFor = `its turn: at most ${run.limit!.max} runs of this kind (${run.limit!.class}) at once`;
  setCurrentDetails(details(run, state));
  await journal.show();
  for (let pause = firstLookMs; ; pause = Math.min(pause * 2, longestLookMs)) {
    if (await condition(() => state.aborted, pause)) throw new Aborted();
    if (await journal.turn()) break;
    await betweenLooks();
  }
  state.state = 'running';
  state.waitingFor = null;
  await journal.show();
};
