/** The ramdisk's protocol from its other side: the real ramdisk's API client, and how it puts commands on the wire. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAgents } from '../../emulator/agent';
import { makeCertificate } from '../../emulator/agent/certificate';
import { createAgentActs } from '../../src/bmc/agent';
import { contextWith, intentsOf, nodeWith, quiet } from '../bmc/support/context';
import { inStep } from '../bmc/support/ramdisk';
import { startTestApi, type TestApi } from '../support/api';
import { clientCommand, clientsMissing } from '../support/clients';
import { suiteOf } from '../support/found';
import { judge } from '../support/python';
import { startRamdiskApi } from '../support/ramdisk-api';
import { bootRamdisks } from '../support/ramdisk-boots';

const whenThere = suiteOf('the real ramdisk', clientsMissing());

type Wire = Record<string, unknown>;
type Shapes = { commands: Record<string, Wire>; busy: { status: number; text: string } };

const shapes = async (): Promise<Shapes> => {
  const { stdout } = await promisify(execFile)(clientCommand('python'), [join(__dirname, 'ramdisk_shapes.py')]);
  return JSON.parse(stdout) as Shapes;
};

const typesOf = (value: Wire): Record<string, string> =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inner === null ? 'null' : typeof inner]));

whenThere('the real ramdisk', () => {
  let real: Shapes;
  beforeAll(async () => {
    real = await shapes();
  });

  /** Plays a ramdisk that lists its steps and then shows one command as the real one would. */
  const play = async (shown: Wire) => {
    const posted: { name: string; params: Wire }[] = [];
    const server = createServer(async (req, res) => {
      let text = '';
      for await (const chunk of req) text += chunk;
      const path = (req.url ?? '').replace(/\?.*$/, '');
      const post = () => {
        const command = JSON.parse(text) as (typeof posted)[number];
        posted.push(command);
        return command.name.includes('.get_') ? real.commands.steps : real.commands.running;
      };
      const known: Record<string, () => unknown> = {
        'GET /v1/status': () => ({ started_at: 1.5, version: '13.0.0' }),
        'GET /v1/commands/': () => ({ commands: [] }),
        'POST /v1/commands/': post,
      };
      const answer = known[`${req.method} ${path}`] ?? (() => ({ ...shown, id: path.split('/').at(-1) }));
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify(answer()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const agent = { url, token: 't'.repeat(43), version: null, verify_ca: null };
    const { agent_step } = createAgentActs({ log: quiet, networks: [] });
    try {
      const node = { ...nodeWith('redfish', {}), agent };
      const ending = agent_step!(node, {}, contextWith(intentsOf('agent_step'), inStep('erase_devices')));
      return {
        posted,
        ended: await ending.then(
          (outcome) => ({ outcome }),
          (error: unknown) => ({ error }),
        ),
      };
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };

  test('shows a step that ended well so that we see it', async () => {
    const { posted, ended } = await play(real.commands.succeeded!);
    expect(ended).toMatchObject({ outcome: { is: 'done' } });
    expect(posted.map(({ name }) => name)).toEqual(['clean.get_clean_steps', 'clean.execute_clean_step']);
    expect(posted[1]!.params).toMatchObject({ clean_version: { generic_hardware_manager: '1.2' } });
  });

  test.each([
    ['failed', /the disk is on fire/],
    ['mismatch', /start again/],
  ])('shows one that %s so that we say why', async (shape, says) => {
    const { ended } = await play(real.commands[shape]!);
    expect(ended).toMatchObject({ error: { code: 'StepRejected', message: expect.stringMatching(says) } });
  });

  test('puts commands on the wire as the emulated one does', async () => {
    const api = await startRamdiskApi();
    const mac = '02:00:00:00:02:01';
    const uuid = api.know(mac);
    const agents = await createAgents({
      apiUrl: api.url,
      tls: false,
      inspects: false,
      timing: { bootMs: 0, stepMs: 60_000 },
    });
    try {
      agents.boot({ macs: [mac] });
      const { body } = await api.beat(({ node }) => node === uuid);
      const send = async (name: string, params: Wire) => {
        const url = `${body.callback_url}/v1/commands/?wait=false&agent_token=${body.agent_token}`;
        const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ name, params }) });
        return { status: answer.status, body: (await answer.json()) as Wire };
      };
      const steps = await send('clean.get_clean_steps', { node: {}, ports: [] });
      expect(typesOf(steps.body)).toEqual(typesOf(real.commands.steps!));
      expect(Object.keys(steps.body.command_result as Wire)).toEqual(
        Object.keys(real.commands.steps!.command_result as Wire),
      );
      expect((await send('standby.sync', {})).body).toMatchObject({
        ...real.commands.nothing!,
        id: expect.any(String),
      });
      const step = { interface: 'deploy', step: 'erase_devices' };
      const running = await send('clean.execute_clean_step', { step, node: {}, ports: [] });
      expect(running.body).toMatchObject({ ...real.commands.running!, id: expect.any(String) });
      const busy = await send('standby.sync', {});
      expect(busy.status).toBe(real.busy.status);
      expect(busy.body.faultstring).toBe(real.busy.text);
    } finally {
      await agents.close();
      await api.close();
    }
  });

  const walk = async (url: string, mac: string, uuid: string) => {
    const { cert } = await makeCertificate('127.0.0.1');
    const args = ['--mac', mac, '--uuid', uuid, '--certificate', cert, url];
    const { failed, output } = await judge(join(__dirname, 'ramdisk_walk.py'), args);
    expect({ failed, output: failed === 0 ? '' : output }).toEqual({ failed: 0, output: '' });
  };

  test('finds in our stand-in for the API what it expects of one', async () => {
    const api = await startRamdiskApi();
    const mac = '02:00:00:00:02:02';
    try {
      await walk(api.url, mac, api.know(mac));
    } finally {
      await api.close();
    }
  });

  test('finds in the API itself what it expects', async () => {
    const api = await startTestApi({ settings: { agentNetworks: ['127.0.0.0/8'] } });
    try {
      const mac = '02:00:00:00:02:03';
      await walk(api.url, mac, await waitingNode(api, mac));
    } finally {
      await api.close();
    }
  });
});

/** A node that waits for its ramdisk, with a port of this address. */
const waitingNode = async (api: TestApi, address: string): Promise<string> => {
  const { body } = await api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } });
  await api.as('operator', 'POST', '/v1/ports', { body: { address, node_uuid: body.uuid } });
  await api.sql`update nodes set provision_state = 'clean wait' where uuid = ${body.uuid}`;
  await bootRamdisks(api.sql, body.uuid);
  return body.uuid;
};

test('emulated ramdisks find in the API itself what they expect', async () => {
  const api = await startTestApi({ settings: { agentNetworks: ['127.0.0.0/8'] } });
  const agents = await createAgents({ apiUrl: api.url, timing: { bootMs: 0, lookupRetryMs: 20 } });
  try {
    const mac = '02:00:00:00:02:04';
    const uuid = await waitingNode(api, mac);
    agents.boot({ macs: [mac] });
    let url: string | undefined;
    while (!url) {
      [{ url } = { url: undefined }] = await api.sql<
        { url: string }[]
      >`select url from agents where node_uuid = ${uuid} and url is not null`;
    }
    expect(url).toContain(agents.url);
    expect(agents.list()).toMatchObject([{ state: 'serving', node_uuid: uuid }]);
  } finally {
    await agents.close();
    await api.close();
  }
});
