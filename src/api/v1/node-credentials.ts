/** Keeps a stored BMC password from being sent elsewhere, or to less trust, by somebody who does not know it. */
import { parseBmcAddress } from '../../model/bmc-addresses';
import { type DriverName, driverRow, ownKey } from '../../model/drivers';
import { isTemperError, raise } from '../../model/errors';
import { provesItself, wayOf } from '../../model/ipmi-info';
import { trustOf } from '../../model/redfish-info';
import { secretRefs } from '../../model/secrets';
import type { StepDriver } from '../../model/steps';

/** The rule of those who may point stored credentials elsewhere, and name files of the workers. */
export const moveCredentials = 'temper:node:move_credentials';

type Document = Readonly<Record<string, unknown>>;
/** The part of a node that says where its BMC is and whom to trust. */
type BmcSide = { readonly driver: DriverName; readonly driver_info: Document };

/** Where a driver sends its credentials; undefined where it has no address to send them to. */
const destinationOf = ({ driver, driver_info }: BmcSide): string | undefined => {
  try {
    const address = parseBmcAddress(driver_info, { driver });
    return address && `${address.origin}${address.prefix}`;
  } catch (thrown) {
    if (isTemperError(thrown, 'DriverInfoInvalid')) return undefined;
    throw thrown;
  }
};

const trustOfSide = ({ driver, driver_info }: BmcSide) => trustOf(driver_info[ownKey(driver, 'redfish_verify_ca')]);
const trusted = (side: BmcSide): string => JSON.stringify(trustOfSide(side));
const anyCertificate = JSON.stringify(false);

/** Beside the address: what decides who gets the credentials, and which changes of it are no loss. */
const trustRows: Partial<
  Record<StepDriver, readonly { readonly field: string; readonly kept: (before: BmcSide, after: BmcSide) => boolean }[]>
> = {
  redfish: [
    {
      field: 'redfish_verify_ca',
      // Only from no trust at all is every change a gain: other authorities may vouch for somebody else.
      kept: (before, after) => trusted(before) === anyCertificate || trusted(before) === trusted(after),
    },
  ],
  ipmi: [
    {
      field: 'ipmi_protocol_version',
      kept: (before, after) => provesItself(after.driver_info) || !provesItself(before.driver_info),
    },
    {
      // The session's password stays at the address; behind it, commands reach whatever machine the hops name.
      field: 'ipmi_bridging',
      kept: (before, after) => wayOf(before.driver_info) === wayOf(after.driver_info),
    },
  ],
};

/** What of a change points the credentials elsewhere, as the name of a field; undefined where nothing does. */
const moveOf = (before: BmcSide, after: BmcSide): string | undefined => {
  if (before.driver !== after.driver) return 'driver';
  const destination = destinationOf(after);
  if (destination === undefined) return undefined;
  if (destination !== destinationOf(before)) return driverRow(after.driver).addressKey!;
  const field = trustRows[driverRow(after.driver).speaks]?.find(({ kept }) => !kept(before, after))?.field;
  return field && ownKey(after.driver, field);
};

/**
 * Refuses a change that sends secrets elsewhere which the caller did not give anew: what is kept by reference, or behind
 * its mask. Throws InvalidInput naming what to send.
 * @param may whether the rule `moveCredentials` admits the caller
 * @returns whether it was that rule which let the change through
 */
export const checkMove = (may: () => boolean, before: BmcSide, after: BmcSide): boolean => {
  const kept = Object.keys(after.driver_info).filter((key) => secretRefs(after.driver_info[key]).length > 0);
  const moved = kept.length === 0 ? undefined : moveOf(before, after);
  if (moved === undefined) return false;
  if (!may())
    raise('InvalidInput', {
      field: 'driver_info',
      reason: `changing ${moved} needs the password again: send ${kept.join(', ')} in the same request`,
    });
  return true;
};

/** Refuses a CA path that was not there before: it is a file on the workers, which are the operator's. Throws InvalidInput. */
export const checkCaPath = (may: () => boolean, before: BmcSide | undefined, after: BmcSide): void => {
  const isNew = before?.driver !== after.driver || trusted(before) !== trusted(after);
  if (!isNew || typeof trustOfSide(after) === 'boolean' || may()) return;
  raise('InvalidInput', {
    field: `driver_info.${ownKey(after.driver, 'redfish_verify_ca')}`,
    reason: 'must be true or false; a path is a file on the workers, which only an operator may name',
  });
};
