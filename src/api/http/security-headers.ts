/** What every answer says to a browser: it is data, not to be guessed at, not to be framed, not to be kept. */

/** A page of ours replaces the policy by one under which it works. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

/** The headers by which one path has several answers: for caches, ours and others'. */
export const varies = 'X-Auth-Token, Authorization, X-OpenStack-Ironic-API-Version, OpenStack-API-Version';
