/** POST /v1/events: network port events of other services. They are validated and logged; nothing uses them yet. */
import { z } from 'zod';
import { isMac } from '../../model/ids';
import { uuid } from '../resource/validation';
import { noContent, type Route, route } from '../server/route';

const eventRule = 'baremetal:events:post';

/** Maximum events per request, so that one request cannot fill the log. */
const mostEvents = 1_000;

// Names and keys: openstack/ironic:ironic/api/controllers/v1/event.py.
const networkEvent = z.strictObject({
  event: z.enum(['network.bind_port', 'network.unbind_port', 'network.delete_port']),
  port_id: uuid,
  mac_address: z
    .string()
    .refine(isMac, { error: 'must be a MAC address' })
    .transform((mac) => mac.toLowerCase()),
  status: z.string().max(255),
  device_id: uuid.nullish(),
  'binding:host_id': uuid.nullish(),
  'binding:vnic_type': z.string().max(255).nullish(),
});

const eventBody = z.strictObject({ events: z.array(networkEvent).min(1).max(mostEvents) });

export const eventRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/events',
    answers: { 204: null },
    since: 54,
    rules: [eventRule],
    body: eventBody,
    handler: async ({ who, body: { events }, requestId }, ctx) => {
      ctx.policy().require(eventRule, who);
      for (const { event, ...facts } of events)
        ctx.log.info('external event', { request_id: requestId, event, ...facts });
      return noContent();
    },
  }),
];
