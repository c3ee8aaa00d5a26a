/** Client addresses behind proxies. Only trusted proxies may report one. */
import type { Request } from 'express';
import { isIpAddress } from '../../model/access/bmc-addresses';
import { senderKey } from '../../model/access/senders';

/** The address that trusted proxies report, or else that of the connection. */
export const addressOf = (request: Request): string | undefined => {
  const { remoteAddress } = request.socket;
  // Without the header, `request.ip` is the same, but Express computes it for each request.
  if (request.headers['x-forwarded-for'] === undefined) return remoteAddress;
  return request.ip !== undefined && isIpAddress(request.ip) ? request.ip : remoteAddress;
};

/** The key of a sender: the IPv4 address, or the network of an IPv6 address, because a household has too many addresses to count. */
export const senderOf = (request: Request): string => senderKey(addressOf(request));
