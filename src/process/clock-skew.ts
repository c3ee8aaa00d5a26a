/** How far this process's clock is from Postgres': measured now and again, as a metric, and as a warning where it is far. */
import type { Inventory } from '../inventory';
import type { Logger } from '../observe/log';
import type { Metrics } from '../observe/metrics';
import type { Life } from './process';

const compareEveryMs = 60_000;

/**
 * Beyond this a clock is taken to be wrong, in milliseconds. Nothing that is decided compares two clocks; what people read does:
 * times in logs, tokens that expire, certificates.
 */
export const farMs = 5_000;

/** Milliseconds by which this process is ahead of Postgres; half of the time that the answer took is the uncertainty. */
export const skewOf = async (clock: () => Promise<number>): Promise<number> => {
  const [before, began] = [Date.now(), performance.now()];
  const theirs = await clock();
  return before + (performance.now() - began) / 2 - theirs;
};

/** Measures until the process ends; returns at once. A store that does not answer leaves the last value. */
export const watchSkew = (
  { inventory, log, metrics }: { inventory: Inventory; log: Logger; metrics: Metrics },
  life: Life,
): void => {
  let far = false;
  const look = async (): Promise<void> => {
    const ms = await skewOf(inventory.clock);
    metrics.clockSkew.set(ms / 1_000);
    const now = Math.abs(ms) >= farMs;
    if (now && !far)
      log.warn('the clock of this process is not that of the database', { seconds: Math.round(ms / 1_000) });
    far = now;
  };
  const timer = setInterval(() => void look().catch(() => {}), compareEveryMs);
  life.onEnd(() => clearInterval(timer));
  void look().catch(() => {});
};
