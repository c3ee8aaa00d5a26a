/** Reads values of a redfish node's driver_info, for the API and the BMC worker. */

/**
 * It must be a path at the BMC. A URL, `//host` and a backslash would name another host; a system's path has no query, fragment or
 * blank.
 */
export const systemIdFault = (value: unknown): string | undefined =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'string' && /^\/(?!\/)[^\s\\?#]*$/.test(value))
    ? undefined
    : 'must be a path at the BMC, such as /redfish/v1/Systems/1';

export const systemUuidFault = (value: unknown): string | undefined =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'string' && /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(value))
    ? undefined
    : 'must be a UUID, such as the BMC shows for its system';

/** The system's authorities, none (false), or those in a file of the BMC worker. */
export type Trust = boolean | { readonly path: string };

/** Booleans in all spellings of clients; any other text is a path. */
export const trustOf = (value: unknown): Trust => {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' || value === '' || /^(true|t|1|on|yes|y)$/i.test(value)) return true;
  return /^(false|f|0|off|no|n)$/i.test(value) ? false : { path: value };
};
