/** Refusal of BMC addresses, on write, that workers would not connect to. */
import { isIpAddress, parseBmcAddress, requireAllowed } from '../../../model/access/bmc-addresses';
import { raise } from '../../../model/errors';
import { type DriverName, driverRow } from '../../../model/lifecycle/drivers';
import type { ContextSettings } from '../../context';

/**
 * Checks the address in driver_info. Names are resolved only if BMC networks are configured.
 * Throws DriverInfoInvalid (malformed), InvalidInput (does not resolve), BmcAddressRefused (outside the networks).
 */
export const checkBmcAddress = async (
  settings: Pick<ContextSettings, 'bmcNetworks' | 'lookup'>,
  driver: DriverName,
  driver_info: Readonly<Record<string, unknown>>,
  node?: string,
): Promise<void> => {
  const { addressKey } = driverRow(driver);
  if (addressKey === null || driver_info[addressKey] === undefined) return;
  const address = parseBmcAddress(driver_info, { driver, node });
  if (!address || settings.bmcNetworks.length === 0) return;
  const found = isIpAddress(address.host) ? [address.host] : await settings.lookup(address.host).catch(() => []);
  if (found.length === 0)
    raise('InvalidInput', {
      field: `driver_info.${addressKey}`,
      reason: `the host name ${address.host} cannot be resolved, so it cannot be checked against the allowed networks; give an address, or a name that resolves`,
    });
  requireAllowed(settings.bmcNetworks, address.host, found);
};
