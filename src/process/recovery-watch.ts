/** Caches the recovery state after a restore, so that requests need no query. */
import type { Inventory } from '../inventory';
import type { Recovery } from '../inventory/runs/recovery';
import type { Life } from './process';

const readEveryMs = 1_000;

/** During an outage the last value stays. Requests accepted before the first result wait, because no BMC worker acts on them. */
export const watchRecovery = (inventory: Inventory, life: Pick<Life, 'onEnd'>): (() => Recovery | undefined) => {
  let standing: Recovery | undefined;
  const look = async (): Promise<void> => {
    standing = await inventory.recovery.current();
  };
  const timer = setInterval(() => void look().catch(() => {}), readEveryMs);
  life.onEnd(() => clearInterval(timer));
  void look().catch(() => {});
  return () => standing;
};
