/** Supported minor versions, and the headers that request one. */

import { raise } from '../errors';

const minMinor = 1;
export const maxMinor = 115;
export const minVersion = `1.${minMinor}`;
export const maxVersion = `1.${maxMinor}`;

export type MicroversionWanted =
  | { readonly is: 'ok'; readonly minor: number }
  | { readonly is: 'bad'; readonly asked: string };

// openstack/microversion-parse:microversion_parse/__init__.py: the last entry for the service wins.
const fromServiceHeader = (header: string): string | undefined => {
  let found: string | undefined;
  for (const entry of header.split(',')) {
    const [service, version] = entry.trim().split(/\s+/, 2);
    if (service?.toLowerCase() === 'baremetal') found = version ?? '';
  }
  return found;
};

const fromLegacyHeader = (header: string): string => header.slice(header.lastIndexOf(',') + 1).trim();

/**
 * `service` is OpenStack-API-Version and takes precedence, `legacy` is X-OpenStack-Ironic-API-Version. Neither: 1.1. `latest`, in any
 * case: the maximum.
 */
export const wantedMinor = (service: string | undefined, legacy: string | undefined): MicroversionWanted => {
  const asked = (service && fromServiceHeader(service)) ?? (legacy ? fromLegacyHeader(legacy) : undefined);
  if (asked === undefined) return { is: 'ok', minor: minMinor };
  if (asked.toLowerCase() === 'latest') return { is: 'ok', minor: maxMinor };
  const minor = /^1\.(\d{1,4})$/.exec(asked)?.[1];
  if (minor === undefined || Number(minor) < minMinor || Number(minor) > maxMinor) return { is: 'bad', asked };
  return { is: 'ok', minor: Number(minor) };
};

/** Throws 406 if `minor` is below `since`. */
export const requireMinor = (minor: number, since: number, what: string): void => {
  if (minor < since)
    raise('NotAcceptable', {
      reason: `Request not acceptable: ${what} needs API version 1.${since}, and this request asks for 1.${minor}.`,
    });
};
