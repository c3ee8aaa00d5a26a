/** Waiting for something to become so. */

/** Only what never comes is given up. */
const patienceMs = 240_000;

/** Looks until `found` answers something true. Throws after the patience, naming what was waited for. */
export const until = async <T>(
  what: string,
  found: () => Promise<T | undefined | false>,
  { everyMs = 250, withinMs = patienceMs } = {},
): Promise<T> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await found();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`waited ${withinMs / 1_000} s in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
};
