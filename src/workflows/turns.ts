/** A run's turn, where only so many of a kind may work at once: it looks until it has one. */
import { condition, setCurrentDetails } from '@temporalio/workflow';
import type { RunInput } from '../model/runs/runs';
import type { Here } from './here';
import { Aborted } from './interpreter';
import type { Recorder } from './recorder';
import { details } from './telling';

// A look is one statement while all turns are taken, so thousands may wait.
const firstLookMs = 1_000;
const longestLookMs = 60_000;

/**
 * Resolves when the run has its turn; throws Aborted when an abort comes first.
 * @param betweenLooks cuts a history that grows long
 */
export const takeTurn = async (
  run: RunInput,
  here: Here,
  store: Recorder,
  betweenLooks: () => Promise<void> = async () => {},
): Promise<void> => {
  here.state = 'waiting';
  here.waitingFor = `its turn: at most ${run.limit!.max} runs of this kind (${run.limit!.class}) at once`;
  setCurrentDetails(details(run, here));
  await store.show();
  for (let pause = firstLookMs; ; pause = Math.min(pause * 2, longestLookMs)) {
    if (await condition(() => here.aborted, pause)) throw new Aborted();
    if (await store.turn()) break;
    await betweenLooks();
  }
  here.state = 'running';
  here.waitingFor = null;
  await store.show();
};
