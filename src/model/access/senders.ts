/** The sender of a request or connection: the address behind trusted proxies, and for IPv6 its /56 network. */
import ipaddr from 'ipaddr.js';
import { cidrContains, isIpAddress, peerAddress } from './bmc-addresses';

/** The key for limits per sender. One sender has a whole network of IPv6 addresses. */
export const senderKey = (address: string | undefined): string => {
  const text = peerAddress(address);
  const isIpv6 = text.includes(':') && isIpAddress(text);
  return isIpv6 ? `${ipaddr.IPv6.networkAddressFromCIDR(`${text}/56`)}/56` : text;
};

/** True for the address of a trusted proxy. */
export type Trusts = (address: string) => boolean;

/** @param networks in CIDR notation */
export const trustIn =
  (networks: readonly string[]): Trusts =>
  (address) =>
    networks.some((network) => cidrContains(network, address));

/** A request in Node's form. */
type Asked = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/** The address that a request comes from, behind trusted proxies. Empty if all addresses are trusted, or the found one is invalid. */
export const senderAddress = ({ headers, socket }: Asked, trusts: Trusts): string => {
  const given = String(headers['x-forwarded-for'] ?? '').split(',');
  const path = [...given.map((one) => one.trim()), peerAddress(socket.remoteAddress)].reverse();
  const sender = path.find((address) => !trusts(address)) ?? '';
  return isIpAddress(sender) ? sender : '';
};
