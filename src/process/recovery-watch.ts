/** Keeps in this process's memory whether a restore holds everything back, so that no request asks the store for it. */
import type { Inventory } from '../inventory';
import type { Recovery } from '../inventory/runs/recovery';
import type { Life } from './process';

const readEveryMs = 1_000;

/** Looks until the process ends. A store that does not answer leaves the last value; what is
 * accepted before the first answer waits, for no BMC worker acts on it. @returns what stood at the last look */
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
