/** Work that is done in passes until a signal, and the pause between two of them. */
import type { Log } from './log';

/** Resolves after so many milliseconds, or at the signal; at once if that has come. */
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
  /** The log's text for a pass that fails: once for those in a row, and never after the signal. */
  readonly failing: string;
  /** Waits for the next pass. @param passed undefined after a pass that failed */
  readonly wait: (passed: Passed | undefined) => Promise<void>;
};

/** Does one pass after another until the signal. A pass that fails, such as when PostgreSQL or Temporal is away, ends nothing. */
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
