/** The demo identity service: the routes that real clients use, and tokens that outlive its process. */
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoApplicationCredentials, demoProjects, demoUsers, startDemoIdentity } from '../../emulator/identity/index';
import { clock } from './support';

const now = clock();
let folder: string;
let service: Awaited<ReturnType<typeof startDemoIdentity>>;
const start = (stateDir?: string) =>
  startDemoIdentity({ port: 0, host: '127.0.0.1', catalogUrl: 'http://bare.metal:6385', stateDir, now });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temper-demo-identity-'));
  service = await start(join(folder, 'state'));
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const call = async (path: string, init: RequestInit = {}) => {
  const reply = await fetch(`${service.url}${path}`, init);
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, body: text ? JSON.parse(text) : undefined };
};
const post = (body: unknown, query = '') =>
  call(`/v3/auth/tokens${query}`, { method: 'POST', body: JSON.stringify(body) });
const password = (name: string, secret = `demo-${name}`) => ({
  methods: ['password'],
  password: { user: { name, domain: { name: 'Default' }, password: secret } },
});
const login = async (name: string, scope?: unknown): Promise<string> => {
  const reply = await post({ auth: { identity: password(name), ...(scope ? { scope } : {}) } });
  expect(reply.status).toBe(201);
  return reply.headers.get('x-subject-token') as string;
};
const about = (asker: string, subject: string, method = 'GET', query = '') =>
  call(`/v3/auth/tokens${query}`, { method, headers: { 'x-auth-token': asker, 'x-subject-token': subject } });

test('discovery answers 300 without a version and 200 with one, each with a link to itself', async () => {
  const root = await call('/');
  expect([root.status, root.body.versions.values[0].links[0].href]).toEqual([300, `${service.url}/v3/`]);
  for (const path of ['/v3', '/v3/']) {
    const reply = await call(path);
    expect([reply.status, reply.body.version.id]).toEqual([200, 'v3.14']);
  }
});

test.each(demoUsers.map((user) => [user.name, user] as const))(
  '%s logs in to their project with expanded roles and a catalog',
  async (name, user) => {
    const scope = { project: { name: user.project?.name, domain: { id: 'default' } } };
    const { status, body } = await post({ auth: { identity: password(name), scope } });
    expect(status).toBe(201);
    expect(body.token).toMatchObject({ user: { id: user.id, name }, project: { id: user.project?.id } });
    expect(body.token.roles.map((role: { name: string }) => role.name)).toEqual(user.projectRoles);
    expect(body.token.catalog.map((one: { type: string }) => one.type)).toEqual(['baremetal', 'identity']);
    expect(body.token.catalog[0].endpoints[0]).toMatchObject({ interface: 'public', url: 'http://bare.metal:6385' });
    expect(Date.parse(body.token.expires_at) - now()).toBe(24 * 3600_000);
  },
);

test('project ids are 32 hex digits and all different', () => {
  const ids = Object.values(demoProjects);
  expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});

test('only the operator has system scope', async () => {
  const scope = { system: { all: true } };
  const granted = [];
  for (const { name } of demoUsers) {
    const { status } = await post({ auth: { identity: password(name), scope } });
    if (status === 201) granted.push(name);
  }
  expect(granted).toEqual(['operator']);
});

test('the catalog is left out when asked', async () => {
  const { body } = await post({ auth: { identity: password('operator') } }, '?nocatalog');
  expect(body.token.catalog).toBeUndefined();
});

test.each([
  ['a wrong password', { identity: password('operator', 'wrong') }],
  ['an unknown user', { identity: password('eve') }],
  [
    'a user of another domain',
    {
      identity: {
        methods: ['password'],
        password: { user: { name: 'operator', domain: { id: 'other' }, password: 'demo-operator' } },
      },
    },
  ],
  [
    'a user without a domain',
    { identity: { methods: ['password'], password: { user: { name: 'operator', password: 'demo-operator' } } } },
  ],
  [
    'the project of another',
    { identity: password('owner-member'), scope: { project: { id: demoProjects['lessee-project'] } } },
  ],
  ['domain scope', { identity: password('operator'), scope: { domain: { id: 'default' } } }],
  ['a made-up token', { identity: { methods: ['token'], token: { id: 'abc.def' } } }],
  ['a method without its part', { identity: { methods: ['token'] } }],
  [
    'two methods of which one fails',
    { identity: { ...password('operator'), methods: ['password', 'token'], token: { id: 'x' } } },
  ],
  [
    'a wrong secret',
    {
      identity: {
        methods: ['application_credential'],
        application_credential: { id: demoApplicationCredentials[0]?.id, secret: 'wrong' },
      },
    },
  ],
])('%s is refused with the body of the identity API', async (_, auth) => {
  const { status, headers, body } = await post({ auth });
  expect(status).toBe(401);
  expect(body).toEqual({
    error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' },
  });
  expect(headers.get('www-authenticate')).toBe(`Keystone uri="${service.url}"`);
  expect(headers.get('x-subject-token')).toBeNull();
});

test.each([
  ['no JSON', 'hello'],
  ['no login', '{}'],
  ['a method of the name of a built-in', JSON.stringify({ auth: { identity: { methods: ['constructor'] } } })],
])('%s is a 400', async (_, body) => {
  expect((await call('/v3/auth/tokens', { method: 'POST', body })).status).toBe(400);
});

test('an application credential brings its project and cannot be given another scope', async () => {
  const id = demoApplicationCredentials.find(({ name }) => name === 'operator-app')?.id;
  const identity = { methods: ['application_credential'], application_credential: { id, secret: 'demo-operator-app' } };
  expect((await post({ auth: { identity } })).body.token).toMatchObject({
    project: { id: demoProjects.admin },
    application_credential: { id, name: 'operator-app' },
  });
  expect((await post({ auth: { identity, scope: { system: { all: true } } } })).status).toBe(403);
});

test('a token made from one of a limited credential is as limited, and cannot be given another scope', async () => {
  const id = demoApplicationCredentials.find(({ name }) => name === 'owner-member-nodes-only')?.id;
  const secret = 'demo-owner-member-nodes-only';
  const first = await post({
    auth: { identity: { methods: ['application_credential'], application_credential: { id, secret } } },
  });
  const identity = { methods: ['token'], token: { id: first.headers.get('x-subject-token') } };
  expect((await post({ auth: { identity } })).body.token.application_credential.access_rules).toHaveLength(2);
  expect((await post({ auth: { identity, scope: { project: { id: demoProjects['owner-project'] } } } })).status).toBe(
    403,
  );
});

test('a token is exchanged for one of another scope, which ends when the first does', async () => {
  const project = await login('operator');
  now.pass(3600_000);
  const { status, body } = await post({
    auth: { identity: { methods: ['token'], token: { id: project } }, scope: { system: { all: true } } },
  });
  expect([status, body.token.system, Date.parse(body.token.expires_at) - now()]).toEqual([
    201,
    { all: true },
    23 * 3600_000,
  ]);
});

test('services and admins may ask about any token, others about their own', async () => {
  const [subject, stranger] = [await login('owner-member'), await login('lessee-member')];
  expect((await about(await login('temper'), subject)).body.token.user.name).toBe('owner-member');
  expect((await about(await login('operator'), subject)).status).toBe(200);
  expect((await about(subject, subject)).status).toBe(200);
  expect((await about(stranger, subject)).status).toBe(403);
  expect((await about(stranger, subject, 'DELETE')).status).toBe(403);
  expect((await about('', subject)).status).toBe(401);
  expect((await about(await login('temper'), 'abc')).status).toBe(404);
});

test('HEAD answers as GET does, without a body', async () => {
  const reply = await about(await login('temper'), await login('owner-member'), 'HEAD');
  expect([reply.status, reply.body]).toEqual([200, undefined]);
});

test('an expired token neither asks nor is known, but is shown to who asks for expired ones, for two days', async () => {
  const subject = await login('owner-member');
  now.pass(24 * 3600_000);
  const asker = await login('temper');
  expect((await about(asker, subject)).status).toBe(404);
  expect((await about(asker, subject, 'GET', '?allow_expired=1')).status).toBe(200);
  expect((await about(subject, subject)).status).toBe(401);
  now.pass(48 * 3600_000);
  expect((await about(await login('temper'), subject, 'GET', '?allow_expired=1')).status).toBe(404);
});

test('a signature does not pass for another token, nor does none', async () => {
  const [mine, other] = [await login('owner-member'), await login('operator')];
  const asker = await login('temper');
  const [claims] = other.split('.');
  for (const forged of [`${claims}.${mine.split('.')[1]}`, `${claims}.`, `${claims}`, `.${mine.split('.')[1]}`])
    expect((await about(asker, forged)).status).toBe(404);
});

test('tokens and revocations outlive the process, in files that only their owner may read', async () => {
  const [kept, revoked, asker] = [await login('owner-member'), await login('owner-member'), await login('temper')];
  expect((await about(revoked, revoked, 'DELETE')).status).toBe(204);
  await service.close();
  service = await start(join(folder, 'state'));
  expect((await about(asker, kept)).status).toBe(200);
  expect((await about(asker, revoked)).status).toBe(404);
  const files = await readdir(join(folder, 'state'));
  expect(files.sort()).toEqual(['identity-revoked.txt', 'identity.key']);
  for (const file of files) expect((await stat(join(folder, 'state', file))).mode & 0o077).toBe(0);
});

test('another installation’s tokens are not known, nor are those of a service without a folder after its end', async () => {
  const token = await login('operator');
  await service.close();
  service = await start();
  expect((await about(token, token)).status).toBe(401);
});

test('a broken key file is named at start', async () => {
  await service.close();
  await writeFile(join(folder, 'state', 'identity.key'), 'short');
  await expect(start(join(folder, 'state'))).rejects.toThrow(/identity\.key is not a signing key/);
  service = await start();
});
