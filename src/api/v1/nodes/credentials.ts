/** Protection of stored BMC credentials: without the password, no caller redirects them or lowers their TLS trust. */

import { bmcSideOf, movedField } from '../../../model/access/bmc-sides';
import { trustOf } from '../../../model/access/redfish-info';
import { secretRefs } from '../../../model/access/secrets';
import type { Document } from '../../../model/document';
import { raise } from '../../../model/errors';
import { type DriverName, ownKey } from '../../../model/lifecycle/drivers';

/** The rule to redirect stored credentials and to name files on workers. */
export const moveCredentials = 'temper:node:move_credentials';

/** The part of a node with BMC address and trust. */
type BmcSide = { readonly driver: DriverName; readonly driver_info: Document };

const trustOfSide = ({ driver, driver_info }: BmcSide) => trustOf(driver_info[ownKey(driver, 'redfish_verify_ca')]);
const trusted = (side: BmcSide): string => JSON.stringify(trustOfSide(side));

/** The changes that redirect credentials. A node without an address sends them to nothing. */
const moveOf = (before: BmcSide, after: BmcSide): string | undefined => {
  const [from, to] = [bmcSideOf(before), bmcSideOf(after)];
  return from.driver === to.driver && to.destination === null ? undefined : movedField(from, to);
};

/**
 * Refuses a change that redirects secrets which the caller did not send again: references and returned masks.
 * Throws InvalidInput with the values to send.
 * @param may true if the rule `moveCredentials` admits the caller
 * @returns true if that rule admitted the change
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

/** Refuses a new CA path, because it names a file on the operator's workers. Throws InvalidInput. */
export const checkCaPath = (may: () => boolean, before: BmcSide | undefined, after: BmcSide): void => {
  const isNew = before?.driver !== after.driver || trusted(before) !== trusted(after);
  if (!isNew || typeof trustOfSide(after) === 'boolean' || may()) return;
  raise('InvalidInput', {
    field: `driver_info.${ownKey(after.driver, 'redfish_verify_ca')}`,
    reason: 'must be true or false; a path is a file on the workers, which only an operator may name',
  });
};
