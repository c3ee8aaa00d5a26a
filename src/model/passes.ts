/** Repeated passes until a signal. */
import type { Log } from './log';

/** Ends early at the signal. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });

type Passes<Passed> = {
  readonly signal: AbortSignal;
  readonly log: Pick<Log, 'warn'>;
  /** Logged once per series of failures, and never after the signal. */
  readonly failing: string;
  /** @param passed undefined after a failed pass */
  readonly wait: (passed: Passed | undefined) => Promise<void>;
};

/** A failed pass does not end the loop, for example if PostgreSQL or Temporal is down. */
export const passUntil = async <Passed>(
  { signal, log, failing, wait }: Passes<Passed>,
  pass: () => Promise<Passed>,
): Promise<void> => {
  let quiet = false;
  while (!signal.aborted) {
    let passed: Passed | undefined;
    try {
      passed = await pass();
      quiet = false;
    } catch (thrown) {
      if (!quiet && !signal.aborted) log.warn(failing, { reason: String(thrown) });
      quiet = true;
    }
    await wait(passed);
  }
};
