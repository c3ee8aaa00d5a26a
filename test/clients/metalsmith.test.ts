/** metalsmith: every subcommand on nodes that do nothing, with a stub of the Networking service that its tables ask. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { ask, rests } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { runClient, type Said } from '../e2e/support/cli';
import { projects } from '../e2e/support/nodes';
import { type System, startSystem } from '../e2e/support/system';
import { clientCommand, clientsMissing } from '../support/clients';
import { suiteOf } from '../support/found';

const whenThere = suiteOf('metalsmith', clientsMissing());

/** A Networking service without networks: its version, and no ports. */
const startNetworking = async (): Promise<{ server: Server; url: string }> => {
  const server = createServer((request, response) => {
    const self = { rel: 'self', href: `${url}/v2.0/` };
    const known = request.url?.startsWith('/v2.0/ports') ? { ports: [] } : undefined;
    const versions = { versions: [{ id: 'v2.0', status: 'CURRENT', links: [self] }] };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(known ?? versions));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, url };
};

whenThere('metalsmith', () => {
  let system: System;
  let operator: Person;
  let networking: Server;
  let commands = 0;
  const started = Date.now();

  /** The system to clients that look for a Networking service too. */
  const withNetworking = (real: System, url: string): System => {
    const { clouds } = parse(readFileSync(real.record().addresses.clouds, 'utf8'));
    const theirs = join(dirname(real.data), 'metalsmith-clouds.yaml');
    clouds.owner.network_endpoint_override = url;
    writeFileSync(theirs, JSON.stringify({ clouds }), { mode: 0o600 });
    const record = () => ({ ...real.record(), addresses: { ...real.record().addresses, clouds: theirs } });
    return { ...real, record };
  };

  beforeAll(async () => {
    const { server, url } = await startNetworking();
    networking = server;
    system = withNetworking(await startSystem(0), url);
    operator = await system.person('operator');
    await Promise.all(['ms-1', 'ms-2'].map(available));
  });
  afterAll(async () => {
    networking?.close();
    process.stderr.write(`metalsmith: ${commands} commands, ${((Date.now() - started) / 1_000).toFixed(1)} s\n`);
    await system?.stop();
  });

  const available = async (name: string): Promise<void> => {
    const owner = projects['owner-project'];
    const body = { name, driver: 'fake-hardware', resource_class: 'gold', owner, automated_clean: false };
    await operator.must('POST', '/v1/nodes', { ...body, properties: { capabilities: 'tier:one', local_gb: 100 } });
    await operator.must('PUT', `/v1/nodes/${name}/traits`, { traits: ['CUSTOM_FAST'] });
    for (const [verb, state] of [
      ['manage', 'manageable'],
      ['provide', 'available'],
    ] as const) {
      await ask(operator, name, verb);
      await rests(operator, name, state);
    }
  };

  const metalsmith = (...words: string[]): Promise<Said> => {
    commands += 1;
    return runClient(system, clientCommand('metalsmith'), ['--os-cloud', 'owner', ...words]);
  };
  const does = async (...words: string[]): Promise<string> => {
    const said = await metalsmith(...words);
    if (said.status !== 0) throw new Error(`metalsmith ${words.join(' ')}: ${said.err}`);
    return said.out;
  };
  /** What it shows as JSON: an object by host name. */
  const shown = async (...words: string[]) => JSON.parse(await does('--format', 'json', ...words));

  const image = ['--image', 'http://images.example.org/debian.qcow2', '--image-checksum', 'a'.repeat(64)];

  test('a dry run deploys nothing; the node stays reserved, as metalsmith leaves it', async () => {
    // Its table cannot show what was not deployed: it ends with an error of its own without --quiet.
    await does('--quiet', '--dry-run', 'deploy', ...image, '--resource-class', 'gold', '--candidate', 'ms-1');
    const seen = await operator.must('GET', '/v1/nodes/ms-1');
    expect(seen).toMatchObject({ provision_state: 'available', allocation_uuid: expect.any(String) });
    await operator.must('DELETE', `/v1/allocations/${seen.allocation_uuid}`);
  });

  test('a node is chosen by class, capability, trait and candidate, and deployed with a user of its own', async () => {
    const chosen = [
      '--resource-class',
      'gold',
      '--capability',
      'tier=one',
      '--trait',
      'CUSTOM_FAST',
      '--candidate',
      'ms-1',
    ];
    const user = ['--user-name', 'ann', '--passwordless-sudo'];
    const sizes = ['--root-size', '10', '--swap-size', '512', '--hostname', 'web-1'];
    const made = await shown('deploy', ...image, ...chosen, ...user, ...sizes, '--wait', '120');
    expect(made).toMatchObject({ allocation: { name: 'web-1' }, state: 'active' });
    expect(await operator.must('GET', '/v1/nodes/ms-1')).toMatchObject({
      provision_state: 'active',
      instance_info: { image_source: 'http://images.example.org/debian.qcow2', root_gb: 10, swap_mb: 512 },
    });
  });

  test('one that is deployed without waiting is waited for, listed and shown', async () => {
    await does('deploy', ...image, '--resource-class', 'gold', '--hostname', 'web-2', '--no-wait');
    expect(await shown('wait', 'web-2', '--timeout', '120')).toMatchObject({ 'web-2': { state: 'active' } });
    expect(Object.keys(await shown('list')).sort()).toEqual(['web-1', 'web-2']);
    expect(await shown('show', 'web-1')).toMatchObject({ 'web-1': { state: 'active' } });
  });

  test('where nothing is left, it says so and leaves nothing behind', async () => {
    const said = await metalsmith(
      'deploy',
      ...image,
      '--resource-class',
      'gold',
      '--hostname',
      'web-3',
      '--wait',
      '60',
    );
    expect(said.status).not.toBe(0);
    expect(await operator.ask('GET', '/v1/allocations/web-3')).toMatchObject({ status: 404 });
  });

  test('what was deployed is given back, by host name and by node', async () => {
    await does('undeploy', 'web-1', '--wait', '120');
    await does('undeploy', 'ms-2', '--wait', '120');
    for (const name of ['ms-1', 'ms-2'])
      expect(await operator.must('GET', `/v1/nodes/${name}`)).toMatchObject({
        provision_state: 'available',
        instance_uuid: null,
        extra: {},
      });
    expect((await operator.must('GET', '/v1/allocations')).allocations).toEqual([]);
  });
});
