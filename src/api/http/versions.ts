/** The version headers of a request and an answer, and how a handler refuses what its version does not know yet. */
import type { IncomingHttpHeaders } from 'node:http';
import { raise } from '../../model/errors';
import { maxMinor, maxVersion, minVersion, wantedMinor } from '../../model/resources/microversions';

const firstOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

const legacyHeader = 'x-openstack-ironic-api-version';

/** Headers that every answer of the API carries. */
export const rangeHeaders = {
  'X-OpenStack-Ironic-API-Minimum-Version': minVersion,
  'X-OpenStack-Ironic-API-Maximum-Version': maxVersion,
} as const;

// By minor version; built once, since every answer carries them.
const headersByMinor: readonly Readonly<Record<string, string>>[] = Array.from(
  { length: maxMinor + 1 },
  (_, minor) => ({
    ...rangeHeaders,
    'X-OpenStack-Ironic-API-Version': `1.${minor}`,
  }),
);

/** The range and the version that was used. */
export const versionHeaders = (minor: number): Readonly<Record<string, string>> => headersByMinor[minor]!;

/** The minor version that a request asks for. Throws UnsupportedVersion. */
export const negotiate = (headers: IncomingHttpHeaders): number => {
  const wanted = wantedMinor(firstOf(headers['openstack-api-version']), firstOf(headers[legacyHeader]));
  if (wanted.is === 'ok') return wanted.minor;
  return raise('UnsupportedVersion', { version: wanted.asked.slice(0, 40), min: minVersion, max: maxVersion });
};

/** The headers of an answer to what never reached a route: with the version that was asked for, if that is one. */
export const spokenHeaders = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> => {
  const wanted = wantedMinor(firstOf(headers['openstack-api-version']), firstOf(headers[legacyHeader]));
  return wanted.is === 'ok' ? versionHeaders(wanted.minor) : rangeHeaders;
};

/** Whether the version that the older header alone asks for still drops a `.json` suffix. */
export const dropsJsonSuffix = (headers: IncomingHttpHeaders): boolean => {
  const wanted = wantedMinor(undefined, firstOf(headers[legacyHeader]));
  return wanted.is === 'ok' && wanted.minor < 91;
};

/** Refuses with 406 what a later minor version brought. */
export const requireMinor = (minor: number, since: number, what: string): void => {
  if (minor < since)
    raise('NotAcceptable', {
      reason: `Request not acceptable: ${what} needs API version 1.${since}, and this request asks for 1.${minor}.`,
    });
};
