/** Reads single values of a redfish node's driver_info, for the API's checks and for the BMC worker. */

/**
 * The fault of a `redfish_system_id`, or undefined. It must be a path at the BMC itself. A URL, `//host` and a backslash would name
 * another host; a query, a fragment or a blank cannot be in the path of a system.
 */
export const systemIdFault = (value: unknown): string | undefined =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'string' && /^\/(?!\/)[^\s\\?#]*$/.test(value))
    ? undefined
    : 'must be a path at the BMC, such as /redfish/v1/Systems/1';

/** The fault of a `redfish_system_uuid`, or undefined. */
export const systemUuidFault = (value: unknown): string | undefined =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'string' && /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(value))
    ? undefined
    : 'must be a UUID, such as the BMC shows for its system';

/** The authorities for a BMC's certificate: the system's, none (false), or those in a file of the BMC worker. */
export type Trust = boolean | { readonly path: string };

/** Reads `redfish_verify_ca`: booleans and their spellings by clients; any other text is a path. */
export const trustOf = (value: unknown): Trust => {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' || value === '' || /^(true|t|1|on|yes|y)$/i.test(value)) return true;
  return /^(false|f|0|off|no|n)$/i.test(value) ? false : { path: value };
};
