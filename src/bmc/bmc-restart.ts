/** Wait for a BMC to restart. */
import { raise } from '../model/errors';
import type { Announced } from './announce';
import type { Converging } from './converge';
import { backOff, pause } from './wait';

export const resetWhat = 'reset the BMC';
const goodReads = 3;

export type RestartLook = {
  /** The BMC answered like one that is up. */
  readonly good: boolean;
  /** Proof that the restart began. */
  readonly begun: boolean;
  /** If true, the pause before the next look need not grow. */
  readonly answers: boolean;
};

/** Returns after three good looks in a row and proof of the restart. Throws StepOutcomeUnknown, BmcTimeout. */
export const untilBack = async (
  client: Converging,
  announced: Announced,
  lookOnce: () => Promise<RestartLook>,
): Promise<void> => {
  const what = resetWhat;
  const { timing, signal, beat } = client.context;
  const deadline = performance.now() + Math.max(timing.softPowerTimeoutMs, timing.powerTimeoutMs);
  const nextPause = backOff(timing.pollMs);
  let begun = false;
  let good = 0;
  for (;;) {
    const look = await lookOnce();
    begun ||= look.begun;
    good = look.good ? good + 1 : 0;
    const settled = performance.now() - announced.sentAt >= timing.settleMs;
    if (good >= goodReads && (begun || (announced.accepted && settled))) return;
    if (good >= goodReads && settled)
      raise(
        'StepOutcomeUnknown',
        client.facts({ step: what, reason: 'the BMC answers and shows no trace of a restart' }),
      );
    const doing = begun ? 'waiting for the BMC to come back' : 'waiting for the BMC to restart';
    beat({ what, doing, good_reads: good });
    if (performance.now() >= deadline) raise('BmcTimeout', client.facts({ what, seen: `${good} good reads in a row` }));
    await pause(look.answers ? timing.pollMs : nextPause(), signal);
  }
};
