/** What ramdisks ask: which node they run on, that they live, and what they found. None of them has a token of ours. */
import { createHash } from 'node:crypto';
import { generate } from 'selfsigned';
import { createAgents } from '../../emulator/agent';
import { createInventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { NodeUuid } from '../../src/model/ids';
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { bootRamdisks } from '../support/ramdisk-boots';
import { testVault } from '../support/vault';
import { owner } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    settings: {
      agentNetworks: ['192.0.2.0/24'],
      trustedProxies: ['127.0.0.0/8'],
      lookup: async (host) => names[host] ?? [],
    },
  });
});
afterAll(() => api.close());

const names: Record<string, string[]> = {
  'inside.example.org': ['192.0.2.5'],
  'half.example.org': ['192.0.2.5', '198.51.100.9'],
};
const mac = '52:54:00:00:00:01';
const otherMac = '52:54:00:00:00:02';
const unknown = '99999999-9999-4999-8999-999999999999';
const run = '33333333-3333-4333-8333-333333333333';
const certificate = async (): Promise<string> =>
  (await generate([{ name: 'commonName', value: 'ramdisk' }], { keyType: 'ec' })).cert;

let n1: NodeUuid;
let n2: NodeUuid;
const addNode = async (name: string, address: string): Promise<NodeUuid> => {
  const { body } = await api.as('operator', 'POST', '/v1/nodes', {
    body: {
      name,
      driver: 'redfish',
      owner,
      driver_info: { redfish_address: `https://198.51.100.${name.slice(1)}`, redfish_password: 'hunter2' },
      instance_info: { image_url: 'http://images/a', configdrive: 'very-secret' },
      properties: { cpus: 4, root_device: { size: 480 }, rack: 'A17' },
      inspect_interface: 'agent',
    },
  });
  await api.as('operator', 'POST', '/v1/ports', { body: { node_uuid: body.uuid, address } });
  return body.uuid;
};
beforeEach(async () => {
  await api.sql`delete from nodes`;
  Object.assign(api.runs, { contacts: [] });
  n1 = await addNode('n1', mac);
  n2 = await addNode('n2', otherMac);
  await set({ provision_state: 'clean wait', reservation: run });
  await bootRamdisks(api.sql, n1, n2);
});

const set = (columns: Record<string, unknown>, uuid: string = n1) =>
  api.sql`update nodes set ${api.sql(columns)} where uuid = ${uuid}`;
/** Where the node's own ramdisk is, as a trusted proxy in front of the API reports. */
const home = '192.0.2.5';
const ask = (method: string, path: string, request?: Request, from = home) =>
  api.as(null, method, path, { ...request, headers: { 'x-forwarded-for': from, ...request?.headers } });
const lookUp = (query = `addresses=${mac}`, minor?: number) => ask('GET', `/v1/lookup?${query}`, { minor });
const tokenOf = async (): Promise<string> => (await lookUp()).body.config.agent_token;
const beat = (agent_token: unknown, more: object = {}, { minor, ident }: { minor?: number; ident?: string } = {}) =>
  ask('POST', `/v1/heartbeat/${ident ?? n1}`, {
    minor,
    body: { callback_url: 'https://192.0.2.5:9999', agent_token, agent_version: '10.0.0', ...more },
  });
const agent = async () => (await api.sql`select * from agents where node_uuid = ${n1}`)[0];
const heard = () => api.runs.contacts;

describe('lookup', () => {
  test('a ramdisk learns by its addresses which node it runs on, and gets the token once', async () => {
    const first = await lookUp(`addresses=00:00:00:00:00:00,${mac.toUpperCase()},nonsense`);
    expect(first.status).toBe(200);
    expect(first.body.node).toEqual({
      uuid: n1,
      properties: { root_device: { size: 480 } },
      instance_info: {},
      driver_internal_info: {},
      links: expect.any(Array),
    });
    const { agent_token, ...config } = first.body.config;
    expect(agent_token).toMatch(/^[\w-]{32,}$/);
    expect(config).toMatchObject({
      heartbeat_timeout: 300,
      agent_token_required: true,
      agent_md5_checksum_enable: false,
    });
    expect((await lookUp()).body.config.agent_token).toBe('******');
  });

  test('of many that ask at once one gets the token', async () => {
    const replies = await Promise.all([1, 2, 3, 4].map(() => lookUp()));
    expect(replies.map(({ body }) => body.config.agent_token === '******').sort()).toEqual([false, true, true, true]);
  });

  test('the token is stored sealed, for workers alone, and as a hash', async () => {
    const token = await tokenOf();
    expect(await agent()).toMatchObject({ token_hash: createHash('sha256').update(token).digest('hex'), url: null });
    const [secret] = await api.sql`select * from secrets where holder = 'agent' and holder_id = ${n1}`;
    expect(secret).toMatchObject({ id: (await agent())!.token_secret, holder_id: n1 });
    expect(testVault.open(secret as never)).toBe(token);
    await expect(api.inventory.secrets.read([secret!.id])).rejects.toThrow('permission denied');
  });

  test('with its uuid too, and in every state in which a ramdisk is expected', async () => {
    for (const state of [
      'deploying',
      'wait call-back',
      'cleaning',
      'inspecting',
      'inspect wait',
      'rescue wait',
      'service wait',
    ]) {
      await set({ provision_state: state });
      expect((await lookUp(`node_uuid=${n1}&addresses=${mac}`)).body.node.uuid).toBe(n1);
    }
  });

  test('missing, unknown, ambiguous and unexpected are one answer, and nothing is made', async () => {
    const missing = faultOf(await lookUp(`node_uuid=${unknown}`));
    for (const state of ['enroll', 'manageable', 'available', 'active', 'clean failed', 'deleting', 'servicing']) {
      await set({ provision_state: state });
      const reply = await lookUp(`node_uuid=${n1}`);
      expect([reply.status, faultOf(reply).replace(n1, unknown)]).toEqual([404, missing]);
    }
    await set({ provision_state: 'clean wait' });
    await set({ provision_state: 'clean wait' }, n2);
    expect((await lookUp(`addresses=${mac},${otherMac}`)).status).toBe(404);
    expect((await lookUp('addresses=52:54:00:00:00:99')).status).toBe(404);
    expect(await api.sql`select 1 from agents`).toHaveLength(0);
  });

  test.each(['', '&addresses=52:54:00:00:00:99', '&addresses=nonsense'])(
    'who knows only the uuid of a node with ports learns and gets nothing (%p)',
    async (addresses) => {
      const missing = faultOf(await lookUp(`node_uuid=${unknown}${addresses}`));
      const reply = await lookUp(`node_uuid=${n1}${addresses}`);
      expect([reply.status, faultOf(reply).replace(n1, unknown)]).toEqual([404, missing]);
      expect(await agent()).toBeUndefined();
    },
  );

  test('a node without ports is known by its uuid', async () => {
    await api.sql`delete from ports where node_uuid = ${n1}`;
    expect((await lookUp(`node_uuid=${n1}`)).body.node.uuid).toBe(n1);
  });

  test('a ramdisk that names a node and has the address of another gets neither', async () => {
    await set({ provision_state: 'clean wait' }, n2);
    expect((await lookUp(`node_uuid=${n1}&addresses=${otherMac}`)).status).toBe(404);
    expect((await lookUp(`node_uuid=${n1}&addresses=${mac},52:54:00:00:00:99`)).status).toBe(200);
  });

  test.each(['', 'addresses=', 'addresses=nonsense', 'node_uuid=nonsense', `addresses=${mac}&colour=red`])(
    '%p is a bad request',
    async (query) => expect((await lookUp(query)).status).toBe(400),
  );

  test('below 1.22 there is none, and below 1.62 no token', async () => {
    expect((await lookUp(undefined, 21)).status).toBe(404);
    const { body } = await lookUp(undefined, 61);
    expect('agent_token' in body.config).toBe(false);
    expect(await agent()).toBeUndefined();
  });

  test('a rule of the operator may close it', async () => {
    api.setPolicy({
      set: 'temper',
      overrides: { 'baremetal:driver:ipa_lookup': '!', 'baremetal:node:ipa_heartbeat': '!' },
    });
    const replies = [await lookUp(), await beat('x')];
    api.setPolicy({ set: 'temper' });
    expect(replies.map(({ status }) => status)).toEqual([403, 403]);
  });
});

describe('heartbeat', () => {
  test('it is written down beside the node, and the run that holds the node is notified', async () => {
    const token = await tokenOf();
    const [before] = await api.sql`select xmin::text from nodes where uuid = ${n1}`;
    const reply = await beat(token);
    expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([202, '', null]);
    expect(await agent()).toMatchObject({
      url: 'https://192.0.2.5:9999',
      version: '10.0.0',
      verify_ca: null,
      last_heartbeat_at: expect.any(Date),
    });
    expect(heard()).toEqual([{ node: n1, kind: 'heartbeat' }]);
    expect((await api.sql`select xmin::text from nodes where uuid = ${n1}`)[0]).toEqual(before);
  });

  test('a repeat is as good as the first, by name too', async () => {
    const token = await tokenOf();
    await beat(token);
    const [first] = [await agent()];
    expect((await beat(token, { agent_version: '10.0.1' }, { ident: 'n1' })).status).toBe(202);
    const again = await agent();
    expect(again).toMatchObject({ url: first!.url, version: '10.0.1', first_seen_at: first!.first_seen_at });
    expect(again!.last_heartbeat_at.getTime()).toBeGreaterThanOrEqual(first!.last_heartbeat_at.getTime());
  });

  test('an engine that is away does not fail it', async () => {
    const away = await startTestApi({
      runs: { agentContact: async () => Promise.reject(new Error('no engine')) },
      settings: {},
    });
    try {
      const { body } = await away.as('operator', 'POST', '/v1/nodes', {
        body: { driver: 'fake-hardware', name: 'n1' },
      });
      await away.sql`update nodes set provision_state = 'clean wait', reservation = ${run}`;
      await bootRamdisks(away.sql, body.uuid);
      const { config } = (await away.as(null, 'GET', `/v1/lookup?node_uuid=${body.uuid}`)).body;
      const reply = await away.as(null, 'POST', `/v1/heartbeat/${body.uuid}`, {
        body: { callback_url: 'https://127.0.0.1', agent_token: config.agent_token, agent_version: '1' },
      });
      expect(reply.status).toBe(202);
      expect(away.log).toContainEqual(
        expect.objectContaining({ level: 'warn', says: 'ramdisk callback received, run not notified' }),
      );
    } finally {
      await away.close();
    }
  });

  test.each([
    ['with another token', 'x'.repeat(43)],
    ['with an empty token', ''],
    ['without a token', undefined],
    ['with the mask', '******'],
  ])('%s it is refused, and nothing is written', async (_how, token) => {
    await tokenOf();
    expect((await beat(token)).status).toBe(400);
    expect(await agent()).toMatchObject({ url: null, last_heartbeat_at: null });
    expect(heard()).toEqual([]);
  });
});

describe('a heartbeat’s token', () => {
  test('the token of one node does not open another', async () => {
    const token = await tokenOf();
    await set({ provision_state: 'clean wait' }, n2);
    await lookUp(`addresses=${otherMac}`);
    expect((await beat(token, {}, { ident: n2 })).status).toBe(400);
  });

  test('the token of a ramdisk that is gone is worth nothing, whether or not there is a new one', async () => {
    const token = await tokenOf();
    expect((await beat(token)).status).toBe(202);
    await api.inventory.agents.forget(n1);
    const replayed = await beat(token);
    expect([replayed.status, faultOf(replayed)]).toEqual([404, `Node ${n1} could not be found.`]);
    await tokenOf();
    expect((await beat(token)).status).toBe(400);
    expect(await agent()).toMatchObject({ url: null });
  });

  test('a node that does not exist and one that no ramdisk has looked up are one answer', async () => {
    const [missing, unmet] = [await beat('x', {}, { ident: unknown }), await beat('x', {}, { ident: n2 })];
    expect([missing.status, unmet.status]).toEqual([404, 404]);
    expect(faultOf(unmet).replace(n2, unknown)).toBe(faultOf(missing));
  });

  test.each([
    ['http://192.0.2.5:9999', 'https'],
    ['ftp://192.0.2.5', 'http:// or https://'],
    ['192.0.2.5:9999', 'callback_url'],
    ['https://user:pass@192.0.2.5', 'credentials'],
    ['https://192.0.2.5/?token=1', 'query'],
    ['https://198.51.100.5:9999', 'TEMPER_AGENT_NETWORKS'],
    ['https://127.0.0.1:9999', 'TEMPER_AGENT_NETWORKS'],
    ['https://[::ffff:198.51.100.5]:9999', 'TEMPER_AGENT_NETWORKS'],
    ['https://192.0.2.6:9999', 'must lead to 192.0.2.5, where this request comes from'],
    ['https://half.example.org', 'TEMPER_AGENT_NETWORKS'],
    ['https://nowhere.example.org', 'TEMPER_AGENT_NETWORKS'],
    [7, 'callback_url'],
    [null, 'callback_url'],
  ])('no ramdisk is called at %p', async (callback_url, says) => {
    const reply = await beat(await tokenOf(), { callback_url });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(says)]);
    expect(await agent()).toMatchObject({ url: null, last_heartbeat_at: null });
    expect(heard()).toEqual([]);
  });
});

describe('what a heartbeat says', () => {
  test('a URL without end is refused', async () => {
    expect((await beat(await tokenOf(), { callback_url: `https://192.0.2.5/${'a'.repeat(2_000)}` })).status).toBe(400);
  });

  test('a name that resolves inside the networks will do, and so does none for an installer without commands', async () => {
    const token = await tokenOf();
    expect((await beat(token, { callback_url: '', agent_status: 'start' })).status).toBe(202);
    expect(await agent()).toMatchObject({ url: null, status: 'start', last_heartbeat_at: expect.any(Date) });
    expect((await beat(token, { callback_url: 'https://inside.example.org' })).status).toBe(202);
    expect(await agent()).toMatchObject({ url: 'https://inside.example.org', status: 'start' });
  });

  test('where it listens and what it shows is said once', async () => {
    const token = await tokenOf();
    const [first, second] = [await certificate(), await certificate()];
    expect((await beat(token, { agent_verify_ca: first.slice(0, 200) })).status).toBe(400);
    expect((await beat(token, { agent_verify_ca: first })).status).toBe(202);
    const moved = await beat(token, { callback_url: 'https://192.0.2.6:9999' });
    const swapped = await beat(token, { agent_verify_ca: second });
    expect([moved.status, swapped.status]).toEqual([400, 400]);
    expect((await beat(token)).status).toBe(202);
    expect(await agent()).toMatchObject({ url: 'https://192.0.2.5:9999', verify_ca: first });
  });

  test('of two that say it first at once, one is heard', async () => {
    const token = await tokenOf();
    const urls = ['https://192.0.2.5:9999', 'https://192.0.2.5:9998'];
    const replies = await Promise.all(urls.map((callback_url) => beat(token, { callback_url })));
    const heardAt = urls.filter((_url, index) => replies[index]!.status === 202);
    expect(heardAt).toEqual([(await agent())!.url]);
  });

  test('a status is kept, its message masked and cut', async () => {
    const token = await tokenOf();
    const message = `failed: password=hunter2 ${'x'.repeat(5_000)}`;
    await beat(token, { agent_status: 'error', agent_status_message: message });
    const { status, status_message } = (await agent())!;
    expect(status).toBe('error');
    expect(status_message).toMatch(/^failed: password=\*{6} x+$/);
    expect(status_message.length).toBeLessThanOrEqual(1_000);
    expect((await beat(token, { agent_status: 'bored' })).status).toBe(400);
    expect((await beat(token, { agent_status: 'error', agent_status_message: 'no\0disk' })).status).toBe(202);
    expect((await agent())!.status_message).toBe('no\ufffddisk');
  });

  test.each([
    [21, {}, 404],
    [35, {}, 400],
    [36, {}, 202],
    [67, { agent_verify_ca: 'x' }, 400],
    [71, { agent_status: 'end' }, 400],
    [71, { agent_status_message: 'hello' }, 400],
    [72, { agent_status: 'end', agent_status_message: 'hello' }, 202],
    [115, { agent_version: undefined }, 400],
    [115, { colour: 'red' }, 400],
  ])('at 1.%s with %j it is %s', async (minor, more, status) => {
    const reply = await beat(await tokenOf(), more, { minor });
    expect(reply.status).toBe(status);
  });

  test.each([
    ['clean wait', true, true],
    ['service wait', true, true],
    ['cleaning', true, true],
    ['manageable', true, true],
    ['active', false, false],
    ['clean failed', false, false],
    ['deleting', false, false],
  ])('in state %s it counts: %s', async (provision_state, written, told) => {
    const token = await tokenOf();
    await set({ provision_state });
    expect((await beat(token)).status).toBe(202);
    expect((await agent())!.last_heartbeat_at !== null).toBe(written);
    expect(heard().length > 0).toBe(told);
  });

  test('in maintenance, and where no run holds the node, it is only written down', async () => {
    const token = await tokenOf();
    await set({ maintenance: true });
    expect((await beat(token)).status).toBe(202);
    await set({ maintenance: false, reservation: null });
    expect((await beat(token)).status).toBe(202);
    expect(await agent()).toMatchObject({ last_heartbeat_at: expect.any(Date) });
    expect(heard()).toEqual([]);
  });

  test('where TLS is not required, http will do', async () => {
    const lax = await startTestApi({ settings: { agentRequireTls: false, bmcNetworks: ['127.0.0.0/8'] } });
    try {
      const { body } = await lax.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } });
      await lax.sql`update nodes set provision_state = 'cleaning'`;
      await bootRamdisks(lax.sql, body.uuid);
      const { agent_token } = (await lax.as(null, 'GET', `/v1/lookup?node_uuid=${body.uuid}`)).body.config;
      const at = (callback_url: string) =>
        lax.as(null, 'POST', `/v1/heartbeat/${body.uuid}`, { body: { callback_url, agent_token, agent_version: '1' } });
      expect((await at('http://198.51.100.1')).status).toBe(400); // without networks of its own, those of the BMCs
      expect((await at('http://127.0.0.1')).status).toBe(202);
    } finally {
      await lax.close();
    }
  });
});

describe('of a boot there is one ramdisk', () => {
  const from = (address: string, query = `addresses=${mac}`) => ask('GET', `/v1/lookup?${query}`, {}, address);
  const beatFrom = (address: string, agent_token: string, host = address) =>
    ask(
      'POST',
      `/v1/heartbeat/${n1}`,
      { body: { callback_url: `https://${host}:9999`, agent_token, agent_version: '10.0.0' } },
      address,
    );
  const node = async () => (await api.sql`select * from nodes where uuid = ${n1}`)[0]!;
  const boot = async () => (await api.sql`select * from ramdisk_boots where node_uuid = ${n1}`)[0];
  const lost = {
    maintenance: true,
    fault: 'ramdisk conflict',
    maintenance_reason: expect.stringContaining('Two ramdisks'),
  };

  test('who asks before the run has powered the node on gets nothing, and learns no more than of an unknown node', async () => {
    await api.sql`delete from ramdisk_boots`;
    const [early, unheard] = [await from('192.0.2.66'), await from('192.0.2.66', 'addresses=52:54:00:00:00:99')];
    expect([early.status, faultOf(early).replace(mac, '')]).toEqual([404, faultOf(unheard).replace(/[\d:]{17}/, '')]);
    expect(await agent()).toBeUndefined();
    await bootRamdisks(api.sql, n1);
    expect((await lookUp()).body.config.agent_token).toMatch(/^[\w-]{32,}$/);
    expect(await node()).toMatchObject({ maintenance: false, fault: null });
  });

  test('the boot of another run is none', async () => {
    await set({ reservation: '44444444-4444-4444-8444-444444444444' });
    expect((await lookUp()).status).toBe(404);
    expect(await agent()).toBeUndefined();
  });

  test('a lookup from another address while the token is out: maintenance with a fault, and the run learns of it', async () => {
    const token = await tokenOf();
    expect((await beat(token)).status).toBe(202);
    Object.assign(api.runs, { contacts: [] });
    expect((await from('192.0.2.66')).status).toBe(404);
    expect(await node()).toMatchObject(lost);
    expect(await boot()).toMatchObject({ address: home, conflict: '192.0.2.66' });
    expect(heard()).toContainEqual({ node: n1, kind: 'heartbeat' });
    // Neither of the two is answered from now on.
    expect([(await beat(token)).status, (await lookUp()).status, (await from('192.0.2.66')).status]).toEqual([
      409, 404, 404,
    ]);
    const said = await api.sql`select data from events where node_uuid = ${n1} and kind = 'node.ramdisk_conflict'`;
    expect(said).toHaveLength(1);
  });

  test('the impostor that was first is found out by the ramdisk that comes second', async () => {
    const token = (await from('192.0.2.66')).body.config.agent_token;
    expect((await beatFrom('192.0.2.66', token)).status).toBe(202);
    expect((await lookUp()).status).toBe(404);
    expect((await beatFrom('192.0.2.66', token)).status).toBe(409);
    expect(await node()).toMatchObject(lost);
  });

  test('a heartbeat that bears the token from another address is a second ramdisk; one without it is refused alone', async () => {
    const token = await tokenOf();
    expect((await beatFrom('192.0.2.66', 'x'.repeat(43))).status).toBe(400);
    expect(await node()).toMatchObject({ maintenance: false, fault: null });
    expect((await beatFrom('192.0.2.66', token)).status).toBe(409);
    expect(await node()).toMatchObject(lost);
    expect(await agent()).toMatchObject({ url: null });
  });

  test('what an inspection finds binds the address too', async () => {
    await set({ provision_state: 'inspect wait' });
    const found = { inventory: { interfaces: [{ mac_address: mac }] } };
    const send = (address: string) => ask('POST', '/v1/continue_inspection', { body: found, minor: 1 }, address);
    await api.sql`delete from ramdisk_boots`;
    expect((await send(home)).status).toBe(503); // the ramdisk offers it again after that alone
    await bootRamdisks(api.sql, n1);
    expect((await send(home)).status).toBe(202);
    expect((await from('192.0.2.66')).status).toBe(404);
    expect(await node()).toMatchObject(lost);
  });

  test('the maintenance of an operator keeps its reason', async () => {
    await tokenOf();
    await set({ maintenance: true, maintenance_reason: 'new fans' });
    await from('192.0.2.66');
    expect(await node()).toMatchObject({
      maintenance: true,
      maintenance_reason: 'new fans',
      fault: 'ramdisk conflict',
    });
  });

  test.each([
    ['192.0.2.5', '::ffff:192.0.2.5', '[::ffff:192.0.2.5]'],
    ['::ffff:192.0.2.5', '192.0.2.5', '192.0.2.5'],
    ['fd00::5', 'fd00:0:0::5', '[fd00:0000::5]'],
  ])('%s, %s and %s are one address', async (first, second, host) => {
    const lax = await startTestApi({ settings: { trustedProxies: ['127.0.0.0/8'] } });
    try {
      const { body } = await lax.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } });
      await lax.sql`update nodes set provision_state = 'clean wait'`;
      await bootRamdisks(lax.sql, body.uuid);
      const asked = (address: string, method: string, path: string, given?: object) =>
        lax.as(null, method, path, { body: given, headers: { 'x-forwarded-for': address } });
      const { agent_token } = (await asked(first, 'GET', `/v1/lookup?node_uuid=${body.uuid}`)).body.config;
      const beaten = await asked(second, 'POST', `/v1/heartbeat/${body.uuid}`, {
        callback_url: `https://${host}:9999`,
        agent_token,
        agent_version: '1',
      });
      expect([beaten.status, beaten.text]).toEqual([202, '']);
    } finally {
      await lax.close();
    }
  });
});

describe('inspection', () => {
  const found = {
    inventory: { interfaces: [{ mac_address: mac, name: 'eth0' }], cpu: { count: 8 }, bmc_address: '198.51.100.1' },
    root_disk: { name: '/dev/sda' },
  };
  const send = (body: unknown = found, { query = '', minor }: { query?: string; minor?: number } = {}) =>
    ask('POST', `/v1/continue_inspection${query}`, { body, minor });
  beforeEach(() => set({ provision_state: 'inspect wait' }));

  test('what a ramdisk found is stored, its run is notified, and the ramdisk learns its node', async () => {
    const reply = await send();
    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({
      node: { uuid: n1 },
      config: { agent_token: expect.stringMatching(/^[\w-]{32,}$/) },
    });
    expect(await api.inventory.details.inventory(n1)).toMatchObject({
      inventory: found.inventory,
      plugin_data: { root_disk: { name: '/dev/sda' } },
    });
    expect(heard()).toEqual([{ node: n1, kind: 'inspection' }]);
  });

  test('1.1 has a form of its own, and between it and 1.84 there is none', async () => {
    expect((await send(found, { minor: 1 })).body).toEqual({ uuid: n1 });
    expect((await send(found, { minor: 83 })).status).toBe(404);
    expect((await send(found, { minor: 84 })).body.node.uuid).toBe(n1);
  });

  test('a node without ports is known by its BMC, if that is one node’s alone', async () => {
    await api.sql`delete from ports`;
    expect((await send()).body.node.uuid).toBe(n1);
    const other = { inventory: { ...found.inventory, bmc_address: '198.51.100.77' } };
    expect((await send(other)).status).toBe(404);
    for (const bmc_address of ['0.0.0.0', '', null, 'nonsense'])
      expect((await send({ inventory: { ...found.inventory, bmc_address } })).status).toBe(404);
    await set({ provision_state: 'inspecting', driver_info: { redfish_address: 'https://198.51.100.1/b' } }, n2);
    expect((await send()).status).toBe(404);
  });

  test('neither its uuid nor its BMC stands in for the ports of a node that has some', async () => {
    const stranger = { inventory: { ...found.inventory, interfaces: [{ mac_address: '52:54:00:00:00:99' }] } };
    for (const query of ['', `?node_uuid=${n1}`]) expect((await send(stranger, { query })).status).toBe(404);
    expect(await agent()).toBeUndefined();
    await api.sql`delete from ports where node_uuid = ${n1}`;
    expect((await send(stranger, { query: `?node_uuid=${n1}` })).status).toBe(202);
  });

  test('texts that no store takes are replaced', async () => {
    const odd = { ...found, serial: 'A\0B', 'ke\0y': '\ud800' };
    expect((await send(odd)).status).toBe(202);
    expect((await api.inventory.details.inventory(n1))!.plugin_data).toMatchObject({
      serial: 'A\ufffdB',
      'ke\ufffdy': '\ufffd',
    });
  });

  test('a ramdisk has at most 128 interfaces', async () => {
    const many = (count: number) => ({
      inventory: { interfaces: Array.from({ length: count }, () => ({ mac_address: mac })) },
    });
    expect((await send(many(129))).status).toBe(400);
    expect((await send(many(128))).status).toBe(202);
  });

  test('by its uuid, but not with the address of another node', async () => {
    expect((await send(found, { query: `?node_uuid=${n1}` })).status).toBe(202);
    expect((await send(found, { query: `?node_uuid=${n2}` })).status).toBe(404);
    await set({ provision_state: 'inspect wait' }, n2);
    expect((await send(found, { query: `?node_uuid=${n2}` })).status).toBe(404);
    expect(await api.inventory.details.inventory(n2)).toBeUndefined();
  });

  test.each([
    [{ provision_state: 'manageable' }],
    [{ provision_state: 'clean wait' }],
    [{ provision_state: 'inspect failed' }],
    [{ inspect_interface: 'redfish' }],
  ])('with %j no run waits for it, and the answer is that of an unknown node', async (columns) => {
    await set(columns);
    const reply = await send();
    expect([reply.status, faultOf(reply)]).toEqual([404, `Node ${mac} could not be found.`]);
    expect(await api.inventory.details.inventory(n1)).toBeUndefined();
    expect(heard()).toEqual([]);
  });

  test('in maintenance it is only written down', async () => {
    await set({ maintenance: true });
    expect((await send()).status).toBe(202);
    expect(await api.inventory.details.inventory(n1)).toBeDefined();
    expect(heard()).toEqual([]);
  });

  test.each([
    [null],
    [[]],
    [{}],
    [{ inventory: {} }],
    [{ inventory: { interfaces: [] } }],
    [{ inventory: { interfaces: [{ name: 'eth0' }] } }],
    [{ inventory: { interfaces: 'eth0' } }],
    [{ inventory: { interfaces: [{ mac_address: mac }], bmc_address: 7 } }],
  ])('%j is no inventory', async (body) => expect((await send(body)).status).toBe(400));

  test('it may be larger than other requests, and not without end', async () => {
    const padded = (bytes: number) => ({ ...found, logs: 'x'.repeat(bytes) });
    expect((await send(padded(2 * 1024 * 1024))).status).toBe(202);
    expect((await send(padded(17 * 1024 * 1024))).status).toBe(413);
    expect((await beat('x', { agent_status_message: 'x'.repeat(2 * 1024 * 1024) })).status).toBe(413);
  });
});

describe('what becomes of a token', () => {
  let control: Sql;
  afterAll(() => control?.end({ timeout: 1 }));

  test('it is kept while the ramdisk is, and goes with the next sweep', async () => {
    await tokenOf();
    const { url } = await controlUrl();
    control = connect(url, { max: 1 });
    const { secrets, agents } = createInventory(control);
    const tokens = async () =>
      (await api.sql`select 1 from secrets where holder = 'agent' and holder_id = ${n1}`).length;
    await secrets.sweep();
    expect(await tokens()).toBe(1);
    await agents.forget(n1);
    await secrets.sweep();
    expect(await tokens()).toBe(0);
  });

  // The database is the API's own; another role sees the same.
  const controlUrl = async (): Promise<{ url: string }> => {
    const [{ name }] = (await api.sql`select current_database() as name`) as unknown as [{ name: string }];
    const url = new URL(process.env.TEMPER_TEST_DATABASE_URL!);
    url.pathname = `/${name}`;
    Object.assign(url, { username: 'temper_control', password: process.env.TEMPER_TEST_ROLE_PASSWORD });
    return { url: url.href };
  };
});

describe('an emulated ramdisk', () => {
  const until = async (met: () => Promise<boolean>): Promise<void> => {
    while (!(await met())) await new Promise((resolve) => setTimeout(resolve, 25));
  };

  test.each([
    ['clean wait', false],
    ['inspect wait', true],
  ])('in %s it looks itself up and is heard; it is inspected: %s', async (provision_state, inspected) => {
    const local = await startTestApi({ settings: { agentNetworks: ['127.0.0.0/8'] } });
    const agents = await createAgents({ apiUrl: local.url, timing: { bootMs: 1, lookupRetryMs: 20 } });
    try {
      const { body } = await local.as('operator', 'POST', '/v1/nodes', {
        body: { driver: 'fake-hardware', inspect_interface: 'agent' },
      });
      await local.as('operator', 'POST', '/v1/ports', { body: { node_uuid: body.uuid, address: mac } });
      await local.sql`update nodes set ${local.sql({ provision_state, reservation: run })}`;
      await bootRamdisks(local.sql, body.uuid);
      agents.boot({ macs: [mac] });
      const agentOf = () => local.inventory.agents.find(body.uuid);
      await until(async () => typeof (await agentOf())?.url === 'string');
      expect(await agentOf()).toMatchObject({
        url: expect.stringContaining(agents.url),
        verify_ca: expect.stringContaining('BEGIN CERTIFICATE'),
        version: expect.any(String),
      });
      expect((await local.inventory.details.inventory(body.uuid)) !== undefined).toBe(inspected);
    } finally {
      await agents.close();
      await local.close();
    }
  });
});
