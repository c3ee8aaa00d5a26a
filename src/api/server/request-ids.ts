/** Request ids: the API's own, and the client's global one. */

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Always new: clients could send the same id twice. */
export const newRequestId = (): string => `req-${randomUUID()}`;

/** Clients read either name. */
export const idNames = ['X-OpenStack-Request-Id', 'OpenStack-Request-Id'] as const;

const requestIdHeaders = ['x-openstack-request-id', 'openstack-request-id'] as const;

// openstack/oslo.middleware:oslo_middleware/request_id.py has the same form, and also drops other values.
const form = /^req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Id of the client's larger operation, such as a server build; undefined if invalid. */
export const globalRequestId = (headers: IncomingHttpHeaders): string | undefined =>
  requestIdHeaders
    .map((name) => headers[name])
    .find((given): given is string => typeof given === 'string' && form.test(given));
