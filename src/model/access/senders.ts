/** The sender of a request: the address behind trusted proxies, for IPv6 its /56 network. */
import ipaddr from 'ipaddr.js';
import { cidrContains, isIpAddress, peerAddress } from './bmc-addresses';

/** Key for limits. One sender has a whole network of IPv6 addresses. */
export const senderKey = (address: string | undefined): string => {
  const text = peerAddress(address);
  const isIpv6 = text.includes(':') && isIpAddress(text);
  return isIpv6 ? `${ipaddr.IPv6.networkAddressFromCIDR(`${text}/56`)}/56` : text;
};

export type Trusts = (address: string) => boolean;

/** @param networks in CIDR notation */
export const trustIn =
  (networks: readonly string[]): Trusts =>
  (address) =>
    networks.some((network) => cidrContains(network, address));

type SentRequest = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/** Empty if all addresses are trusted or the sender's is invalid. */
export const senderAddress = ({ headers, socket }: SentRequest, trusts: Trusts): string => {
  const given = String(headers['x-forwarded-for'] ?? '').split(',');
  const path = [...given.map((one) => one.trim()), peerAddress(socket.remoteAddress)].reverse();
  const sender = path.find((address) => !trusts(address)) ?? '';
  return isIpAddress(sender) ? sender : '';
};
