/** A ramdisk that has its token from its boot image: an impostor on its network, at every moment, gets nothing and changes nothing. */
import { randomUUID } from 'node:crypto';
import { generate } from 'selfsigned';
import { agentTokenOf, hashOf, inspectionTokenOf, newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { startTestApi, type TestApi } from '../support/api';
import { bootRamdisks } from '../support/ramdisk-boots';

let api: TestApi;
let uuid: string;
let url: string;
const mac = '52:54:00:00:00:01';
const run = '33333333-3333-4333-8333-333333333333';
const [home, elsewhere] = ['192.0.2.5', '192.0.2.66'];

beforeAll(async () => {
  api = await startTestApi({ settings: { agentNetworks: ['192.0.2.0/24'], trustedProxies: ['127.0.0.0/8'] } });
});
afterAll(() => api?.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
  Object.assign(api.runs, { contacts: [] });
  const { body } = await api.as('operator', 'POST', '/v1/nodes', {
    body: { driver: 'redfish', driver_info: { redfish_address: 'https://198.51.100.1' }, inspect_interface: 'agent' },
  });
  uuid = body.uuid;
  await api.as('operator', 'POST', '/v1/ports', { body: { node_uuid: uuid, address: mac } });
  await api.sql`update nodes set provision_state = 'clean wait', reservation = ${run}`;
  url = newUrlToken();
});

/** What a worker leaves once it has powered the node on. */
const poweredOn = async (): Promise<void> => {
  await bootRamdisks(api.sql, uuid);
  await api.sql`update ramdisk_boots set inspection_hash = ${hashOf(inspectionTokenOf(url))}`;
  await api.sql`
    insert into agents (node_uuid, token_hash, token_secret) values (${uuid}, ${hashOf(agentTokenOf(url))}, ${randomUUID()})`;
};

const ask = (from: string, method: string, path: string, body?: object) =>
  api.as(null, method, path, { body, headers: { 'x-forwarded-for': from } });
const lookUp = (from: string) => ask(from, 'GET', `/v1/lookup?addresses=${mac}`);
const beat = (from: string, agent_token = agentTokenOf(url)) =>
  ask(from, 'POST', `/v1/heartbeat/${uuid}`, {
    callback_url: `https://${from}:9999`,
    agent_token,
    agent_version: '13',
  });
const found = { inventory: { interfaces: [{ mac_address: mac, name: 'eth0' }] } };
const inspect = (from: string, query = '') => ask(from, 'POST', `/v1/continue_inspection${query}`, found);
const node = async () => (await api.sql`select maintenance, fault from nodes`)[0];
const boot = async () => (await api.sql`select address, conflict from ramdisk_boots`)[0];
const undisturbed = { maintenance: false, fault: null };

test('a lookup hands out no token, and does not bind the boot to the address that asks', async () => {
  await poweredOn();
  for (const from of [elsewhere, home, elsewhere]) {
    const { status, body } = await lookUp(from);
    expect([status, body.node.uuid, body.config.agent_token]).toEqual([200, uuid, '******']);
  }
  expect([await node(), await boot()]).toEqual([undisturbed, { address: null, conflict: null }]);
});

test('a heartbeat has to bear the token, and the first that does binds the boot to its address', async () => {
  await poweredOn();
  expect((await lookUp(elsewhere)).status).toBe(200);
  for (const token of ['x'.repeat(43), '******', url, inspectionTokenOf(url), hashOf(agentTokenOf(url))])
    expect((await beat(elsewhere, token)).status).toBe(400);
  expect(api.runs.contacts).toEqual([]);
  expect((await beat(home)).status).toBe(202);
  expect([await node(), await boot()]).toEqual([undisturbed, { address: home, conflict: null }]);
  expect(api.runs.contacts).toEqual([{ node: uuid, kind: 'heartbeat' }]);
});

test('an impostor that goes on asking and beating while the ramdisk works disturbs nothing', async () => {
  await poweredOn();
  await beat(home);
  await lookUp(elsewhere);
  await beat(elsewhere, 'x'.repeat(43));
  await inspect(elsewhere);
  expect((await beat(home)).status).toBe(202);
  expect([await node(), await boot()]).toEqual([undisturbed, { address: home, conflict: null }]);
});

test('the token from another address is a second ramdisk: the image of this boot was read by another', async () => {
  await poweredOn();
  await beat(home);
  expect((await beat(elsewhere)).status).toBe(409);
  expect(await node()).toEqual({ maintenance: true, fault: 'ramdisk conflict' });
});

test('another certificate is refused with the token too, also of a ramdisk that is silent; the next boot has its own of both', async () => {
  const made = async () => (await generate([{ name: 'commonName', value: home }], { keyType: 'ec' })).cert;
  const shows = async (from: string, agent_verify_ca: string, token = agentTokenOf(url)) =>
    (
      await ask(from, 'POST', `/v1/heartbeat/${uuid}`, {
        callback_url: `https://${home}:9999`,
        agent_token: token,
        agent_version: '13',
        agent_verify_ca,
      })
    ).status;
  const shown = async () => (await api.sql`select verify_ca from agents`)[0]!.verify_ca;
  const [first, second] = [await made(), await made()];
  await poweredOn();
  expect(await shows(home, first)).toBe(202);
  expect(await shows(home, second)).toBe(400);
  await api.sql`update agents set silent_since = now() - interval '1 hour', last_heartbeat_at = now() - interval '1 hour'`;
  // A machine that was reset, one that has its image and its address, one that has neither token, and a repeat of what was said.
  expect(await shows(home, second)).toBe(400);
  expect(await shows(home, second, 'x'.repeat(43))).toBe(400);
  expect([await shows(home, first), await shown(), await node()]).toEqual([202, first, undisturbed]);
  const before = agentTokenOf(url);
  await api.sql`delete from agents`;
  url = newUrlToken();
  await poweredOn();
  expect([await shows(home, first, before), await shows(home, second, before)]).toEqual([400, 400]);
  expect([await shows(home, second), await shown()]).toEqual([202, second]);
  expect([await shows(elsewhere, second), await node()]).toEqual([
    409,
    { maintenance: true, fault: 'ramdisk conflict' },
  ]);
});

test('before power-on, and once the run has lost the node, nothing is answered', async () => {
  expect([(await lookUp(home)).status, (await beat(home)).status]).toEqual([404, 404]);
  await poweredOn();
  await api.sql`update nodes set reservation = ${randomUUID()}`;
  expect([(await lookUp(home)).status, (await beat(home)).status]).toEqual([404, 409]);
});

describe('what an inspection finds', () => {
  beforeEach(() => api.sql`update nodes set provision_state = 'inspect wait'`);

  test('is taken from the ramdisk that bears the proof of its boot, and from no other', async () => {
    await poweredOn();
    for (const query of [
      '',
      `?node_uuid=${uuid}`,
      `?boot=${'x'.repeat(43)}`,
      `?boot=${url}`,
      `?boot=${agentTokenOf(url)}`,
      '?boot=',
    ])
      expect([query, (await inspect(elsewhere, query)).status]).toEqual([query, 404]);
    expect(await api.inventory.details.inventory(uuid as never)).toBeUndefined();
    expect([await node(), await boot()]).toEqual([undisturbed, { address: null, conflict: null }]);
    const { status, body } = await inspect(home, `?boot=${inspectionTokenOf(url)}`);
    expect([status, body.uuid ?? body.node?.uuid]).toEqual([202, uuid]);
    expect(JSON.stringify(body)).not.toContain(agentTokenOf(url));
    expect(await boot()).toEqual({ address: home, conflict: null });
  });

  test('needs no port: the proof says which node it is', async () => {
    await api.sql`delete from ports`;
    await poweredOn();
    expect((await inspect(home)).status).toBe(404);
    expect((await inspect(home, `?boot=${inspectionTokenOf(url)}`)).status).toBe(202);
  });

  test('bears a proof that is worth nothing before power-on, in another run, and in another state', async () => {
    const proof = `?boot=${inspectionTokenOf(url)}`;
    expect((await inspect(home, proof)).status).toBe(404);
    await poweredOn();
    await api.sql`update nodes set provision_state = 'clean wait'`;
    expect((await inspect(home, proof)).status).toBe(404);
    await api.sql`update nodes set provision_state = 'inspect wait', reservation = ${randomUUID()}`;
    expect((await inspect(home, proof)).status).toBe(404);
  });
});
