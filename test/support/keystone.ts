/** A real Keystone for tests: one process on a copy of the prepared state, and what an administrator does with it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { finder, foundBy } from './found';

const program = finder('keystone.js');
const programs = resolve(__dirname, '..', 'clients');

type Prepared = { readonly python: string; readonly state: string; readonly password: string };

const found = foundBy<{ keystone: Prepared }>('keystone.js');

/** Why Keystone could not be had; undefined when it is there. */
export const keystoneMissing = found.missing;

/** Throws where it is missing. */
const prepared = (): Prepared => {
  if (!found.keystone) throw new Error(`Keystone is not there: ${found.missing}`);
  return found.keystone;
};

const { copyState } = jest.requireActual(program) as { copyState(state: string, dir: string): string };

type Answer = {
  readonly status: number;
  readonly token: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the identity API has bodies of every shape
  readonly body: any;
};

const call = async (url: string, method: string, headers: Record<string, string>, body?: unknown): Promise<Answer> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const reply = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, ...sent });
  const text = await reply.text();
  const token = reply.headers.get('x-subject-token');
  return { status: reply.status, token, body: text === '' ? undefined : JSON.parse(text) };
};

/** The part of a login that says who: by name in the domain `default` unless it says otherwise. */
export const byPassword = (name: string, password: string, domain: object = { id: 'default' }) => ({
  methods: ['password'],
  password: { user: { name, domain, password } },
});

export const system = { system: { all: true } };
export const inProject = (id: string) => ({ project: { id } });

/** Runs its server until it says its port; throws with what it wrote when it ends before. */
const serve = async (settings: string): Promise<{ child: ChildProcess; port: string }> => {
  const child = spawn(prepared().python, [join(programs, 'keystone_serve.py')], {
    env: { ...process.env, OS_KEYSTONE_CONFIG_FILES: settings },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const ended = once(child, 'exit').then(([status]) =>
    Promise.reject(new Error(`Keystone ended with ${status} before it listened:\n${said}`)),
  );
  const [port] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  ended.catch(() => undefined);
  return { child, port };
};

/** Starts it. `url` is without /v3. */
export const startKeystone = async () => {
  const dir = await mkdtemp(join(tmpdir(), 'keystone-'));
  const settings = copyState(prepared().state, dir);
  const { child, port } = await serve(settings);
  const url = `http://127.0.0.1:${port}`;
  const tokens = `${url}/v3/auth/tokens`;

  const tryLogin = (identity: unknown, scope?: unknown): Promise<Answer> =>
    call(`${tokens}?nocatalog`, 'POST', {}, { auth: { identity, ...(scope ? { scope } : {}) } });
  const login = async (identity: unknown, scope?: unknown): Promise<string> => {
    const { status, token, body } = await tryLogin(identity, scope);
    if (!token) throw new Error(`Keystone answered ${status} to a login: ${JSON.stringify(body)}`);
    return token;
  };
  const admin = await login(byPassword('admin', prepared().password), system);
  const as = async (token: string, method: string, path: string, body?: unknown) => {
    const reply = await call(`${url}/v3${path}`, method, { 'x-auth-token': token }, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };

  return {
    url,
    tryLogin,
    login,
    /** As the user of a token; answers with the body. Throws for anything but success. */
    as,
    /** As the system's administrator. */
    admin: (method: string, path: string, body?: unknown) => as(admin, method, path, body),
    revoke: async (token: string): Promise<void> => {
      const { status } = await call(tokens, 'DELETE', { 'x-auth-token': token, 'x-subject-token': token });
      if (status !== 204) throw new Error(`Keystone answered ${status} to a revocation`);
    },
    /** A token that ended an hour ago. */
    expired: async (user: string, project: string): Promise<string> => {
      const args = [join(programs, 'keystone_expired.py'), settings, user, project];
      return (await promisify(execFile)(prepared().python, args)).stdout.trim();
    },
    /** Ends it; it may be called again. */
    close: async (): Promise<void> => {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
};

export type Keystone = Awaited<ReturnType<typeof startKeystone>>;

/** Who the tests need: ids of projects, users and roles, made as an administrator makes them. */
export const populate = async ({ admin }: Keystone) => {
  const ids = async (path: string, kind: string): Promise<Record<string, string>> =>
    Object.fromEntries((await admin('GET', path))[kind].map((one: { id: string; name: string }) => [one.name, one.id]));
  const roles = await ids('/roles', 'roles');
  const makeProject = async (name: string, domain_id = 'default'): Promise<string> =>
    (await admin('POST', '/projects', { project: { name, domain_id } })).project.id;
  /** The password is the name with `-secret` after it. */
  const makeUser = async (name: string, domain_id = 'default'): Promise<string> =>
    (await admin('POST', '/users', { user: { name, domain_id, password: `${name}-secret` } })).user.id;
  /** @param where `projects/<id>` or `domains/<id>`; the system without it */
  const grant = (role: string, user: string, where?: string): Promise<unknown> =>
    admin('PUT', `${where ? `/${where}` : '/system'}/users/${user}/roles/${roles[role]}`);
  const makeRole = async (name: string): Promise<string> => {
    const { role } = await admin('POST', '/roles', { role: { name } });
    roles[name] = role.id;
    return role.id;
  };
  return { roles, makeProject, makeUser, makeRole, grant };
};
