/** Leases of a BMC's lane across workers. */
import type { Queries } from '../inventory';
import { shownMessage } from '../model/access/secrets';
import { type ErrorCode, isTemperError, raise } from '../model/errors';
import type { BmcDeps } from './bmc-deps';

type Leases = Queries['bmcLeases'];

const longestReason = 500;

/** Errors that prove that the BMC responds. */
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

/** For the breaker. A cancelled act, a lost fence or a wrong address proves nothing. */
const newsOf = (thrown: unknown): 'silent' | 'answered' | undefined => {
  if (!isTemperError(thrown)) return undefined;
  if (thrown.code === 'BmcUnreachable') return 'silent';
  return answers.has(thrown.code) ? 'answered' : undefined;
};

/** Throws BmcLeaseHeld, or BmcResting with the time until the next attempt. */
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
 * Throws BmcLeaseHeld while another worker has the lane, BmcResting while the breaker is open; retryable, nothing was sent.
 * The result closes the breaker or counts a failure. A failed renewal is not fatal, because the fence guards every write.
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
  // Best effort: a failed count must not change the result.
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
    await leases.release(lane, holder).catch(() => {}); // it expires anyway
  }
};

const defaultLeaseMs = 15_000;

type Shared = Pick<BmcDeps, 'lanes' | 'leaseMs'> & { readonly inventory: Pick<Queries, 'bmcLeases'> };

type Turn = {
  /** Null if any number of acts may use the BMC at once. */
  readonly lane: string | null;
  readonly holder: string;
  readonly signal: AbortSignal;
  /** Maximum rest of a silent BMC after this work. */
  readonly longestRestMs?: number;
};

/** In turn within this process, under the lease across workers. Throws as `withLease`, and the signal's reason. */
export const inLane = <T>(
  { inventory, lanes, leaseMs = defaultLeaseMs }: Shared,
  { lane, holder, signal, longestRestMs }: Turn,
  work: () => Promise<T>,
): Promise<T> =>
  lanes.run(lane, signal, () =>
    lane === null ? work() : withLease(inventory.bmcLeases, lane, holder, leaseMs, work, longestRestMs),
  );
