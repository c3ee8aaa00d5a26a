/** Holding a BMC's lane across workers: taken before the first call, renewed while it lasts, given back after. */
import type { Queries } from '../inventory';
import { shownMessage } from '../model/access/secrets';
import { type ErrorCode, isTemperError, raise } from '../model/errors';
import type { BmcDeps } from './bmc-deps';

type Leases = Queries['bmcLeases'];

/** Characters kept of why a BMC was silent. */
const longestReason = 500;

/** Errors that show that the BMC is there: it said something. */
const answers: ReadonlySet<ErrorCode> = new Set([
  'BmcAuthFailed',
  'BmcServerError',
  'BmcBusy',
  'BmcRejected',
  'BmcUnsupported',
  'BmcTlsFailed',
  'BmcTimeout',
  'BmcWrongSystem',
] as const);

/**
 * What an act's end says of its BMC: it was silent, it answered, or nothing. A cancelled act, a lost fence or a wrong
 * address is no news of the BMC.
 */
const newsOf = (thrown: unknown): 'silent' | 'answered' | undefined => {
  if (!isTemperError(thrown)) return undefined;
  if (thrown.code === 'BmcUnreachable') return 'silent';
  return answers.has(thrown.code) ? 'answered' : undefined;
};

/** Takes the lane. Throws BmcLeaseHeld, or BmcResting with the time until the next attempt. */
const enter = async (leases: Leases, lane: string, holder: string, ms: number): Promise<{ failures: number }> => {
  const entry = await leases.enter(lane, holder, ms);
  switch (entry.is) {
    case 'taken':
      return entry;
    case 'held':
      return raise('BmcLeaseHeld', { bmc: lane });
    case 'resting':
      return raise('BmcResting', {
        bmc: lane,
        failures: entry.failures,
        reason: entry.last_error,
        seconds: Math.ceil(entry.restMs / 1_000),
        retryAfterMs: entry.restMs,
      });
  }
};

/**
 * Runs `work` while holding the lane. Throws BmcLeaseHeld (retryable) while another worker has it, and BmcResting
 * (retryable) while the BMC's breaker is open; then nothing was sent. The end of the work closes the breaker or counts.
 * Renewal failing is not fatal by itself: the fence still guards every write.
 */
export const withLease = async <T>(
  leases: Leases,
  lane: string,
  holder: string,
  ms: number,
  work: () => Promise<T>,
  longestRestMs?: number,
): Promise<T> => {
  const { failures } = await enter(leases, lane, holder, ms);
  const renewal = setInterval(() => void leases.take(lane, holder, ms).catch(() => {}), ms / 3);
  // Best effort, like the release: what became of the work must not depend on the count.
  const answered = async () => failures > 0 && leases.health.answered(lane).catch(() => {});
  try {
    const done = await work();
    await answered();
    return done;
  } catch (thrown) {
    const news = newsOf(thrown);
    if (news === 'answered') await answered();
    if (news === 'silent')
      await leases.health.failed(lane, shownMessage(thrown, longestReason), longestRestMs).catch(() => {});
    throw thrown;
  } finally {
    clearInterval(renewal);
    await leases.release(lane, holder).catch(() => {}); // it expires by itself
  }
};

const defaultLeaseMs = 15_000;

type Shared = Pick<BmcDeps, 'lanes' | 'leaseMs'> & { readonly inventory: Pick<Queries, 'bmcLeases'> };

type Turn = {
  /** Null where the BMC may be used by any number at once. */
  readonly lane: string | null;
  readonly holder: string;
  readonly signal: AbortSignal;
  /** How long the BMC is left alone at the most where the work gets no answer; as long as after any other when absent. */
  readonly longestRestMs?: number;
};

/**
 * Runs `work` in the lane of its BMC: in turn with what else this process does there, and while no other worker has it. Throws
 * as `withLease` does, and the reason of the signal where that ends the wait.
 */
export const inLane = <T>(
  { inventory, lanes, leaseMs = defaultLeaseMs }: Shared,
  { lane, holder, signal, longestRestMs }: Turn,
  work: () => Promise<T>,
): Promise<T> =>
  lanes.run(lane, signal, () =>
    lane === null ? work() : withLease(inventory.bmcLeases, lane, holder, leaseMs, work, longestRestMs),
  );
