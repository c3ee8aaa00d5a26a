/** Holding a BMC's lane across workers: taken before the first call, renewed while it lasts, given back after. */
import type { Queries } from '../inventory';
import { raise } from '../model/errors';

/**
 * Runs `work` while holding the lane. Throws BmcLeaseHeld (retryable) while another worker has it.
 * Renewal failing is not fatal by itself: the fence still guards every write.
 */
export const withLease = async <T>(
  leases: Queries['bmcLeases'],
  lane: string,
  holder: string,
  ms: number,
  work: () => Promise<T>,
): Promise<T> => {
  if (!(await leases.take(lane, holder, ms))) raise('BmcLeaseHeld', { bmc: lane });
  const renewal = setInterval(() => void leases.take(lane, holder, ms).catch(() => {}), ms / 3);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await leases.release(lane, holder).catch(() => {}); // it expires by itself
  }
};
