/** Hosts that lead to this machine only. */

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/i;

/** In brackets and in the one spelling of URLs; empty if it is invalid. */
const canonicalIpv6 = (address: string): string =>
  /^[\da-f:.]+$/i.test(address) && URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`).hostname : '';

/**
 * A name other than localhost may resolve to any address.
 * @param host a name or an address, also as in a URL: IPv6 in brackets
 */
export const isLoopback = (host: string): boolean =>
  loopback.test(host.includes(':') ? canonicalIpv6(host.replace(/^\[(.*)\]$/, '$1')) : host);
