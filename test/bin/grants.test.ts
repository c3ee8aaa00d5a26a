/** Whether a rollout's grant still stands: asked of the users file and of Keystone, and what a silence of them means. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRoleLookup } from '../../src/identity';
import { anonymous, type Caller } from '../../src/model/access/callers';
import { grantsFrom, votersFrom } from '../../src/process/workers/grants';
import { clock, ownLogin, startScriptedKeystone } from '../identity/support';

const hour = 3_600_000;
const closers: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const settings = { TEMPER_ROLLOUT_GRANT_HOURS: 24, TEMPER_TOKEN_OUTAGE_SECONDS: 900, TEMPER_USERS_FILE: undefined };
const granted: Caller = {
  ...anonymous,
  user_id: 'u1',
  project_id: 'p1',
  roles: ['manager', 'member', 'reader'],
  strategy: 'keystone',
};

type Reply = { status: number; body?: unknown } | 'hang up';
const holds = (...roles: string[]): Reply => ({
  status: 200,
  body: { role_assignments: roles.map((name) => ({ role: { id: name, name }, user: { id: 'u1' } })) },
});
const enabled: Reply = { status: 200, body: { user: { id: 'u1', enabled: true, domain_id: 'd1' } } };
const lent = (by: 'application_credential' | 'trust'): Caller => ({ ...granted, delegated: { by, id: 'c1' } });

/** What Keystone says of the user, the project, the user's roles in it, and those in project `elsewhere`. */
type State = {
  user: Reply;
  project: Reply;
  domain: Reply;
  credential: Reply;
  trust: Reply;
  roles: Reply;
  admin: Reply;
};

/** Keystone answers as `state` says. @param cacheMs as the setting */
const keystone = async (cacheMs = 60_000) => {
  const now = clock();
  const state: State = {
    user: enabled,
    project: { status: 200, body: { project: { id: 'p1', enabled: true, domain_id: 'd1' } } },
    domain: { status: 200, body: { domain: { id: 'd1', enabled: true } } },
    credential: { status: 200, body: { application_credential: { id: 'c1', expires_at: null } } },
    trust: { status: 200, body: { trust: { id: 'c1', expires_at: null } } },
    roles: holds('manager', 'member', 'reader'),
    admin: holds('admin', 'reader'),
  };
  const service = await startScriptedKeystone(({ method, url }) => {
    if (method === 'POST') return ownLogin();
    if (url!.includes('/application_credentials/c1')) return state.credential;
    if (url!.includes('/OS-TRUST/trusts/c1')) return state.trust;
    if (url!.includes('/domains/')) return state.domain;
    if (url!.includes('/users/')) return state.user;
    if (url!.includes('/projects/')) return state.project;
    return url!.includes('scope.project.id=elsewhere') ? state.admin : state.roles;
  });
  closers.push(service.close);
  const self = { username: 'temper', password: 'own', scope: { system: 'all' } } as const;
  const lookup = createRoleLookup({ identityUrl: service.url, self, cacheMs, now });
  closers.push(() => lookup.close());
  const authority = grantsFrom(settings, lookup, now);
  const at = new Date(now());
  const asked = () => service.asked.filter(({ url }) => url.includes('role_assignments'));
  const voter = votersFrom(settings, lookup);
  return { now, state, asked, voter, stands: (caller: Caller = granted) => authority(caller, at) };
};

test('roles that Keystone gives a person still hold, however long ago the last act was, in any case of letters', async () => {
  const { now, state, stands, asked } = await keystone();
  expect(await stands()).toBe('holds');
  expect(asked()[0]!.url).toContain('user.id=u1&scope.project.id=p1&effective');
  now.pass(48 * hour);
  state.roles = holds('Manager', 'member', 'READER', 'more');
  expect(await stands()).toBe('holds');
});

test.each<[string, (state: State) => void]>([
  ['a role that is taken away', (state) => Object.assign(state, { roles: holds('member', 'reader') })],
  [
    'a user who is disabled',
    (state) => Object.assign(state, { user: { status: 200, body: { user: { enabled: false } } } }),
  ],
  ['a user who is gone', (state) => Object.assign(state, { user: { status: 404 } })],
  [
    'a project that is disabled',
    (state) => Object.assign(state, { project: { status: 200, body: { project: { enabled: false } } } }),
  ],
  ['a project that is gone', (state) => Object.assign(state, { project: { status: 404 } })],
  [
    'a domain that is disabled',
    (state) => Object.assign(state, { domain: { status: 200, body: { domain: { enabled: false } } } }),
  ],
  ['a domain that is gone', (state) => Object.assign(state, { domain: { status: 404 } })],
])('%s is lost once what was known is no longer believed', async (_, change) => {
  const { now, state, stands, asked } = await keystone(60_000);
  expect(await stands()).toBe('holds');
  change(state);
  expect(await stands()).toBe('holds');
  expect(asked()).toHaveLength(1);
  now.pass(60_000);
  expect(await stands()).toBe('lost');
});

test.each<['application_credential' | 'trust', string, (state: State, now: number) => void]>([
  ['application_credential', 'taken back', (state) => Object.assign(state, { credential: { status: 404 } })],
  [
    'application_credential',
    'over',
    (state, now) => {
      // As Keystone writes it, in UTC and without a zone.
      const expires_at = new Date(now).toISOString().replace('Z', '000');
      state.credential = { status: 200, body: { application_credential: { expires_at } } };
    },
  ],
  ['trust', 'taken back', (state) => Object.assign(state, { trust: { status: 404 } })],
  [
    'trust',
    'over',
    (state, now) => {
      state.trust = { status: 200, body: { trust: { expires_at: new Date(now).toISOString() } } };
    },
  ],
])('a grant by %s is lost when that is %s, and the person keeps the roles', async (by, _, end) => {
  const { now, state, stands } = await keystone(60_000);
  expect(await stands(lent(by))).toBe('holds');
  end(state, now());
  now.pass(60_000);
  expect(await stands(lent(by))).toBe('lost');
  expect(await stands()).toBe('holds');
});

test('what lent the rights and cannot be asked about counts for the hours of the last act', async () => {
  const { now, stands } = await keystone();
  const caller: Caller = { ...granted, delegated: { by: 'oauth', id: 'o1' } };
  expect(await stands(caller)).toBe('holds');
  now.pass(25 * hour);
  expect(await stands(caller)).toBe('lost');
});

test('a user who has voted is asked about alike, and believed as long as the vote counts where nothing can say it', async () => {
  const { now, state, voter } = await keystone(60_000);
  expect(await voter(granted)).toBe('holds');
  state.roles = holds('reader');
  now.pass(60_000);
  expect(await voter(granted)).toBe('lost');
  state.roles = { status: 403 };
  now.pass(48 * hour);
  expect(await voter(granted)).toBe('holds');
  expect(await voter({ ...granted, strategy: 'noauth' })).toBe('holds');
  state.roles = 'hang up';
  now.pass(60_000);
  expect(await voter(granted)).toBe('away');
});

test('a role in another project by which rules admit is asked for as well', async () => {
  const { now, state, stands } = await keystone(60_000);
  const caller = { ...granted, admin_projects: ['elsewhere'] };
  expect(await stands(caller)).toBe('holds');
  state.admin = holds('reader');
  now.pass(60_000);
  expect(await stands(caller)).toBe('lost');
  expect(await stands()).toBe('holds');
});

test('a grant that nothing can be asked about does not shorten an outage of Keystone', async () => {
  const { now, state, stands } = await keystone(60_000);
  state.roles = 'hang up';
  expect(await stands()).toBe('waits');
  now.pass(901_000);
  expect(await stands({ ...granted, strategy: 'noauth' })).toBe('holds');
  expect(await stands()).toBe('silent');
});

test('a scope of the system is asked for as such', async () => {
  const { stands, asked } = await keystone();
  await stands({ ...granted, project_id: null, system_scope: 'all' });
  expect(asked()[0]!.url).toContain('scope.system=all');
});

test('an identity service that does not answer begins nothing, and after too long a person is needed', async () => {
  const { now, state, stands } = await keystone(60_000);
  expect(await stands()).toBe('holds');
  state.roles = 'hang up';
  now.pass(60_000);
  expect(await stands()).toBe('waits');
  now.pass(900_000);
  expect(await stands()).toBe('waits');
  now.pass(10_000);
  expect(await stands()).toBe('silent');
  state.roles = holds('manager', 'member', 'reader');
  now.pass(10_000);
  expect(await stands()).toBe('holds');
});

test.each(['user', 'project', 'domain', 'roles'] as const)(
  'where our own user may not ask for the %s, the last act of the person counts for its hours',
  async (what) => {
    const { now, state, stands } = await keystone();
    state[what] = { status: 403 };
    expect(await stands()).toBe('holds');
    now.pass(25 * hour);
    expect(await stands()).toBe('lost');
  },
);

test('the users file is asked each time, and counts however long ago the last act was', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'temper-grants-'));
  closers.push(() => rm(dir, { recursive: true }));
  const file = join(dir, 'users.yaml');
  const write = (roles: string) => writeFile(file, `users:\n  u1: {roles: [${roles}], project: p1}\n`);
  const now = clock();
  const authority = grantsFrom({ ...settings, TEMPER_USERS_FILE: file }, undefined, now);
  const at = new Date(now() - 48 * hour);
  const stands = () => authority({ ...granted, strategy: 'http_basic' }, at);
  await write('manager');
  expect(await stands()).toBe('holds');
  await write('member');
  expect(await stands()).toBe('lost');
  await writeFile(file, 'users: [');
  expect(await stands()).toBe('waits');
});

test('the grant of an OIDC token holds until the token ends, and no longer; a vote of its holder does not end with it', async () => {
  const now = clock();
  const caller: Caller = { ...granted, strategy: 'oidc', token_ends: new Date(now() + 300_000).toISOString() };
  const authority = grantsFrom(settings, undefined, now);
  const at = new Date(now());
  now.pass(299_000);
  expect(await authority(caller, at)).toBe('holds');
  now.pass(2_000);
  expect(await authority(caller, at)).toBe('lost');
  const longLived = { ...caller, token_ends: new Date(now() + 1_000 * hour).toISOString() };
  now.pass(25 * hour);
  expect(await authority(longLived, at)).toBe('lost');
  expect(await votersFrom(settings)(caller)).toBe('holds');
});
