/** Logging in to the emulated BMCs: tokens, the limit of the session table, and what a BMC reset does to it. */

import type { Rack } from '../../emulator/rack';
import { type Client, clientOf, type Reply, testRack, until } from './rack-client';

let rack: Rack;
let client: Client;

beforeEach(async () => {
  rack = await testRack({ profiles: ['idrac9'] });
  client = clientOf(rack.bmcs[0]!);
});
afterEach(() => rack.close());

const logIn = (password = rack.bmcs[0]!.password): Promise<Reply> =>
  clientOf(rack.bmcs[0]!, { auth: {} }).post('/redfish/v1/SessionService/Sessions', {
    UserName: rack.bmcs[0]!.username,
    Password: password,
  });
const withToken = (reply: Reply): Client =>
  clientOf(rack.bmcs[0]!, { auth: { 'x-auth-token': reply.headers['x-auth-token']! } });

test('the service root is open and everything else is not', async () => {
  const stranger = clientOf(rack.bmcs[0]!, { auth: {} });
  expect((await stranger.get('/redfish/v1/')).status).toBe(200);
  expect((await stranger.get('/redfish/v1/Systems')).status).toBe(401);
  expect((await stranger.reset('On')).status).toBe(401);
});

test('a token opens the BMC until its session is deleted', async () => {
  const session = await logIn();
  expect(session.status).toBe(201);
  const holder = withToken(session);
  expect((await holder.get(client.system)).status).toBe(200);
  expect((await holder.delete(session.headers.location!)).status).toBe(204);
  expect((await holder.get(client.system)).status).toBe(401);
});

test('a wrong password gets no session', async () => {
  expect((await logIn('not this one')).status).toBe(401);
});

test('the table is full at its limit, and a logout makes room', async () => {
  const sessions: Reply[] = [];
  for (let reply = await logIn(); reply.status === 201; reply = await logIn()) sessions.push(reply);
  expect(sessions).toHaveLength(8);
  const refused = await logIn();
  expect(refused.status).toBe(503);
  expect(refused.body.error.code).toContain('RAC0218');
  await client.delete(sessions[0]!.headers.location!);
  expect((await logIn()).status).toBe(201);
});

test('a BMC reset takes the BMC away for a while and ends every session', async () => {
  const session = await logIn();
  const holder = withToken(session);
  const manager = (await client.get('/redfish/v1/Managers')).body.Members[0]['@odata.id'];
  expect((await client.get(manager)).body.LastResetTime).toBeUndefined();
  expect((await holder.post(`${manager}/Actions/Manager.Reset`, { ResetType: 'GracefulRestart' })).status).toBe(204);
  await expect(client.get(manager)).rejects.toThrow();
  await until(
    () =>
      client.get(manager).then(
        ({ status }) => status === 200,
        () => false,
      ),
    'the BMC to come back',
  );
  expect((await holder.get(client.system)).status).toBe(401);
  expect((await client.get(manager)).body.LastResetTime).toEqual(expect.any(String));
});

test('neither passwords nor tokens reach the journal', async () => {
  const session = await logIn();
  const text = JSON.stringify(rack.journal());
  expect(text).not.toContain(rack.bmcs[0]!.password);
  expect(text).not.toContain(session.headers['x-auth-token']);
  expect(rack.journal({ session: true })).toHaveLength(1);
  expect(rack.journal({ session: false })).toHaveLength(0);
});
