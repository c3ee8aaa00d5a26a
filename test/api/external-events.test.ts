/** POST /v1/events: what of other services' news is accepted, from whom, and that it stands in the log. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import type { Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(() => void api.log.splice(0));

const event = {
  event: 'network.bind_port',
  port_id: '11111111-2222-4333-8444-555555555555',
  mac_address: '52:54:00:0A:0B:0C',
  status: 'ACTIVE',
};
const full = {
  ...event,
  device_id: '22222222-2222-4333-8444-555555555555',
  'binding:host_id': null,
  'binding:vnic_type': 'baremetal',
};
const post = (body: unknown, { who = 'operator', minor }: { who?: Persona; minor?: number } = {}) =>
  api.as(who, 'POST', '/v1/events', { body, minor });

test('events of ports are taken and written to the log, one line each', async () => {
  const reply = await post({ events: [event, { ...full, event: 'network.delete_port' }] });
  expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([204, '', null]);
  expect(api.log).toEqual([
    {
      level: 'info',
      says: 'external event',
      facts: { ...event, mac_address: '52:54:00:0a:0b:0c', request_id: expect.stringMatching(/^req-/) },
    },
    { level: 'info', says: 'external event', facts: expect.objectContaining({ event: 'network.delete_port' }) },
  ]);
});

test.each([
  ['no events', {}, /events/],
  ['an empty list', { events: [] }, /events/],
  ['an unknown event', { events: [{ ...event, event: 'network.paint_port' }] }, /events\.0\.event/],
  ['a port that is no UUID', { events: [{ ...event, port_id: 'x' }] }, /port_id: must be a UUID/],
  ['an address that is none', { events: [{ ...event, mac_address: 'x' }] }, /mac_address: must be a MAC address/],
  ['a missing status', { events: [{ ...event, status: undefined }] }, /status: is missing/],
  ['an unknown key', { events: [{ ...event, colour: 'red' }] }, /colour/],
  ['another key beside the list', { events: [event], more: 1 }, /Unexpected arguments: more/],
] as const)('%s is refused, and nothing is written', async (_what, body, says) => {
  const reply = await post(body);
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(says)]);
  expect(api.log).toEqual([]);
});

test.each([
  ['operator', 204],
  ['system-member', 403],
  ['owner-admin', 403],
] as const)('as %s it answers %i', async (who, status) =>
  expect((await post({ events: [event] }, { who })).status).toBe(status),
);

test('it came with 1.54, and there is nothing to read', async () => {
  expect((await post({ events: [event] }, { minor: 53 })).status).toBe(404);
  expect((await post({ events: [event] }, { minor: 54 })).status).toBe(204);
  expect((await api.as('operator', 'GET', '/v1/events')).status).toBe(405);
});
