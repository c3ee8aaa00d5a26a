/** The ids of a request: our own, which every answer carries, and the one that the caller's own work may have. */

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A new id. What a caller sends never takes its place: two requests could have the same. */
export const newRequestId = (): string => `req-${randomUUID()}`;

/** One id under both names; clients know the one or the other. */
export const idNames = ['X-OpenStack-Request-Id', 'OpenStack-Request-Id'] as const;

const requestIdHeaders = ['x-openstack-request-id', 'openstack-request-id'] as const;

// openstack/oslo.middleware:oslo_middleware/request_id.py has the same form, and likewise drops what has another.
const form = /^req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What the caller calls the work that this request is part of, such as a server's build; undefined where that is no such id. */
export const globalRequestId = (headers: IncomingHttpHeaders): string | undefined =>
  requestIdHeaders
    .map((name) => headers[name])
    .find((given): given is string => typeof given === 'string' && form.test(given));
