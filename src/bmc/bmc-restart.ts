/** Waiting for a BMC that was ordered to restart: until it is back, or it cannot be known whether it ever restarted. */
import { raise } from '../model/errors';
import type { Announced } from './announce';
import type { Converging } from './converge';
import { backOff, pause } from './wait';

export const resetWhat = 'reset the BMC';
const goodReads = 3;

/** What one look shows of the BMC. */
export type RestartLook = {
  /** It answered as a BMC does that is up. */
  readonly good: boolean;
  /** It proves that the restart began. */
  readonly begun: boolean;
  /** It answered at all: then the next look need not be put off further and further. */
  readonly answers: boolean;
};

/** Waits until three looks in a row are good, after one proved that the restart began. Throws StepOutcomeUnknown, BmcTimeout. */
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
