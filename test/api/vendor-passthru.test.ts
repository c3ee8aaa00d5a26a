/** Methods of vendors' own: which there are, what each asks of the BMC, and what is refused before anything is asked. */
import { raise } from '../../src/model/errors';
import type { CallOrder } from '../../src/runs/contract';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { owner, type Persona } from '../support/world';

const answers: { next: unknown; called: CallOrder[] } = { next: undefined, called: [] };
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    runs: {
      call: async (order) => {
        answers.called.push(order);
        return typeof answers.next === 'function' ? answers.next() : answers.next;
      },
    },
  });
  await addWorker(api.sql, { drivers: ['redfish', 'ipmi', 'fake-hardware'] });
  for (const [name, driver, driver_info] of [
    ['n1', 'redfish', { redfish_address: 'https://192.0.2.7' }],
    ['i1', 'ipmi', { ipmi_address: '192.0.2.8' }],
    ['plain', 'redfish', { redfish_address: 'https://192.0.2.9' }],
  ] as const)
    await api.as('operator', 'POST', '/v1/nodes', {
      body: { name, driver, owner, driver_info, ...(name === 'plain' && { vendor_interface: 'no-vendor' }) },
    });
});
afterAll(() => api.close());
beforeEach(() => Object.assign(answers, { next: undefined, called: [] }));

const at = (method: string, rest: string, body?: unknown, who: Persona = 'operator') =>
  api.as(who, method, `/v1/nodes/n1/vendor_passthru${rest}`, { body });
const asked = () => answers.called.map(({ act, args, background }) => [act, args, background]);

const subscription = {
  Id: '4',
  Context: 'c',
  Protocol: 'Redfish',
  Destination: 'https://events.example.org/x',
  EventTypes: ['Alert'],
};
const wanted = {
  Destination: subscription.Destination,
  Context: 'c',
  Protocol: 'Redfish',
  EventTypes: ['Alert'],
  HttpHeaders: [{ 'X-Auth': 'key' }],
};

test('a node lists its methods, each with its verbs, and whether it is waited for', async () => {
  const { status, body } = await at('GET', '/methods');
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual([
    'create_subscription',
    'delete_subscription',
    'eject_vmedia',
    'get_all_subscriptions',
    'get_subscription',
  ]);
  expect(body.create_subscription).toEqual({
    async: false,
    attach: false,
    description: expect.stringContaining('Destination'),
    http_methods: ['POST'],
    require_exclusive_lock: true,
  });
  expect([body.eject_vmedia.async, body.get_subscription.require_exclusive_lock]).toEqual([true, false]);
  expect(answers.called).toEqual([]);
});

test.each(['i1', 'plain'])('%s has none, and every name is refused', async (name) => {
  const path = `/v1/nodes/${name}/vendor_passthru`;
  expect((await api.as('operator', 'GET', `${path}/methods`)).body).toEqual({});
  const refused = await api.as('operator', 'POST', `${path}?method=send_raw`, { body: { raw_bytes: '0x00 0x00' } });
  expect([refused.status, faultOf(refused)]).toEqual([400, 'method: send_raw is not offered here; offered: none']);
  expect(answers.called).toEqual([]);
});

test('subscribing answers what the BMC made of it, and keeps the headers under a name that is sealed', async () => {
  answers.next = subscription;
  const reply = await at('POST', '?method=create_subscription', wanted);
  expect([reply.status, reply.body]).toEqual([200, subscription]);
  expect(asked()).toEqual([
    [
      'create_subscription',
      {
        destination: wanted.Destination,
        context: 'c',
        protocol: 'Redfish',
        event_types: ['Alert'],
        secret_headers: wanted.HttpHeaders,
      },
      undefined,
    ],
  ]);
  expect(answers.called[0]!.asked.rule).toBe('baremetal:node:vendor_passthru');
});

test('a method may be named in the path or the query, its arguments in the body or the query', async () => {
  answers.next = subscription;
  for (const [rest, body] of [
    ['/get_subscription', { id: '4' }],
    ['/get_subscription?id=4', undefined],
    ['?method=get_subscription&id=4', undefined],
  ] as const) {
    const reply =
      body === undefined
        ? await at('GET', rest)
        : await getWithBody(`/v1/nodes/n1/vendor_passthru${rest}`, JSON.stringify(body));
    expect([reply.status, reply.body]).toEqual([200, subscription]);
  }
  expect(asked()).toEqual(Array(3).fill(['read_subscriptions', { id: '4' }, undefined]));
});

/** GET with a body, which clients in Go and Python send and `fetch` does not. */
const getWithBody = async (path: string, body: string) => {
  const { request } = await import('undici');
  const reply = await request(`${api.url}${path}`, {
    method: 'GET',
    headers: {
      'x-auth-token': 'operator',
      'x-openstack-ironic-api-version': '1.50',
      'content-type': 'application/json',
    },
    body,
  });
  return { status: reply.statusCode, body: (await reply.body.json()) as unknown };
};

test('all of them are listed as the BMC lists them', async () => {
  answers.next = { Members: [{ '@odata.id': '/redfish/v1/EventService/Subscriptions/4' }], 'Members@odata.count': 1 };
  const { status, body } = await at('GET', '?method=get_all_subscriptions');
  expect([status, body]).toEqual([200, answers.next]);
  expect(asked()).toEqual([['read_subscriptions', {}, undefined]]);
});

test('ending one is waited for and has nothing to say', async () => {
  const reply = await at('DELETE', '?method=delete_subscription', { id: '4' });
  expect([reply.status, reply.text]).toEqual([200, 'null']);
  expect(asked()).toEqual([['delete_subscription', { id: '4' }, undefined]]);
});

test.each([
  [undefined, {}],
  ['cd', { device_type: 'cdrom' }],
  ['usb', { device_type: 'disk' }],
] as const)('drives are emptied without being waited for: %s', async (boot_device, args) => {
  const reply = await at('POST', '/eject_vmedia', boot_device && { boot_device });
  expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([202, '', null]);
  expect(asked()).toEqual([['eject_media', args, true]]);
});

test.each([
  ['POST', '', undefined, /method: is missing; offered: create_subscription/],
  ['POST', '?method=reset', {}, /method: reset is not offered here/],
  ['POST', '/toString', {}, /method: toString is not offered here/],
  ['GET', '?method=create_subscription', undefined, /create_subscription takes POST, not GET/],
  ['PUT', '/create_subscription', wanted, /takes POST, not PUT/],
  ['PATCH', '/delete_subscription', { id: '4' }, /takes DELETE, not PATCH/],
  ['POST', '/create_subscription', {}, /Destination: is missing/],
  ['POST', '/create_subscription', { ...wanted, Destination: 'nowhere' }, /Destination: must be an http or https URL/],
  ['POST', '/create_subscription', { ...wanted, Destination: 'file:///etc/passwd' }, /must be an http or https URL/],
  ['POST', '/create_subscription', { ...wanted, HttpHeaders: 'x' }, /HttpHeaders/],
  ['POST', '/create_subscription', { ...wanted, Colour: 'red' }, /Unexpected arguments: Colour/],
  ['DELETE', '/delete_subscription', {}, /id/],
  ['DELETE', '/delete_subscription', { id: '' }, /id/],
  ['POST', '/eject_vmedia', { boot_device: 'tape' }, /boot_device/],
] as const)('%s %s with %j is refused', async (method, rest, body, says) => {
  const reply = await at(method, rest, body);
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(says)]);
  expect(answers.called).toEqual([]);
});

test.each([
  ['SubscriptionNotFound', { node: 'n1', bmc: '192.0.2.7', id: '9' }, 404],
  ['BmcUnsupported', { node: 'n1', bmc: '192.0.2.7', what: 'event subscriptions' }, 400],
  ['BmcUnreachable', { node: 'n1', bmc: '192.0.2.7', reason: 'no route' }, 502],
  ['NodeLocked', { node: 'n1' }, 409],
] as const)('%s reaches the caller as it is', async (code, facts, status) => {
  answers.next = () => raise(code, facts);
  expect((await at('DELETE', '?method=delete_subscription', { id: '9' })).status).toBe(status);
});

test.each(['owner-admin', 'system-member', 'system-reader'] as const)('%s is refused every method', async (who) => {
  expect((await at('GET', '/methods', undefined, who)).status).toBe(403);
  expect((await at('POST', '/create_subscription', wanted, who)).status).toBe(403);
  expect((await at('POST', '/no_such', {}, who)).status).toBe(403);
  expect(answers.called).toEqual([]);
});

test('who may not see the node learns nothing of it', async () =>
  expect((await at('GET', '/methods', undefined, 'stranger-admin')).status).toBe(404));

describe('of a driver', () => {
  const ask = (method: string, rest: string, who: Persona = 'operator', body?: unknown) =>
    api.as(who, method, `/v1/drivers/${rest}`, { body });

  test.each(['redfish', 'ipmi', 'fake-hardware'])('%s: there are none, and every name is refused', async (driver) => {
    const { status, body } = await ask('GET', `${driver}/vendor_passthru/methods`);
    expect([status, body]).toEqual([200, {}]);
    for (const rest of ['', '/flash', '?method=flash'])
      expect((await ask('POST', `${driver}/vendor_passthru${rest}`, 'operator', {})).status).toBe(400);
  });

  test('an unknown driver has no methods, and a caller who may not ask does not learn so', async () => {
    expect((await ask('GET', 'none/vendor_passthru/methods')).status).toBe(404);
    expect((await ask('GET', 'none/vendor_passthru/methods', 'owner-admin')).status).toBe(403);
    expect((await ask('POST', 'redfish/vendor_passthru/x', 'owner-admin')).status).toBe(403);
  });
});
