/** Proxies in front of us: their word about a caller's address is taken, and no other sender's. */
import type { Request } from 'express';
import { isIpAddress } from '../../model/access/bmc-addresses';
import { senderKey } from '../../model/access/senders';

/** The address of a caller, as reported by trusted proxies; that of the connection where they report none. */
export const addressOf = (request: Request): string | undefined => {
  const { remoteAddress } = request.socket;
  // Without the header there is nothing to walk; Express would read the address anew for each request.
  if (request.headers['x-forwarded-for'] === undefined) return remoteAddress;
  return request.ip !== undefined && isIpAddress(request.ip) ? request.ip : remoteAddress;
};

/** The sender that a request counts for: its address, of IPv6 the network of a household, which has more than can be counted. */
export const senderOf = (request: Request): string => senderKey(addressOf(request));
