/** Faults on demand: each kind does what the catalogue says, once or for as long as asked, and to this BMC only. */

import type { Rack } from '../../emulator/rack';
import { type Client, clientOf, testRack } from './rack-client';

let rack: Rack;
let client: Client;

beforeEach(async () => {
  rack = await testRack({ bmcs: 2, profiles: ['openbmc'] });
  client = clientOf(rack.bmcs[0]!);
});
afterEach(() => rack.close());

const writes = () =>
  rack
    .journal({ session: false })
    .map(({ accepted, answered, fault, status }) => ({ accepted, answered, fault, status }));
const pxe = { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' } };

test('http-503 strikes as often as asked, with Retry-After, on matching paths and on this BMC only', async () => {
  rack.fault(0, { kind: 'http-503', remaining: 2, retryAfter: 7, path: '/Systems/' });
  expect((await client.get('/redfish/v1/Managers')).status).toBe(200);
  expect((await clientOf(rack.bmcs[1]!).get(rack.bmcs[1]!.systemId)).status).toBe(200);
  const struck = [await client.get(client.system), await client.get(client.system), await client.get(client.system)];
  expect(struck.map(({ status }) => status)).toEqual([503, 503, 200]);
  expect(struck[0]!.headers['retry-after']).toBe('7');
});

test('drop-after-write executes the write and loses the answer', async () => {
  rack.fault(0, { kind: 'drop-after-write' });
  await expect(client.reset('On')).rejects.toThrow();
  expect(writes()).toEqual([{ accepted: true, answered: false, fault: 'drop-after-write', status: 204 }]);
  await client.powerReaches('On');
});

test('drop-before loses the request: nothing is executed', async () => {
  rack.fault(0, { kind: 'drop-before', method: 'POST' });
  await expect(client.reset('On')).rejects.toThrow();
  expect(writes()).toEqual([{ accepted: false, answered: false, fault: 'drop-before', status: 0 }]);
  expect((await client.get(client.system)).body.PowerState).toBe('Off');
});

test('hang answers nothing for its time and then closes the connection', async () => {
  rack.fault(0, { kind: 'hang', ms: 400 });
  const began = performance.now();
  await expect(client.get(client.system)).rejects.toThrow();
  expect(performance.now() - began).toBeGreaterThan(390);
  expect((await client.get(client.system)).status).toBe(200);
});

test('latency delays an answer that is otherwise right', async () => {
  rack.fault(0, { kind: 'latency', ms: 300 });
  const began = performance.now();
  expect((await client.get(client.system)).status).toBe(200);
  expect(performance.now() - began).toBeGreaterThan(290);
});

test('wrong-power-state reports the old state while the host has moved on', async () => {
  rack.fault(0, { kind: 'wrong-power-state', seconds: 60 });
  await client.reset('On');
  await new Promise<void>((reached) => {
    const look = setInterval(() => {
      if (rack.state(0).power.shows !== 'On') return;
      clearInterval(look);
      reached();
    }, 20);
  });
  expect((await client.get(client.system)).body.PowerState).toBe('Off');
  rack.clearFaults(0);
  expect((await client.get(client.system)).body.PowerState).toBe('On');
});

test('session-table-full refuses logins and leaves basic credentials alone', async () => {
  rack.fault(0, { kind: 'session-table-full', remaining: 1 });
  const body = { UserName: rack.bmcs[0]!.username, Password: rack.bmcs[0]!.password };
  const refused = await client.post('/redfish/v1/SessionService/Sessions', body);
  expect([refused.status, refused.body.error.code]).toEqual([503, expect.stringContaining('RAC0218')]);
  expect((await client.post('/redfish/v1/SessionService/Sessions', body)).status).toBe(201);
});

test('etag-mismatch answers 412 to writes, however good their ETag is', async () => {
  rack.fault(0, { kind: 'etag-mismatch', remaining: 1 });
  const { etag } = (await client.get(client.system)).headers;
  expect((await client.patch(client.system, pxe, { 'if-match': etag! })).status).toBe(412);
  expect((await client.patch(client.system, pxe, { 'if-match': etag! })).status).toBe(204);
});

test.each([
  ['http-500', 500],
  ['html-504', 504],
  ['auth-refused', 401],
] as const)('%s answers %i once', async (kind, status) => {
  rack.fault(0, { kind });
  expect((await client.get(client.system)).status).toBe(status);
  expect((await client.get(client.system)).status).toBe(200);
});

test('truncated-json sends half of a document', async () => {
  rack.fault(0, { kind: 'truncated-json' });
  const reply = await client.get(client.system);
  expect(reply.status).toBe(200);
  expect(typeof reply.body).toBe('string');
});

test('power-stuck leaves the host at PoweringOn until it is asked again', async () => {
  rack.fault(0, { kind: 'power-stuck', remaining: 1 });
  await client.reset('On');
  await client.powerReaches('PoweringOn');
  expect(rack.state(0).power.coming).toEqual([]);
  await client.reset('On');
  await client.powerReaches('On');
});

test('faults are set, listed and cleared over the control port, and nonsense is refused with a reason', async () => {
  const url = `${rack.controlUrl}/control/bmcs/0/faults`;
  const post = (body: unknown) => fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const made = await post({ kind: 'http-500', seconds: 60 });
  expect(made.status).toBe(201);
  expect((await client.get(client.system)).status).toBe(500);
  expect(await (await fetch(url)).json()).toMatchObject({ faults: [{ kind: 'http-500', struck: 1 }] });
  const bad = await post({ kind: 'gremlins' });
  expect([bad.status, await bad.json()]).toEqual([
    400,
    { error: { code: 'InvalidInput', message: expect.stringContaining('kind') } },
  ]);
  expect((await post({ kind: 'http-500', path: '(' })).status).toBe(400);
  expect((await fetch(`${rack.controlUrl}/control/bmcs/9/faults`)).status).toBe(400);
  expect((await fetch(url, { method: 'DELETE' })).status).toBe(204);
  expect((await client.get(client.system)).status).toBe(200);
});

test('slow-death answers slower with every open session, and not at all once there are five', async () => {
  rack.fault(0, { kind: 'slow-death', ms: 100, seconds: 60 });
  const took = async () => {
    const began = performance.now();
    expect((await client.get(client.system)).status).toBe(200);
    return performance.now() - began;
  };
  const { username: UserName, password: Password } = rack.bmcs[0]!;
  const logIn = () => client.post('/redfish/v1/SessionService/Sessions', { UserName, Password });
  for (let sessions = 0; sessions < 2; sessions++) await logIn();
  expect(await took()).toBeGreaterThan(190);
  for (let sessions = 2; sessions < 5; sessions++) await logIn();
  await expect(client.get(client.system)).rejects.toThrow();
  rack.clearFaults(0);
  expect((await client.get(client.system)).status).toBe(200);
});

test('password-changed refuses the old password and every session', async () => {
  const { username: UserName, password: Password } = rack.bmcs[0]!;
  rack.fault(0, { kind: 'password-changed', seconds: 60 });
  expect((await client.get(client.system)).status).toBe(401);
  expect((await client.post('/redfish/v1/SessionService/Sessions', { UserName, Password })).status).toBe(401);
  rack.clearFaults(0);
  expect((await client.get(client.system)).status).toBe(200);
});
