/** Security headers of every answer. */

/** HTML pages of the API replace the content policy. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

/** Request headers that select the answer, for caches. */
export const varies =
  'X-Auth-Token, Authorization, X-Temper-Scope, X-OpenStack-Ironic-API-Version, OpenStack-API-Version';
