/** Client addresses behind trusted proxies. */
import type { Request } from 'express';
import { isIpAddress } from '../../model/access/bmc-addresses';
import { senderKey } from '../../model/access/senders';

/** As reported by trusted proxies, or else of the connection. */
export const addressOf = (request: Request): string | undefined => {
  const { remoteAddress } = request.socket;
  // Without the header, `request.ip` is the same but slower.
  if (request.headers['x-forwarded-for'] === undefined) return remoteAddress;
  return request.ip !== undefined && isIpAddress(request.ip) ? request.ip : remoteAddress;
};

/** For IPv6, the network: a household has too many addresses to count. */
export const senderOf = (request: Request): string => senderKey(addressOf(request));
