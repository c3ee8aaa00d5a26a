/** The API and the real `baremetal` client with a real Keystone between them: who gets in, as what, and who does not. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createLog } from '../../src/observe/log';
import { identityFrom } from '../../src/process/api/identity';
import { processes } from '../../src/process/settings/config';
import { parseSettings } from '../../src/process/settings/read';
import { good } from '../bin/support/entries';
import { cliOf, refusal } from '../e2e/support/cli';
import type { System } from '../e2e/support/system';
import { startTestApi, type TestApi } from '../support/api';
import { clientsMissing } from '../support/clients';
import { suiteOf } from '../support/found';
import {
  byPassword,
  inProject,
  type Keystone,
  keystoneMissing,
  populate,
  startKeystone,
  system,
} from '../support/keystone';

const missing = keystoneMissing ?? clientsMissing();
const whenThere = suiteOf('the API with a real Keystone', missing);

whenThere('the API with a real Keystone', () => {
  let keystone: Keystone;
  let api: TestApi;
  let identity: Awaited<ReturnType<typeof identityFrom>>;
  let dir: string;
  let cli: ReturnType<typeof cliOf>;
  let projects: Record<'owner' | 'lessee' | 'stranger', string>;
  let uuid: string;

  /** The strategy as an installation has it, by its settings. */
  const startIdentity = (more: Record<string, string> = {}) => {
    const settings = {
      ...good.api,
      TEMPER_AUTH_STRATEGY: 'keystone',
      TEMPER_IDENTITY_URL: `${keystone.url}/v3`,
      TEMPER_IDENTITY_USERNAME: 'temper',
      TEMPER_IDENTITY_PASSWORD: 'temper-secret',
      ...more,
    };
    return identityFrom(parseSettings(processes.api, settings), createLog('test', 'fatal'));
  };
  const secretOf = (name: string) => byPassword(name, `${name}-secret`);
  const credential = async (name: string, user: string, access_rules?: unknown) => {
    const token = await keystone.login(secretOf(user), 'unscoped');
    const who = (await keystone.as(token, 'GET', '/auth/projects')).projects[0].id;
    const scoped = await keystone.login(secretOf(user), inProject(who));
    const id = (await keystone.admin('GET', `/users?name=${user}`)).users[0].id;
    const body = { application_credential: { name, ...(access_rules ? { access_rules } : {}) } };
    return (await keystone.as(scoped, 'POST', `/users/${id}/application_credentials`, body)).application_credential;
  };

  const cloudOf = (auth: object, more: object = {}) => ({
    auth_type: 'password',
    region_name: 'test',
    auth: { auth_url: `${keystone.url}/v3`, ...auth },
    ...more,
  });
  const person = (name: string, scope: object) =>
    cloudOf({ username: name, password: `${name}-secret`, user_domain_id: 'default', ...scope });

  beforeAll(async () => {
    keystone = await startKeystone();
    const { makeProject, makeUser, grant } = await populate(keystone);
    await grant('service', await makeUser('temper'), `projects/${await makeProject('service')}`);
    await grant('admin', await makeUser('root'));
    projects = { owner: '', lessee: '', stranger: '' };
    for (const name of Object.keys(projects) as (keyof typeof projects)[]) {
      projects[name] = await makeProject(name);
      await grant(name === 'stranger' ? 'admin' : 'member', await makeUser(name), `projects/${projects[name]}`);
    }
    await grant('admin', await makeUser('dora'), 'domains/default');

    api = await startTestApi();
    identity = await startIdentity();
    Object.assign(api.rooms, { identity });
    const service = (await keystone.admin('POST', '/services', { service: { type: 'baremetal', name: 'temper' } }))
      .service;
    const endpoint = { service_id: service.id, interface: 'public', region_id: 'test', url: api.url };
    await keystone.admin('POST', '/endpoints', { endpoint });

    const limited = await credential('nodes-only', 'owner', [
      { service: 'baremetal', method: 'GET', path: '/v1/nodes' },
    ]);
    const clouds = {
      root: person('root', { system_scope: 'all' }),
      owner: person('owner', { project_id: projects.owner }),
      lessee: person('lessee', { project_name: 'lessee', project_domain_name: 'Default' }),
      stranger: person('stranger', { project_id: projects.stranger }),
      limited: cloudOf(
        { application_credential_id: limited.id, application_credential_secret: limited.secret },
        { auth_type: 'v3applicationcredential' },
      ),
    };
    dir = await mkdtemp(join(tmpdir(), 'keystone-clouds-'));
    await writeFile(join(dir, 'clouds.yaml'), stringify({ clouds }), { mode: 0o600 });
    const addresses = { clouds: join(dir, 'clouds.yaml') };
    cli = cliOf({ record: () => ({ addresses }) } as unknown as System);
    const made = ['--driver', 'fake-hardware', '--owner', projects.owner, '--lessee', projects.lessee];
    ({ uuid } = await cli.json('root', 'node', 'create', '--name', 'n1', ...made));
    await cli.does('root', 'node', 'create', '--name', 'n2', '--driver', 'fake-hardware');
  });
  afterAll(async () => {
    await identity?.close();
    await api?.close();
    await keystone?.close();
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  const names = async (cloud: string): Promise<string[]> =>
    (await cli.json(cloud, 'node', 'list', '--fields', 'name')).map((node: { name: string }) => node.name).sort();
  const get = (path: string, headers: Record<string, string>) => fetch(`${api.url}${path}`, { headers });
  const as = (token: string, path = '/v1/nodes') => get(path, { 'x-auth-token': token });

  test('system scope, owner, lessee and the admin of a strange project list each what is theirs', async () => {
    expect(await names('root')).toEqual(['n1', 'n2']);
    expect(await names('owner')).toEqual(['n1']);
    expect(await names('lessee')).toEqual(['n1']);
    expect(await names('stranger')).toEqual([]);
    expect(await cli('stranger', 'node', 'show', 'n1')).toMatchObject(refusal(404, 'could not be found'));
  });

  test('an application credential lists as far as its access rules go, and is refused beyond', async () => {
    expect(await names('limited')).toEqual(['n1']);
    expect(await cli('limited', 'node', 'show', uuid)).toMatchObject({ status: 1, out: '' });
    const said = await cli('limited', 'node', 'maintenance', 'set', uuid);
    expect(said).toMatchObject({ status: 1, err: expect.stringContaining('401') });
    expect(await api.sql`select maintenance from nodes where uuid = ${uuid}`).toEqual([{ maintenance: false }]);
  });

  test('tokens of domain scope and of no scope see nothing and change nothing', async () => {
    const domain = await keystone.login(secretOf('dora'), { domain: { id: 'default' } });
    const unscoped = await keystone.login(secretOf('owner'), 'unscoped');
    for (const token of [domain, unscoped]) {
      const list = await as(token);
      expect(list.status === 403 || ((await list.json()) as { nodes: unknown[] }).nodes.length === 0).toBe(true);
      expect([403, 404]).toContain((await as(token, `/v1/nodes/${uuid}`)).status);
      const created = await fetch(`${api.url}/v1/nodes`, {
        method: 'POST',
        headers: { 'x-auth-token': token, 'content-type': 'application/json' },
        body: '{"driver": "fake-hardware"}',
      });
      expect(created.status).toBe(403);
    }
  });

  test.each(['/v1/nodes', '/v1/nodes/unknown', '/v1/no-such-thing', '/temper/v1/runs'])(
    'GET %s without a token, or with one that is none, is a 401 that says where to go',
    async (path) => {
      for (const headers of [
        {},
        { 'x-auth-token': 'gAAAA-none' },
        { 'x-roles': 'admin', 'openstack-system-scope': 'all' },
      ]) {
        const reply = await get(path, headers as Record<string, string>);
        expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, `Keystone uri="${keystone.url}"`]);
        expect(await reply.json()).toMatchObject({ error: { code: 401, title: 'Unauthorized' } });
      }
    },
  );

  test('two tokens in one request are no caller’s, whichever comes first', async () => {
    const [good, bad] = [await keystone.login(secretOf('root'), system), 'gAAAA-none'];
    const agent = new Agent();
    const status = (...tokens: string[]) =>
      new Promise((resolve, reject) => {
        const headers = tokens.flatMap((token) => ['X-Auth-Token', token]);
        request(`${api.url}/v1/nodes`, { agent, headers: ['Host', 'h', ...headers] }, (reply) => {
          reply.resume();
          resolve(reply.statusCode);
        })
          .once('error', reject)
          .end();
      });
    expect([await status(good), await status(good, bad), await status(bad, good), await status(good, good)]).toEqual([
      200, 401, 401, 401,
    ]);
    agent.destroy();
  });

  test('where nothing is cached, a revoked token is refused by the next request', async () => {
    const strict = await startIdentity({ TEMPER_TOKEN_CACHE_SECONDS: '0', TEMPER_IDENTITY_DOMAIN: 'default' });
    Object.assign(api.rooms, { identity: strict });
    try {
      const token = await keystone.login(secretOf('owner'), inProject(projects.owner));
      expect((await as(token)).status).toBe(200);
      await keystone.revoke(token);
      expect((await as(token)).status).toBe(401);
    } finally {
      Object.assign(api.rooms, { identity });
      await strict.close();
    }
  });

  // Last: there is no Keystone after it.
  test('when Keystone goes, who was seen goes on and who was not is answered 503', async () => {
    const [seen, unseen] = [
      await keystone.login(secretOf('root'), system),
      await keystone.login(secretOf('root'), system),
    ];
    expect((await as(seen)).status).toBe(200);
    await keystone.close();
    expect((await as(seen)).status).toBe(200);
    const reply = await as(unseen);
    expect(reply.status).toBe(503);
    expect(await reply.text()).not.toContain(unseen);
    expect(JSON.stringify(api.log)).not.toContain(unseen);
    expect((await get('/v1/nodes', {})).status).toBe(401);
  });
});
