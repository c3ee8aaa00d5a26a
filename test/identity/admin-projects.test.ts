/** In which other projects an admin is admin: from the files, and from Keystone where it may be asked. */
import { createKeystone, createStaticTokens, type KeystoneOptions } from '../../src/identity';
import { parseUsers } from '../../src/identity/users';
import { clock, ownLogin, presenting, startScriptedKeystone, textSource, tokenBody } from './support';

const self = { username: 'temper', password: 'own-password', scope: { system: 'all' } } as const;
const closers: (() => Promise<void> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const assignments = (...projects: string[]) => ({
  status: 200,
  body: {
    role_assignments: [
      ...projects.map((id) => ({ role: { id: 'ra' }, user: { id: 'u1' }, scope: { project: { id } } })),
      { role: { id: 'ra' }, user: { id: 'u1' }, scope: { domain: { id: 'default' } } },
      { role: { id: 'ra' }, user: { id: 'u1' }, scope: { system: { all: true } } },
    ],
    links: {},
  },
});
const adminRoles = [
  { id: 'ra', name: 'admin' },
  { id: 'rm', name: 'member' },
];

/** A service whose tokens are an admin's, unless `token` says otherwise, and who answers assignments as `state` says. */
const started = async (token: Record<string, unknown> = {}, more: Partial<KeystoneOptions> = {}) => {
  const now = clock();
  const told: string[] = [];
  const state: { answer: ReturnType<typeof assignments> | { status: number; body?: unknown } | 'hang up' } = {
    answer: assignments('p1', 'p2', 'p3', 'p2'),
  };
  const service = await startScriptedKeystone(({ method, url }) => {
    if (method === 'POST') return ownLogin();
    if (url?.includes('role_assignments')) return state.answer;
    const expires_at = new Date(now() + 3600_000).toISOString();
    return { status: 200, body: tokenBody({ expires_at, roles: adminRoles, ...token }) };
  });
  closers.push(service.close);
  const onUnknownProjects = (reason: string) => told.push(reason);
  const strategy = createKeystone({
    identityUrl: service.url,
    self,
    now,
    adminProjects: true,
    onUnknownProjects,
    ...more,
  });
  closers.push(() => strategy.close?.());
  const ask = async (name = 't') => {
    const verdict = await strategy.identify(presenting({ token: name }));
    return verdict.is === 'known' ? verdict.caller.admin_projects : verdict.is;
  };
  const asked = () => service.asked.filter(({ url }) => url.includes('role_assignments'));
  return { now, told, state, ask, asked };
};

describe('from Keystone', () => {
  test('they are the projects of the role assignments of user and role, each once', async () => {
    const { ask, asked } = await started();
    expect(await ask()).toEqual(['p1', 'p2', 'p3']);
    const url = new URL(asked()[0]!.url, 'http://x');
    expect(url.pathname).toBe('/v3/role_assignments');
    expect(Object.fromEntries(url.searchParams)).toEqual({ 'user.id': 'u1', 'role.id': 'ra', effective: '' });
    expect(asked()[0]!.headers['x-auth-token']).toBe('own-token');
  });

  test('no service is asked unless the operator says so', async () => {
    const { ask, asked } = await started({}, { adminProjects: undefined });
    expect(await ask()).toEqual([]);
    expect(asked()).toEqual([]);
  });

  test.each([
    ['who is no admin', { roles: [{ id: 'rm', name: 'member' }] }],
    ['with system scope', { project: null, system: { all: true } }],
    ['with an application credential', { application_credential: { id: 'a', name: 'a', restricted: true } }],
    ['with a trust', { 'OS-TRUST:trust': { id: 't' } }],
    ['with an OAuth grant', { 'OS-OAUTH1': { access_token_id: 'x' } }],
  ])('a caller %s has none, and no service is asked', async (_, token) => {
    const { ask, asked } = await started(token);
    expect(await ask()).toEqual([]);
    expect(asked()).toEqual([]);
  });

  test('they are believed as long as the token, and asked for anew with it', async () => {
    const { now, state, ask, asked } = await started({}, { cacheMs: 60_000 });
    await ask();
    state.answer = assignments('p1');
    now.pass(59_999);
    expect(await ask()).toEqual(['p1', 'p2', 'p3']);
    expect(asked()).toHaveLength(1);
    now.pass(1);
    expect(await ask()).toEqual(['p1']);
    expect(await ask('another')).toEqual(['p1']);
    expect(asked()).toHaveLength(3);
  });

  test.each([
    ['refuses our service user', { status: 403 }, /does not let our service user list role assignments/],
    ['fails', { status: 500 }, /answered 500/],
    ['answers something else', { status: 200, body: { role_assignments: [{}] } }, /no role assignments/],
    ['hangs up', 'hang up' as const, /did not answer/],
  ])(
    'where the identity service %s, the caller is known all the same, and the projects are unknown',
    async (...row) => {
      const [, answer, reason] = row;
      const { now, told, state, ask, asked } = await started();
      state.answer = answer;
      expect([await ask(), await ask(), await ask('other')]).toEqual([null, null, null]);
      expect(told).toEqual([expect.stringMatching(reason)]);
      const before = asked().length;
      now.pass(10_000);
      expect(await ask()).toBeNull();
      expect(asked().length).toBeGreaterThan(before);
      expect(told).toHaveLength(1);
      state.answer = assignments('p2');
      now.pass(10_000);
      expect(await ask()).toEqual(['p2']);
    },
  );

  test('an outage leaves what is known with its token', async () => {
    const { state, ask } = await started();
    await ask();
    state.answer = 'hang up';
    expect(await ask()).toEqual(['p1', 'p2', 'p3']);
    expect(await ask('new')).toBeNull();
  });
});

describe('from the files', () => {
  const tokens = (entry: object) =>
    createStaticTokens({
      tokens: textSource(JSON.stringify({ tokens: [{ user: 'ann', token: 'x'.repeat(16), ...entry }] })),
    });
  const callerOf = async (entry: object) => {
    const verdict = await (await tokens(entry)).identify(presenting({ token: 'x'.repeat(16) }));
    return verdict.is === 'known' ? verdict.caller : undefined;
  };

  test('a token’s entry names them, each once; without the key there are none', async () => {
    const entry = { roles: ['admin'], project: 'p1' };
    expect((await callerOf({ ...entry, admin_projects: ['p2', 'p3', 'p2'] }))?.admin_projects).toEqual(['p2', 'p3']);
    expect((await callerOf(entry))?.admin_projects).toEqual([]);
  });

  test('a user’s entry does too', () => {
    const text = 'users: {ann: {roles: [admin], project: p1, admin_projects: [p2]}}';
    expect(parseUsers(text, 'users').get('ann')?.admin_projects).toEqual(['p2']);
  });

  test.each([
    ['no admin', { roles: ['manager'], project: 'p1', admin_projects: ['p2'] }],
    ['of the system', { roles: ['admin'], system: 'all', admin_projects: ['p2'] }],
    ['left to the users file', { admin_projects: ['p2'] }],
  ])('an entry that is %s cannot have them', async (_, entry) => {
    await expect(tokens(entry)).rejects.toMatchObject({
      code: 'IdentityFileInvalid',
      message: expect.stringContaining('admin_projects are for an admin of a project'),
    });
  });

  test('an empty list is refused, for it says nothing', async () => {
    await expect(tokens({ roles: ['admin'], project: 'p1', admin_projects: [] })).rejects.toThrow(
      'at least one project',
    );
  });
});
