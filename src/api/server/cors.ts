/** CORS for the configured origins. */
import cors from 'cors';
import type { RequestHandler } from 'express';

/** Headers that pages may not read by default. */
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
  'X-Temper-Scope',
];

/** Seconds for which a browser caches a preflight. */
const maxAge = 600;

/**
 * Cookies are never allowed: the API reads none.
 * @param origins scheme, host and port each; empty returns undefined
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
