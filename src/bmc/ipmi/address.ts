/** BMC address: resolved once, checked, and passed on as a literal. */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIpAddress, requireAllowed } from '../../model/access/bmc-addresses';
import type { DriverDeps } from '../contract';

type AddressDeps = Pick<DriverDeps, 'networks' | 'lookup'>;

const addressesOf = async (deps: AddressDeps, host: string): Promise<readonly string[]> => {
  if (isIpAddress(host)) return [host];
  if (deps.lookup) return deps.lookup(host);
  return (await systemLookup(host, { all: true })).map((found) => found.address);
};

/** Undefined if the name does not resolve. Throws BmcAddressRefused. */
export const findAddress = async (deps: AddressDeps, host: string): Promise<string | undefined> => {
  const found = await addressesOf(deps, host).catch(() => []);
  if (found.length === 0) return undefined;
  requireAllowed(deps.networks, host, found);
  return found[0];
};
