/** Tells what becomes of the hosts behind the BMCs: booted from where, or without power. */
import { advance } from './advance';
import type { Bmc } from './types';

/** `image` is the URL of the disc it booted from; `target` the boot source, as Redfish names it. */
export type HostEvent =
  | { readonly is: 'booted'; readonly target: string; readonly image: string | null; readonly mode: string }
  | { readonly is: 'off' };

export type Hosts = {
  /** To be called after every write: brings the BMC up to date and tells what happened, now or when it does. */
  look(bmc: Bmc): void;
  close(): void;
};

// A look at the very millisecond may come a little early.
const slackMs = 2;

/** Time passes for a BMC only when somebody looks, so that a pending change of power sets a timer. */
export const watchHosts = (tell: (bmc: Bmc, event: HostEvent) => void): Hosts => {
  const seen = new Map<number, { boots: number; on: boolean }>();
  const timers = new Map<number, NodeJS.Timeout>();

  const look = (bmc: Bmc): void => {
    advance(bmc, Date.now());
    const { boot, power } = bmc.state;
    const before = seen.get(bmc.index) ?? { boots: boot.boots, on: power.shows === 'On' };
    const now = { boots: boot.boots, on: power.shows === 'On' };
    seen.set(bmc.index, now);
    if (now.boots > before.boots && now.on && boot.last) {
      const { target, image, mode } = boot.last;
      tell(bmc, { is: 'booted', target, image, mode });
    } else if (before.on && !now.on) tell(bmc, { is: 'off' });
    lookAgain(bmc);
  };

  const lookAgain = (bmc: Bmc): void => {
    clearTimeout(timers.get(bmc.index));
    const next = bmc.state.power.coming[0];
    if (next) timers.set(bmc.index, setTimeout(look, Math.max(0, next.at - Date.now()) + slackMs, bmc));
    else timers.delete(bmc.index);
  };

  return {
    look,
    close: () => {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
};
