/** Clock skew to PostgreSQL: a metric, and a warning if it is large. */
import type { Inventory } from '../inventory';
import type { Logger } from '../observe/log';
import type { Metrics } from '../observe/metrics';
import type { Life } from './process';

const compareEveryMs = 60_000;

/** A larger skew is a fault. No decision compares two clocks, but log times, token expiry and certificates depend on them. */
export const farMs = 5_000;

/** Milliseconds ahead of PostgreSQL, accurate to half the round trip. */
export const skewOf = async (clock: () => Promise<number>): Promise<number> => {
  const [before, began] = [Date.now(), performance.now()];
  const theirs = await clock();
  return before + (performance.now() - began) / 2 - theirs;
};

/** Returns at once. During an outage the last value stays. */
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
