/** Counts active pollers of a queue. Temporal lists a poller for five minutes after its last poll. */

type Poller = { readonly lastAccessTime?: { readonly seconds?: unknown } | null };

// A long poll returns within a minute, and the next one follows.
const stillMs = 90_000;

const lastOf = ({ lastAccessTime }: Poller): number => Number(lastAccessTime?.seconds ?? 0) * 1_000;

/** @returns active pollers and the age of the last poll; null without pollers */
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
