/** Checked values of a network description: addresses, numbers and names of closed lists. */
import ipaddr from 'ipaddr.js';
import { isIpAddress } from '../access/bmc-addresses';
import { isDocument } from '../document';
import { raise } from '../errors';
import { isMac } from '../ids';

export type Values = Readonly<Record<string, unknown>>;

/** Throws NetworkDataRefused. @param where the place in the document, such as `links[0].mtu` */
export const refuseNetwork = (where: string, says: string): never =>
  raise('NetworkDataRefused', { reason: `${where} ${says}`.trim() });

export const listOf = (value: unknown, where: string, limit: number): readonly Values[] => {
  const list: unknown = value ?? [];
  if (!Array.isArray(list) || !list.every(isDocument)) return refuseNetwork(where, 'must be a list of objects');
  return list.length > limit ? refuseNetwork(where, `has ${list.length} entries, and may have ${limit}`) : list;
};

/** For references within the document; never rendered. */
export const linkIdOf = (value: unknown, where: string): string =>
  typeof value === 'string' && value.length > 0 && value.length <= 255 ? value : refuseNetwork(where, 'must be a name');

export const macOf = (value: unknown, where: string): string =>
  typeof value === 'string' && isMac(value.toLowerCase())
    ? value.toLowerCase()
    : refuseNetwork(where, 'must be a MAC address');

export const wholeOf = (value: unknown, where: string, least: number, limit: number): number => {
  const number = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= least && number <= limit
    ? number
    : refuseNetwork(where, `must be a whole number from ${least} to ${limit}`);
};

export type Family = 4 | 6;
export const isOf = (family: Family, text: string): boolean =>
  /^[0-9a-f:.]{2,45}$/i.test(text) && text.includes(':') === (family === 6) && isIpAddress(text);

export const ipAddressOf = (value: unknown, family: Family, where: string): string =>
  typeof value === 'string' && isOf(family, value) ? value : refuseNetwork(where, `must be an IPv${family} address`);

const prefixOf = (value: unknown, family: Family, where: string): number => {
  const widest = family === 4 ? 32 : 128;
  if (typeof value === 'string' && isOf(family, value)) {
    const length = ipaddr.parse(value).prefixLengthFromSubnetMask();
    return length ?? refuseNetwork(where, 'must be a netmask');
  }
  return wholeOf(value, where, 0, widest);
};

/** The length comes from the netmask if the address has none. */
export const withPrefix = (address: unknown, netmask: unknown, family: Family, where: string): string => {
  const [host, length, ...more] = typeof address === 'string' ? address.split('/') : [address];
  if (more.length > 0) refuseNetwork(where, 'must be an address');
  return `${ipAddressOf(host, family, where)}/${prefixOf(length ?? netmask, family, `${where}, its netmask,`)}`;
};

export const listedValue = <T>(table: Readonly<Record<string, T>>, value: unknown, where: string): T =>
  typeof value === 'string' && Object.hasOwn(table, value)
    ? table[value]!
    : refuseNetwork(where, `must be one of ${Object.keys(table).join(', ')}`);
