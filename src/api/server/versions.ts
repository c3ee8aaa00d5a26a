/** API version headers, and refusals of unsupported versions. */
import type { IncomingHttpHeaders } from 'node:http';
import { raise } from '../../model/errors';
import { maxMinor, maxVersion, minVersion, wantedMinor } from '../../model/resources/microversions';

const firstOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

const legacyHeader = 'x-openstack-ironic-api-version';

/** On every answer of the API. */
export const rangeHeaders = {
  'X-OpenStack-Ironic-API-Minimum-Version': minVersion,
  'X-OpenStack-Ironic-API-Maximum-Version': maxVersion,
} as const;

// Built once: every answer carries them.
const headersByMinor: readonly Readonly<Record<string, string>>[] = Array.from(
  { length: maxMinor + 1 },
  (_, minor) => ({
    ...rangeHeaders,
    'X-OpenStack-Ironic-API-Version': `1.${minor}`,
  }),
);

export const versionHeaders = (minor: number): Readonly<Record<string, string>> => headersByMinor[minor]!;

/** Throws UnsupportedVersion. */
export const negotiate = (headers: IncomingHttpHeaders): number => {
  const wanted = wantedMinor(firstOf(headers['openstack-api-version']), firstOf(headers[legacyHeader]));
  if (wanted.is === 'ok') return wanted.minor;
  return raise('UnsupportedVersion', { version: wanted.asked.slice(0, 40), min: minVersion, max: maxVersion });
};

/** For answers without a route: the requested version if valid, else the range. */
export const spokenHeaders = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> => {
  const wanted = wantedMinor(firstOf(headers['openstack-api-version']), firstOf(headers[legacyHeader]));
  return wanted.is === 'ok' ? versionHeaders(wanted.minor) : rangeHeaders;
};

/** The older version header requests less than 1.91, which drops a `.json` suffix. */
export const dropsJsonSuffix = (headers: IncomingHttpHeaders): boolean => {
  const wanted = wantedMinor(undefined, firstOf(headers[legacyHeader]));
  return wanted.is === 'ok' && wanted.minor < 91;
};
