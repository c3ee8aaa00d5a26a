/** Keeps a stored BMC password from being sent elsewhere, or to less trust, by a caller who does not know it. */

import { bmcSideOf, movedField } from '../../../model/access/bmc-sides';
import { trustOf } from '../../../model/access/redfish-info';
import { secretRefs } from '../../../model/access/secrets';
import type { Document } from '../../../model/document';
import { raise } from '../../../model/errors';
import { type DriverName, ownKey } from '../../../model/lifecycle/drivers';

/** The rule of those who may point stored credentials elsewhere, and name files of the workers. */
export const moveCredentials = 'temper:node:move_credentials';

/** The part of a node that says where its BMC is and whom to trust. */
type BmcSide = { readonly driver: DriverName; readonly driver_info: Document };

const trustOfSide = ({ driver, driver_info }: BmcSide) => trustOf(driver_info[ownKey(driver, 'redfish_verify_ca')]);
const trusted = (side: BmcSide): string => JSON.stringify(trustOfSide(side));

/** What of a change points the credentials elsewhere; a node without an address sends them to nothing. */
const moveOf = (before: BmcSide, after: BmcSide): string | undefined => {
  const [from, to] = [bmcSideOf(before), bmcSideOf(after)];
  return from.driver === to.driver && to.destination === null ? undefined : movedField(from, to);
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
