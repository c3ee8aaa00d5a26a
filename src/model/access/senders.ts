/** Whom a request or a connection counts for: the address behind trusted proxies, and of IPv6 the network of a household. */
import ipaddr from 'ipaddr.js';
import { cidrContains, isIpAddress, peerAddress } from './bmc-addresses';

/** What bounds by sender count under: one sender has more addresses of IPv6 than can be counted. */
export const senderKey = (address: string | undefined): string => {
  const text = peerAddress(address);
  const isIpv6 = text.includes(':') && isIpAddress(text);
  return isIpv6 ? `${ipaddr.IPv6.networkAddressFromCIDR(`${text}/56`)}/56` : text;
};

/** Whether an address is that of a trusted proxy. */
export type Trusts = (address: string) => boolean;

/** @param networks in CIDR notation */
export const trustIn =
  (networks: readonly string[]): Trusts =>
  (address) =>
    networks.some((network) => cidrContains(network, address));

/** As Node has a request. */
type Asked = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/** The address that a request comes from, as far as proxies are believed; empty where all of them are trusted, or none is one. */
export const senderAddress = ({ headers, socket }: Asked, trusts: Trusts): string => {
  const given = String(headers['x-forwarded-for'] ?? '').split(',');
  const path = [...given.map((one) => one.trim()), peerAddress(socket.remoteAddress)].reverse();
  const sender = path.find((address) => !trusts(address)) ?? '';
  return isIpAddress(sender) ? sender : '';
};
