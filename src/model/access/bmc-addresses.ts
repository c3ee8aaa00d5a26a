/** BMC addresses: parsing them from driver_info, and checking them against an operator's networks. */

import ipaddr from 'ipaddr.js';
import { raise } from '../errors';
import { type DriverName, driverRow, ownKey } from '../lifecycle/drivers';
import { withoutLastSlashes } from '../texts';
import { isGiven, numberOf } from './ipmi-info';

/** `host` is without brackets; `prefix` is '' or begins with a slash and does not end with one. */
export type BmcAddress = {
  readonly origin: string;
  readonly scheme: 'http' | 'https' | 'ipmi';
  readonly host: string;
  readonly port: number;
  /** Path in front of `/redfish/v1/`. */
  readonly prefix: string;
  /** Name of this BMC in errors and lanes: `host[:port][/prefix]`, never with credentials. */
  readonly label: string;
};

/** Characters; a host name has at most 253. */
const longestAddress = 2_048;

const defaultPorts = { http: 80, https: 443 } as const;

/** The URL may include the service root itself. */
const prefixOf = (path: string): string => withoutLastSlashes(path).replace(/(^|\/)redfish(\/v1)?$/i, '');

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?$/i;

/** A bare host and a separate UDP port. A leading dash is refused, since it looks like an option. */
const parseIpmiAddress = (
  { ipmi_address, ipmi_port }: Readonly<Record<string, unknown>>,
  refuse: (reason: string, field?: string) => never,
): BmcAddress => {
  const host =
    typeof ipmi_address === 'string'
      ? ipmi_address
          .trim()
          .replace(/^\[(.*)\]$/, '$1')
          .toLowerCase()
      : '';
  if (host === '') return refuse('is missing');
  const literal = isIpAddress(host);
  if (!literal && !hostName.test(host))
    return refuse('is not a host name or an IP address, such as bmc-17.example.org');
  const port = isGiven(ipmi_port) ? numberOf(ipmi_port) : 623;
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return refuse('is not a port number', 'ipmi_port');
  const label = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { origin: `ipmi://${label}`, scheme: 'ipmi', host, port, prefix: '', label };
};

/**
 * A URL without credentials, query or fragment, https by default; for ipmi a bare host and `ipmi_port`. Undefined for a driver without
 * BMC. Throws DriverInfoInvalid.
 */
export const parseBmcAddress = (
  driver_info: Readonly<Record<string, unknown>>,
  { driver = 'redfish', node = 'of this request' }: { driver?: DriverName; node?: string } = {},
): BmcAddress | undefined => {
  const field = driverRow(driver).addressKey;
  if (field === null) return undefined;
  const refuse = (reason: string, at: string = field): never => raise('DriverInfoInvalid', { node, field: at, reason });
  const given = driver_info[field];
  if (typeof given === 'string' && given.length > longestAddress)
    return refuse(`has more than ${longestAddress} characters`);
  if (field === 'ipmi_address') return parseIpmiAddress(driver_info, refuse);
  if (typeof given !== 'string' || given.trim() === '') return refuse('is missing');
  const url = field === 'ilo_address' ? iloUrl(given.trim(), driver_info.client_port) : parseUrl(given.trim());
  if (!url) return refuse('is not a URL of a host, such as https://bmc-17.example.org');
  if (url.username !== '' || url.password !== '')
    return refuse(
      `must not hold credentials; use ${ownKey(driver, 'redfish_username')} and ${ownKey(driver, 'redfish_password')}`,
    );
  if (url.search !== '' || url.hash !== '') return refuse('must not have a query or a fragment');
  const scheme = url.protocol === 'http:' ? 'http' : 'https';
  const prefix = prefixOf(url.pathname);
  return {
    origin: url.origin,
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? defaultPorts[scheme] : Number(url.port),
    prefix,
    label: `${url.host}${prefix}`,
  };
};

/** The host may be an IPv6 address without brackets. */
const iloUrl = (host: string, port: unknown): URL | undefined => {
  const bare = isIpAddress(host) && host.includes(':') ? `[${host}]` : host;
  const given = isGiven(port);
  if (
    given &&
    (typeof port === 'object' || !/^\d{1,5}$/.test(String(port)) || Number(port) < 1 || Number(port) > 65_535)
  )
    return undefined;
  return /[/?#@\\]/.test(host) ? undefined : parseUrl(`https://${bare}${given ? `:${port}` : ''}`);
};

const parseUrl = (text: string): URL | undefined => {
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
    return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '' ? url : undefined;
  } catch {
    return undefined;
  }
};

type Ip = ipaddr.IPv4 | ipaddr.IPv6;

/** Characters: six groups and four decimal numbers. */
const longestIp = 45;

/**
 * Accepts the one spelling that all programs read alike: IPv4 in decimal without leading zeros, IPv6 without brackets or zone. Other
 * forms (octal, hexadecimal, short) differ between programs.
 */
const parseRaw = (text: string): Ip | undefined => {
  if (text.length > longestIp) return undefined; // the patterns below take quadratic time
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const hexadecimal = text.replace(/[^:]*\.[^:]*$/, groupsOf);
  return /[%.]/.test(hexadecimal) || !ipaddr.IPv6.isValid(hexadecimal) ? undefined : ipaddr.IPv6.parse(hexadecimal);
};

/** Converts a dotted tail to two groups, because the library accepts it only behind `::` and `::ffff:`. */
const groupsOf = (dotted: string): string => {
  if (!ipaddr.IPv4.isValidFourPartDecimal(dotted)) return dotted;
  const [a, b, c, d] = ipaddr.IPv4.parse(dotted).octets as [number, number, number, number];
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

const unmapped = (ip: Ip): Ip => (isMapped(ip) ? ip.toIPv4Address() : ip);
const isMapped = (ip: Ip): ip is ipaddr.IPv6 => ip instanceof ipaddr.IPv6 && ip.isIPv4MappedAddress();

/** Mapped IPv4 becomes IPv4, and the zone is removed. */
export const peerAddress = (address: string | undefined): string => {
  const text = (address ?? '').replace(/%.*$/, '');
  const ip = parseRaw(text);
  return ip && isMapped(ip) ? unmapped(ip).toString() : text;
};

/** Without brackets and zone. */
export const isIpAddress = (text: string): boolean => parseRaw(text) !== undefined;

type Cidr = { readonly ip: Ip; readonly length: number };

/** A bare address is a network of one. */
const parseCidr = (text: string): Cidr | undefined => {
  const parts = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim());
  const ip = parts ? parseRaw(parts[1]!) : undefined;
  if (!ip) return undefined;
  const bits = ip.kind() === 'ipv4' ? 32 : 128;
  const length = parts![2] === undefined ? bits : Number(parts![2]);
  if (length > bits) return undefined;
  return isMapped(ip) && length >= 96 ? { ip: unmapped(ip), length: length - 96 } : { ip, length };
};

export const isCidr = (text: string): boolean => parseCidr(text) !== undefined;

/** False if either is invalid. */
export const cidrContains = (cidr: string, address: string): boolean => {
  const network = parseCidr(cidr);
  const raw = parseRaw(address);
  if (!network || !raw) return false;
  const ip = unmapped(raw);
  return ip.kind() === network.ip.kind() && ip.match(network.ip, network.length);
};

/** Throws BmcAddressRefused unless the networks contain each address. An empty list allows all. */
export const requireAllowed = (networks: readonly string[], host: string, addresses: readonly string[]): void => {
  if (networks.length === 0) return;
  const allowed = (address: string) => networks.some((cidr) => cidrContains(cidr, address));
  if (addresses.length === 0 || !addresses.every(allowed)) raise('BmcAddressRefused', { address: host });
};
