/** Emulated ramdisks as the API sees them: lookup, token, heartbeats, inspection, and their end. */
import { type AgentsOptions, createAgents } from '../../emulator/agent';
import { type RamdiskApi, startRamdiskApi } from '../support/ramdisk-api';

const mac = '02:00:00:00:01:01';
let api: RamdiskApi;
const closing: { close(): Promise<unknown> }[] = [];
beforeEach(async () => {
  api = await startRamdiskApi();
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
  await api.close();
});

const quick = { bootMs: 0, lookupRetryMs: 5, beatRetryMs: 5, stepMs: 20, imageMs: 5, bootloaderMs: 5, powerOffMs: 5 };
const start = async ({ timing, ...options }: Partial<AgentsOptions> = {}) => {
  const agents = await createAgents({
    apiUrl: api.url,
    inspects: false,
    tls: false,
    ...options,
    timing: { ...quick, ...timing },
  });
  closing.push(agents);
  return agents;
};

/** A request to a ramdisk as its node's worker would make it. */
const ask = async (callback: string, path: string, token?: string | null, body?: unknown) => {
  const query = token ? `${path.includes('?') ? '&' : '?'}agent_token=${token}` : '';
  const answer = await fetch(`${callback}${path}${query}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, never> };
};

describe('lookup', () => {
  test('goes on until the API knows the machine, locked or not', async () => {
    api.instead.lookup = [409, 500, 404];
    const agents = await start();
    agents.boot({ macs: [mac, '02:00:00:00:01:02'] });
    await api.lookup(4);
    const uuid = api.know(mac);
    const { body } = await api.beat(({ node }) => node === uuid);
    expect(api.lookups[0]).toBe('?addresses=02%3A00%3A00%3A00%3A01%3A01%2C02%3A00%3A00%3A00%3A01%3A02');
    expect(body).toMatchObject({ agent_token: api.tokenOf(mac), agent_version: expect.any(String) });
    expect(body.callback_url).toContain(agents.url);
  });

  test('finds a node without ports by its uuid', async () => {
    const uuid = api.know('nothing');
    const agents = await start();
    agents.boot({ macs: [], nodeUuid: uuid });
    await api.beat(({ node }) => node === uuid);
    expect(agents.list()).toMatchObject([{ state: 'serving', node_uuid: uuid }]);
  });

  test('that is given no token leaves the ramdisk locked: it neither beats nor serves', async () => {
    const uuid = api.know(mac);
    const agents = await start();
    agents.boot({ macs: [mac] });
    const { body } = await api.beat(({ node }) => node === uuid);
    const beats = api.beats.length;
    agents.boot({ macs: [mac] });
    await api.lookup(2);
    while (agents.list()[0]?.state !== 'locked') await new Promise(setImmediate);
    await expect(ask(body.callback_url!, '/v1/status')).rejects.toThrow();
    expect(api.beats).toHaveLength(beats);
  });
});

describe('heartbeats', () => {
  test('come again within the time the API allows, and soon after a refusal', async () => {
    api.heartbeatTimeout = 0.05;
    api.instead.heartbeat = [409, 503];
    const uuid = api.know(mac);
    const agents = await start();
    agents.boot({ macs: [mac] });
    await api.beat(() => api.beats.filter(({ node }) => node === uuid).length >= 5);
    expect(agents.list()).toMatchObject([{ state: 'serving' }]);
  });

  test('come at once when a command has finished', async () => {
    const uuid = api.know(mac);
    const agents = await start();
    agents.boot({ macs: [mac] });
    const { body } = await api.beat(({ node }) => node === uuid);
    const step = { interface: 'deploy', step: 'erase_devices' };
    const params = { step, node: {}, ports: [] };
    await ask(body.callback_url!, '/v1/commands/?wait=false', body.agent_token, {
      name: 'clean.execute_clean_step',
      params,
    });
    // The API allows five minutes.
    await api.beat(() => api.beats.length === 2);
    expect(agents.journal({ destructive: true })).toMatchObject([
      { step: 'deploy.erase_devices', status: 'SUCCEEDED' },
    ]);
  });

  test('carry the certificate that the ramdisk shows', async () => {
    const uuid = api.know(mac);
    const agents = await start({ tls: true });
    agents.boot({ macs: [mac] });
    const { body } = await api.beat(({ node }) => node === uuid);
    expect(body.callback_url).toMatch(/^https:/);
    expect(body.agent_verify_ca).toContain('BEGIN CERTIFICATE');
  });

  test('can be replayed and carry a wrong token, when asked to', async () => {
    const uuid = api.know(mac);
    const agents = await start();
    agents.fault(mac, { kind: 'wrong-beat-token' });
    agents.fault(mac, { kind: 'replayed-beat' });
    agents.boot({ macs: [mac] });
    await api.beat(({ node, body }) => node === uuid && body.agent_token === api.tokenOf(mac));
    const [first, second] = api.beats;
    expect(first!.body.agent_token).not.toBe(api.tokenOf(mac));
    expect(second!.body).toEqual(first!.body);
  });
});

describe('commands', () => {
  const served = async (options: Partial<AgentsOptions> = {}) => {
    const uuid = api.know(mac);
    const agents = await start(options);
    agents.boot({ macs: [mac] });
    const { body } = await api.beat(({ node }) => node === uuid);
    const send = (name: string, params: object = {}, wait = false) =>
      ask(body.callback_url!, `/v1/commands/?wait=${wait}`, body.agent_token, { name, params });
    return { agents, send, callback: body.callback_url!, token: body.agent_token! };
  };
  const erase = { step: { interface: 'deploy', step: 'erase_devices' }, node: {}, ports: [] };

  test('need the token, which the status does not', async () => {
    const { callback, agents } = await served();
    expect(await ask(callback, '/v1/commands/')).toMatchObject({ status: 401, body: { faultcode: 'Client' } });
    expect(await ask(callback, '/v1/commands/', 'wrong')).toMatchObject({ status: 401 });
    expect(await ask(callback, '/v1/commands/', null, { name: 'standby.sync', params: {} })).toMatchObject({
      status: 401,
    });
    expect(await ask(callback, '/v1/status')).toMatchObject({ status: 200, body: { started_at: expect.any(Number) } });
    expect(agents.journal()).toEqual([]);
  });

  test('run one at a time; another one is answered that the ramdisk is busy', async () => {
    // Long enough that the second command meets the first on a busy machine too.
    const { send, agents } = await served({ timing: { stepMs: 5_000 } });
    const first = await send('clean.execute_clean_step', erase);
    expect(first.body).toMatchObject({
      command_name: 'execute_clean_step',
      command_status: 'RUNNING',
      command_result: null,
    });
    expect(await send('standby.sync')).toMatchObject({
      status: 409,
      body: { faultstring: expect.stringMatching(/busy/) },
    });
    await api.beat(() => api.beats.length === 2);
    expect(await send('standby.sync')).toMatchObject({ status: 200, body: { command_status: 'SUCCEEDED' } });
    expect(agents.journal().map(({ command }) => command)).toEqual(['clean.execute_clean_step', 'standby.sync']);
  });

  test('are listed and found by id, and waited for when asked', async () => {
    const { send, callback, token } = await served();
    const { body } = await send('clean.execute_clean_step', erase, true);
    expect(body).toMatchObject({ command_status: 'SUCCEEDED', command_result: { clean_step: erase.step } });
    expect((await ask(callback, '/v1/commands/', token)).body).toEqual({ commands: [body] });
    expect((await ask(callback, `/v1/commands/${body.id}`, token)).body).toEqual(body);
    expect(await ask(callback, '/v1/commands/none', token)).toMatchObject({ status: 404 });
  });

  test.each([
    ['clean.no_such', {}, 400],
    ['nothing.at_all', {}, 404],
    ['standby.prepare_image', { image_info: { id: 'x', urls: ['http://x'] } }, 400],
  ])('%s with %j is not taken', async (name, params, status) => {
    const { send, agents } = await served();
    expect(await send(name, params)).toMatchObject({ status });
    expect(agents.journal()).toEqual([]);
  });

  test('of other versions end as a mismatch', async () => {
    const { send } = await served();
    const { body } = await send('clean.execute_clean_step', { ...erase, clean_version: { other: '9' } }, true);
    expect(body).toMatchObject({
      command_status: 'CLEAN_VERSION_MISMATCH',
      command_error: { type: 'VersionMismatch' },
    });
  });

  test('that shut the machine down end the ramdisk', async () => {
    const told: unknown[] = [];
    const { send, callback, agents } = await served({ onPower: (machine, what) => told.push([machine.macs[0], what]) });
    await send('standby.power_off');
    while (told.length === 0) await new Promise(setImmediate);
    expect(told).toEqual([[mac, 'off']]);
    expect(agents.list()).toMatchObject([{ state: 'down' }]);
    await expect(ask(callback, '/v1/status')).rejects.toThrow();
  });

  test('that were running when the power went never end', async () => {
    const { send, agents } = await served({ timing: { stepMs: 60_000 } });
    await send('clean.execute_clean_step', erase);
    agents.powerLost(mac);
    expect(agents.journal()).toMatchObject([{ status: null }]);
    expect(agents.list()).toEqual([]);
  });
});

describe('an endless machine', () => {
  test('boots again when it has been shut down, or is turned away for good', async () => {
    const uuid = api.know(mac);
    const agents = await start({ timing: { beatMs: 10 } });
    agents.boot({ macs: [mac], endless: true });
    await api.beat(({ node }) => node === uuid);
    const old = api.tokenOf(mac);
    api.forgetToken(mac);
    await api.beat(({ body }) => body.agent_token !== old);
    expect(api.tokenOf(mac)).not.toBe(old);
  });
});

describe('inspection', () => {
  test('offers what the machine consists of before the lookup', async () => {
    const uuid = api.know(mac);
    api.instead.continue_inspection = 202;
    const agents = await start({ inspects: true });
    agents.boot({ macs: [mac], bootMode: 'bios', bmcAddress: '192.0.2.1' });
    await api.beat(({ node }) => node === uuid);
    expect(api.lookups.at(-1)).toContain(`node_uuid=${uuid}`);
    expect(api.inspections).toMatchObject([
      {
        inventory: {
          interfaces: [{ mac_address: mac }],
          bmc_address: '192.0.2.1',
          boot: { current_boot_mode: 'bios' },
          memory: { physical_mb: 65_536 },
        },
      },
    ]);
  });

  test('that no caller waits for does not keep it from its work', async () => {
    const uuid = api.know(mac);
    const agents = await start({ inspects: true });
    agents.boot({ macs: [mac] });
    await expect(api.beat(({ node }) => node === uuid)).resolves.toBeDefined();
  });
});

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

test('a thousand machines call back from one process', async () => {
  const macs = Array.from({ length: 1_000 }, (_, index) => `02:00:00:01:${hex(index >> 8)}:${hex(index & 255)}`);
  for (const one of macs) api.know(one);
  const agents = await start({ tls: true, timing: { lookupRetryMs: 100 } });
  for (const one of macs) agents.boot({ macs: [one] });
  await api.beat(() => api.beats.length >= 1_000 && new Set(api.beats.map(({ node }) => node)).size === 1_000);
  expect(agents.list().every(({ state }) => state === 'serving')).toBe(true);
});
