/** The part of a node that says where its BMC is and how far it is trusted: what stored credentials are bound to. */

import type { Document } from '../document';
import { isTemperError } from '../errors';
import { type DriverName, driverRow, isDriver, ownKey, speaksOf } from '../lifecycle/drivers';
import { parseBmcAddress } from './bmc-addresses';
import { provesItself, wayOf } from './ipmi-info';
import { trustOf } from './redfish-info';

/** What decides where credentials go, as a value that is stored beside a sealed secret and compared with the node's present one. */
export type BmcSide = {
  readonly driver: string;
  /** Origin and root path; null where the driver has no address, or the address cannot be read. */
  readonly destination: string | null;
  /** redfish_verify_ca: a boolean, or the path of a CA file. */
  readonly verify_ca?: boolean | string;
  /** IPMI: whether the BMC proves that it knows the password, and the hops behind it. */
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

/** Reads the side of a node; spellings of the same address and trust give equal values. */
export const bmcSideOf = ({ driver, driver_info }: { driver: string; driver_info: Document }): BmcSide => {
  const key = isDriver(driver) ? driverRow(driver).addressKey : null;
  if (!isDriver(driver) || key === null) return { driver, destination: null };
  const destination = destinationOf(driver, driver_info);
  if (speaksOf(driver) === 'ipmi')
    return { driver, destination, proves: provesItself(driver_info), way: wayOf(driver_info) };
  const trust = trustOf(driver_info[ownKey(driver, 'redfish_verify_ca')]);
  return { driver, destination, verify_ca: typeof trust === 'boolean' ? trust : trust.path };
};

/** Beside the address: what decides who gets the credentials, and which changes of it are no loss. */
const trustRows: readonly { readonly field: string; readonly kept: (before: BmcSide, after: BmcSide) => boolean }[] = [
  {
    field: 'redfish_verify_ca',
    // Only from no trust at all is every change a gain: other authorities may vouch for another BMC.
    kept: (before, after) => before.verify_ca === false || before.verify_ca === after.verify_ca,
  },
  { field: 'ipmi_protocol_version', kept: (before, after) => after.proves === true || before.proves !== true },
  // The session's password stays at the address; behind it, commands reach whatever machine the hops name.
  { field: 'ipmi_bridging', kept: (before, after) => before.way === after.way },
];

/**
 * What of a change sends credentials elsewhere, or to less trust, as the name of a field; undefined where nothing does.
 * An address that is gone or unreadable counts as another one.
 */
export const movedField = (before: BmcSide, after: BmcSide): string | undefined => {
  if (before.driver !== after.driver) return 'driver';
  if (before.destination !== after.destination)
    return (isDriver(after.driver) && driverRow(after.driver).addressKey) || 'driver_info';
  const field = trustRows.find(({ kept }) => !kept(before, after))?.field;
  return field && isDriver(after.driver) ? ownKey(after.driver, field) : field;
};
