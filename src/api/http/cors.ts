/** Which web pages may read our answers: none, unless the installation names their origins. */
import cors from 'cors';
import type { RequestHandler } from 'express';

/** Beyond what any page may read: versions, ids, where something is, and when to come again. */
const exposed = [
  'X-OpenStack-Ironic-API-Version',
  'X-OpenStack-Ironic-API-Minimum-Version',
  'X-OpenStack-Ironic-API-Maximum-Version',
  'X-OpenStack-Request-Id',
  'OpenStack-Request-Id',
  'Location',
  'ETag',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotent-Replayed',
  'X-Temper-Warnings',
];

const allowedHeaders = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'OpenStack-API-Version',
  'X-Auth-Token',
  'X-OpenStack-Ironic-API-Version',
  'X-OpenStack-Request-Id',
];

/** How long a browser need not ask again, in seconds. */
const maxAge = 600;

/**
 * Says which origins browsers may let read, and answers their preflight requests. Cookies are never allowed: nothing here reads one.
 * @param origins scheme, host and port each; undefined where there are none
 */
export const createCors = (origins: readonly string[]): RequestHandler | undefined =>
  origins.length === 0
    ? undefined
    : cors({
        origin: [...origins],
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
        allowedHeaders,
        exposedHeaders: exposed,
        maxAge,
      });
