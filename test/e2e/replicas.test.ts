/** Several API processes behind a balancer, and the upgrade of a running system as docs/production.md has it. */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../../demo/nodes';
import type { Json } from '../../demo/system';
import { endAll, run, start } from '../bin/support/entries';
import { withinMs } from './support/nodes';
import { environmentsOf, secondApi } from './support/persona-api';
import { type System, startSystem } from './support/system';

jest.setTimeout(400_000);

const root = join(__dirname, '../..');

// Callers have addresses of their own: all of 127/8 is this machine on Linux, and only the balancer's is trusted.
const balancerAt = '127.0.0.1';
const [alice, bob] = ['127.0.0.2', '127.0.0.3'];
const token = randomBytes(16).toString('hex');
const perMinute = 3;

let system: System;
let replicas: Balancer;
let limited: Balancer;

type Answer = { readonly status: number; readonly servedBy: string; readonly id: string; readonly body: Json };
type Asked = { readonly from?: string; readonly as?: string | null; readonly body?: object; readonly key?: string };
type Balancer = { readonly url: string; readonly server: Server };

/** Passes requests on to each in turn, as docs/production.md wants it of a proxy. */
const balance = async (targets: readonly string[]): Promise<Balancer> => {
  let served = 0;
  const server = createServer((asked, answer) => {
    const at = served++ % targets.length;
    const headers = { ...asked.headers, 'x-forwarded-for': asked.socket.remoteAddress, 'x-forwarded-proto': 'http' };
    const onward = request(`${targets[at]}${asked.url}`, { method: asked.method, headers, localAddress: balancerAt });
    onward.on('response', (reply) => {
      answer.writeHead(reply.statusCode!, { ...reply.headers, 'x-served-by': String(at) });
      reply.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  server.listen(0, balancerAt);
  await once(server, 'listening');
  return { server, url: `http://${balancerAt}:${(server.address() as AddressInfo).port}` };
};

beforeAll(async () => {
  system = await startSystem(1);
  const tokens = join(dirname(system.data), 'tokens.yaml');
  const operator = { user: 'operator', token, roles: ['admin'], system: 'all' };
  writeFileSync(tokens, JSON.stringify({ tokens: [operator] }), { mode: 0o600 });
  const settings = {
    TEMPER_AUTH_STRATEGY: 'static_tokens',
    TEMPER_TOKENS_FILE: tokens,
    TEMPER_TRUSTED_PROXIES: `${balancerAt}/32`,
  };
  const pairOf = (more: object) => Promise.all([0, 1].map(() => secondApi(system, { ...settings, ...more })));
  replicas = await balance(await pairOf({}));
  limited = await balance(await pairOf({ TEMPER_RATE_LIMIT_PER_MINUTE: String(perMinute) }));
});
afterAll(async () => {
  for (const one of [replicas, limited]) one?.server.closeAllConnections();
  for (const one of [replicas, limited]) one?.server.close();
  await endAll();
  await system?.stop();
});

const opened = async (
  { url }: Balancer,
  method: string,
  path: string,
  { from = alice, as = token, body, key }: Asked = {},
): Promise<IncomingMessage> => {
  const headers = {
    ...(as && { 'x-auth-token': as }),
    'x-openstack-ironic-api-version': '1.115',
    ...(body && { 'content-type': 'application/json' }),
    ...(key && { 'idempotency-key': key }),
  };
  const asked = request(`${url}${path}`, { method, headers, localAddress: from, agent: false });
  asked.end(body && JSON.stringify(body));
  const [reply] = await once(asked, 'response');
  return reply;
};

const ask = async (to: Balancer, method: string, path: string, asked?: Asked): Promise<Answer> => {
  const reply = await opened(to, method, path, asked);
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return {
    status: reply.statusCode!,
    servedBy: String(reply.headers['x-served-by']),
    id: String(reply.headers['x-openstack-request-id']),
    body: text === '' ? null : JSON.parse(text),
  };
};

const provision = (name: string, target: string, more: object = {}): Promise<Answer> =>
  ask(replicas, 'PUT', `/v1/nodes/${name}/states/provision`, { body: { target, ...more } });

/** Enrols a node that is emulated within the driver, and verifies it. */
const manageable = async (name: string): Promise<void> => {
  const made = await ask(replicas, 'POST', '/v1/nodes', { body: { name, driver: 'fake-hardware' } });
  expect(made.status).toBe(201);
  expect(await provision(name, 'manage')).toMatchObject({ status: 202 });
  await reaches(name, 'manageable');
};

const reaches = (name: string, state: string): Promise<true> =>
  until(`${name} to be ${state}`, withinMs, async () => {
    const { body } = await ask(replicas, 'GET', `/v1/nodes/${name}/states`);
    return body.provision_state === state && (state === 'clean hold' || !body.target_provision_state)
      ? true
      : undefined;
  });

const newestRunOf = async (name: string): Promise<string> =>
  (await ask(replicas, 'GET', `/temper/v1/nodes/${name}/runs?limit=1`)).body.runs[0].uuid;

describe('two API processes behind a balancer', () => {
  test('an Idempotency-Key that one has served is known to the other', async () => {
    const asked = { key: randomUUID(), body: { name: 'once', driver: 'fake-hardware' } };
    const answers = [];
    for (const _ of [1, 2, 3]) answers.push(await ask(replicas, 'POST', '/v1/nodes', asked));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(answers[0]!.servedBy).not.toBe(answers[1]!.servedBy);
    expect(new Set(answers.map(({ body }) => body.uuid)).size).toBe(1);
    const { body } = await ask(replicas, 'GET', '/v1/nodes');
    expect(body.nodes.filter(({ name }: Json) => name === 'once')).toHaveLength(1);
  });

  test('a run that one started is streamed by the other, as it goes', async () => {
    await manageable('streamed');
    const started = await provision('streamed', 'clean', { clean_steps: [{ interface: 'power', step: 'hold' }] });
    expect(started.status).toBe(202);
    await reaches('streamed', 'clean hold');
    const uuid = await newestRunOf('streamed');
    const path = `/temper/v1/runs/${uuid}/events`;
    let stream = await opened(replicas, 'GET', path);
    if (stream.headers['x-served-by'] === started.servedBy) {
      stream.destroy();
      stream = await opened(replicas, 'GET', path);
    }
    expect(stream.headers).toMatchObject({ 'content-type': expect.stringContaining('text/event-stream') });
    expect(stream.headers['x-served-by']).not.toBe(started.servedBy);
    let told = '';
    stream.on('data', (chunk) => {
      told += chunk;
    });
    await until('the first events', withinMs, async () => (/^event: run\.accepted$/m.test(told) ? true : undefined));
    expect(told).not.toMatch(/^event: run\.succeeded$/m);
    expect(await provision('streamed', 'unhold')).toMatchObject({ status: 202 });
    await once(stream, 'end');
    expect(told).toMatch(/^event: run\.succeeded$/m);
  });

  test.each([alice, bob])('the audit trail has the address of the caller, %s', async (from) => {
    for (const _ of [1, 2]) {
      const { id, status } = await ask(replicas, 'POST', '/v1/chassis', { from, body: {} });
      expect(status).toBe(201);
      const { body } = await ask(replicas, 'GET', '/temper/v1/audit?limit=20');
      const entry = body.audit.find(({ request_id }: Json) => request_id === id);
      expect(entry).toMatchObject({ address: from, forwarded_for: from });
    }
  });

  test('the limit counts each caller by its own address, in each process', async () => {
    const statuses = async (from: string, count: number): Promise<number[]> => {
      const seen: number[] = [];
      for (let at = 0; at < count; at += 1)
        seen.push((await ask(limited, 'GET', '/v1/nodes', { from, as: null })).status);
      return seen;
    };
    const allowed = Array.from({ length: 2 * perMinute }, () => 401);
    expect(await statuses(alice, 2 * perMinute + 2)).toEqual([...allowed, 429, 429]);
    expect(await statuses(bob, 2)).toEqual([401, 401]);
  });
});

describe('an upgrade of a running system', () => {
  test('migrate runs twice at once while requests go on', async () => {
    const { migrate } = environmentsOf(system);
    let over = false;
    const statuses: number[] = [];
    const asking = async (): Promise<void> => {
      while (!over) {
        const body = { driver: 'fake-hardware' };
        statuses.push((await ask(replicas, 'POST', '/v1/nodes', { body })).status);
        statuses.push((await ask(replicas, 'GET', '/v1/nodes')).status);
      }
    };
    const callers = [asking(), asking()];
    const endings = await Promise.all([run('migrate', migrate), run('migrate', migrate)]);
    over = true;
    await Promise.all(callers);
    expect(endings).toMatchObject([{ status: 0 }, { status: 0 }]);
    expect(statuses.length).toBeGreaterThan(4);
    expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([]);
  });

  test('a run that the older build began is ended by the newer one beside it, once that is current', async () => {
    const { control } = environmentsOf(system);
    for (const build of ['1.3.0', '1.4.0'])
      await start('worker control', {
        ...control,
        TEMPER_BUILD_ID: build,
        TEMPER_WORKER_HOSTNAME: `worker-${build}`,
      }).says('"message":"ready"');
    await manageable('upgraded');
    await manageable('canary');
    await makeCurrent('1.3.0');
    expect(await provision('upgraded', 'clean', { clean_steps: [{ interface: 'power', step: 'hold' }] })).toMatchObject(
      {
        status: 202,
      },
    );
    await reaches('upgraded', 'clean hold');
    const uuid = await newestRunOf('upgraded');
    expect(await buildsOf('upgraded', 'clean')).toEqual(['1.3.0']);
    // Step 2 of the list, typed as it stands there: the new build replays a run that is open.
    expect(listed).toContain('`temper replay`');
    const replays = /^This build replays all \d+ events\.$/m;
    expect(await typed(`temper replay ${uuid}`)).toMatchObject({ status: 0, out: expect.stringMatching(replays) });
    expect(await replayedByBuild(uuid)).toMatch(replays);
    await makeCurrent('1.4.0');
    // The server informs its queues one after the other; runs of another node show when new tasks go to the new build.
    await until('tasks to go to 1.4.0', withinMs, async () => {
      for (const _ of [1, 2, 3]) {
        const turned = await ask(replicas, 'PUT', '/v1/nodes/canary/states/power', { body: { target: 'rebooting' } });
        expect(turned.status).toBe(202);
        await until('the canary to be on', withinMs, async () => {
          const { body } = await ask(replicas, 'GET', '/v1/nodes/canary/states');
          return body.power_state === 'power on' && !body.target_power_state ? true : undefined;
        });
      }
      const builds = await buildsOf('canary', 'power', 3);
      return builds.join() === '1.4.0' ? true : undefined;
    });
    expect(await provision('upgraded', 'unhold')).toMatchObject({ status: 202 });
    await reaches('upgraded', 'manageable');
    expect((await ask(replicas, 'GET', `/temper/v1/runs/${uuid}`)).body).toMatchObject({ state: 'succeeded' });
    expect(await buildsOf('upgraded', 'clean')).toEqual(['1.3.0', '1.4.0']);
    // Step 5: migrations, search attributes, workers.
    expect(listed).toContain('`temper doctor`');
    const { status, out } = await typed('temper doctor');
    for (const part of ['API', 'access', 'workers', 'database', 'Temporal', 'control workers'])
      expect(out).toMatch(new RegExp(`^ok +${part}: `, 'm'));
    expect(status).toBe(0);
  });
});

/** The list of docs/production.md, and its commands with the settings that an operator has beside a control worker. */
const listed = /## Upgrades of a running system([\s\S]*?)\n## /.exec(
  readFileSync(join(root, 'docs/production.md'), 'utf8'),
)![1]!;
const besideControl = () => {
  const { TEMPER_DATABASE_URL, TEMPER_TEMPORAL_ADDRESS } = environmentsOf(system).control;
  return {
    TEMPER_URL: replicas.url,
    TEMPER_TOKEN: token,
    TEMPER_DATABASE_URL: TEMPER_DATABASE_URL!,
    TEMPER_TEMPORAL_ADDRESS: TEMPER_TEMPORAL_ADDRESS!,
  };
};
const typed = (command: string) =>
  run(command, { ...besideControl(), TEMPER_WORKFLOW_BUNDLE: join(root, 'dist/workflow-bundle.js') });

/** What the built command prints, which bundles its own workflows where no bundle is named. */
const replayedByBuild = async (uuid: string): Promise<string> => {
  const args = [join(root, 'dist/bin/temper.js'), 'replay', uuid];
  const { PATH = '' } = process.env;
  return (await promisify(execFile)(process.execPath, args, { env: { PATH, ...besideControl() } })).stdout;
};

/** Temporal's own command on the system's server, as docs/changing-workflows.md has it. */
const temporal = async (...args: readonly string[]): Promise<string> => {
  const { findTemporal } = jest.requireActual('../../scripts/lib/temporal-binary');
  const { temporal: address } = system.record().addresses as unknown as Record<string, string>;
  const to = ['--namespace', 'temper', '--address', address!];
  return (await promisify(execFile)(await findTemporal(), [...args, ...to], { maxBuffer: 64 << 20 })).stdout;
};

/** The server knows a version when a worker of it has polled. */
const makeCurrent = (build: string): Promise<true> =>
  until(`build ${build} to be current`, withinMs, async () => {
    const named = ['--deployment-name', 'temper-control', '--build-id', build];
    return temporal('worker', 'deployment', 'set-current-version', ...named, '--yes').then(
      () => true as const,
      () => undefined,
    );
  });

/** Builds that took the workflow tasks of a node's newest runs of a verb, by their histories. */
const buildsOf = async (node: string, verb: string, newest = 1): Promise<string[]> => {
  const query = `TemperNodeName = "${node}" and TemperVerb = "${verb}"`;
  const listed = JSON.parse(await temporal('workflow', 'list', '--output', 'json', '--query', query)) as Json[];
  const builds: string[] = [];
  for (const { execution } of listed.slice(0, newest)) {
    const which = ['--workflow-id', execution.workflowId, '--run-id', execution.runId];
    const { events } = JSON.parse(await temporal('workflow', 'show', ...which, '--output', 'json'));
    for (const { workflowTaskCompletedEventAttributes: done } of events)
      if (done) builds.push(done.deploymentVersion?.buildId ?? done.workerVersion?.buildId ?? 'without a version');
  }
  return [...new Set(builds)];
};
