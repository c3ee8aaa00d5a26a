/** Which of the workers that Temporal lists for a queue ask for work now: it lists each for five minutes after its last request. */

/** As the engine's client reads it, with a number of 64 bits. */
type Poller = { readonly lastAccessTime?: { readonly seconds?: unknown } | null };

// A request for work is answered within a minute, with nothing where there is nothing, and followed by the next.
const stillMs = 90_000;

const lastOf = ({ lastAccessTime }: Poller): number => Number(lastAccessTime?.seconds ?? 0) * 1_000;

/** @returns how many ask, and how long ago the last of all did so; null where Temporal knows of none */
export const askingNow = (
  pollers: readonly Poller[],
  nowMs: number,
): { readonly asking: number; readonly lastMs: number | null } => {
  const ages = pollers.map((one) => nowMs - lastOf(one));
  return {
    asking: ages.filter((age) => age < stillMs).length,
    lastMs: ages.length === 0 ? null : Math.min(...ages),
  };
};
