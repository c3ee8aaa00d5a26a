/** The address and trust of a node's BMC, to which stored credentials are bound. */

import type { Document } from '../document';
import { isTemperError } from '../errors';
import { type DriverName, driverRow, isDriver, ownKey, speaksOf } from '../lifecycle/drivers';
import { parseBmcAddress } from './bmc-addresses';
import { provesItself, wayOf } from './ipmi-info';
import { trustOf } from './redfish-info';

/** Stored beside a sealed secret and compared with the node's present one. */
export type BmcSide = {
  readonly driver: string;
  /** Origin and root path; null without a valid address. */
  readonly destination: string | null;
  /** A boolean, or the path of a CA file. */
  readonly verify_ca?: boolean | string;
  /** IPMI: the BMC proves possession of the password. `way` has the hops behind it. */
  readonly proves?: boolean;
  readonly way?: string;
};

const destinationOf = (driver: DriverName, driver_info: Document): string | null => {
  try {
    const address = parseBmcAddress(driver_info, { driver });
    return address ? `${address.origin}${address.prefix}` : null;
  } catch (thrown) {
    if (isTemperError(thrown, 'DriverInfoInvalid')) return null;
    throw thrown;
  }
};

/** Equal for different spellings of one address and trust. */
export const bmcSideOf = ({ driver, driver_info }: { driver: string; driver_info: Document }): BmcSide => {
  const key = isDriver(driver) ? driverRow(driver).addressKey : null;
  if (!isDriver(driver) || key === null) return { driver, destination: null };
  const destination = destinationOf(driver, driver_info);
  if (speaksOf(driver) === 'ipmi')
    return { driver, destination, proves: provesItself(driver_info), way: wayOf(driver_info) };
  const trust = trustOf(driver_info[ownKey(driver, 'redfish_verify_ca')]);
  return { driver, destination, verify_ca: typeof trust === 'boolean' ? trust : trust.path };
};

/** `kept` is true if a change does not weaken the trust. */
const trustRows: readonly { readonly field: string; readonly kept: (before: BmcSide, after: BmcSide) => boolean }[] = [
  {
    field: 'redfish_verify_ca',
    // If nothing was verified before, every change is an improvement. Otherwise other authorities may certify another BMC.
    kept: (before, after) => before.verify_ca === false || before.verify_ca === after.verify_ca,
  },
  { field: 'ipmi_protocol_version', kept: (before, after) => after.proves === true || before.proves !== true },
  // The password goes only to the address, but commands reach the machine that the hops name.
  { field: 'ipmi_bridging', kept: (before, after) => before.way === after.way },
];

/** The field whose change sends credentials elsewhere or weakens trust. An invalid address counts as a different one. */
export const movedField = (before: BmcSide, after: BmcSide): string | undefined => {
  if (before.driver !== after.driver) return 'driver';
  if (before.destination !== after.destination)
    return (isDriver(after.driver) && driverRow(after.driver).addressKey) || 'driver_info';
  const field = trustRows.find(({ kept }) => !kept(before, after))?.field;
  return field && isDriver(after.driver) ? ownKey(after.driver, field) : field;
};
