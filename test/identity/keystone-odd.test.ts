/** Keystone tokens against an identity service that answers oddly, late, or not at all. */
import { createIdentity, createKeystone, createStaticTokens, type KeystoneOptions } from '../../src/identity';
import { accessRulesAllow, TokenReply } from '../../src/identity/keystone-token';
import { clock, faultOf, ownLogin, presenting, startScriptedKeystone, textSource, tokenBody } from './support';

const self = { username: 'temper', password: 'own-password', scope: { system: 'all' } } as const;
const closers: (() => Promise<void> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Scripted = Parameters<typeof startScriptedKeystone>[0];

/** A strategy before a service that logs us in, and answers validations as set. */
const started = async (
  validation: Scripted,
  more: Partial<KeystoneOptions> = {},
  login: Scripted = () => ownLogin(),
) => {
  const service = await startScriptedKeystone((request) =>
    request.method === 'POST' ? login(request) : validation(request),
  );
  closers.push(service.close);
  const strategy = createKeystone({ identityUrl: `${service.url}/v3/`, self, ...more });
  closers.push(() => strategy.close?.());
  return { service, strategy };
};

const ask = (strategy: { identify: ReturnType<typeof createKeystone>['identify'] }, token = 'user-token') =>
  strategy.identify(presenting({ token }));

test('validation asks with our own token, without the catalog, and says that access rules are understood', async () => {
  const { service, strategy } = await started(() => ({ status: 200, body: tokenBody() }));
  expect((await ask(strategy)).is).toBe('known');
  expect(service.asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'POST /v3/auth/tokens?nocatalog',
    'GET /v3/auth/tokens?nocatalog',
  ]);
  expect(service.asked[1]?.headers).toMatchObject({
    'x-auth-token': 'own-token',
    'x-subject-token': 'user-token',
    'openstack-identity-access-rules': '1.0',
  });
});

test('requests with one token that come together ask once, and log in once', async () => {
  const { service, strategy } = await started(() => ({ status: 200, body: tokenBody() }));
  const verdicts = await Promise.all(['a', 'a', 'a', 'b'].map((token) => ask(strategy, token)));
  expect(verdicts.every(({ is }) => is === 'known')).toBe(true);
  expect([service.count('POST'), service.count('GET')]).toEqual([1, 2]);
});

test('an unknown token is remembered as such for a short while', async () => {
  const now = clock();
  const { service, strategy } = await started(() => ({ status: 404 }), { now });
  for (const pause of [0, 9_000, 2_000]) {
    now.pass(pause);
    expect((await ask(strategy)).is).toBe('refused');
  }
  expect(service.count('GET')).toBe(2);
});

test('silence is not remembered: the next request asks again', async () => {
  let down = true;
  const { strategy } = await started(() => (down ? { status: 503 } : { status: 200, body: tokenBody() }));
  expect((await ask(strategy)).is).toBe('unavailable');
  down = false;
  expect((await ask(strategy)).is).toBe('known');
});

test('our own token is renewed before its end, so that no validation meets an expired one', async () => {
  const now = clock();
  const { service, strategy } = await started(() => ({ status: 404 }), { now });
  for (const [token, pauseMs] of Object.entries({ a: 0, b: 50 * 60_000, c: 6 * 60_000 })) {
    now.pass(pauseMs);
    await ask(strategy, token);
  }
  expect(service.asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'POST', 'GET']);
});

test('when our own token is no longer accepted, a new one is fetched and the question repeated', async () => {
  let logins = 0;
  const { strategy, service } = await started(
    (request) => (request.headers['x-auth-token'] === 'own-2' ? { status: 200, body: tokenBody() } : { status: 401 }),
    {},
    () => ownLogin(`own-${++logins}`),
  );
  expect((await ask(strategy)).is).toBe('known');
  expect([service.count('POST'), service.count('GET')]).toEqual([2, 2]);
});

test('when no token of ours is ever accepted, it is an outage; it is not the caller who is refused', async () => {
  const { strategy, service } = await started(() => ({ status: 401 }));
  expect((await ask(strategy)).is).toBe('unavailable');
  expect(service.count('GET')).toBe(2);
});

test('a refused login of ours is not tried again at once, lest our service user be locked out', async () => {
  const now = clock();
  const { strategy, service } = await started(
    () => ({ status: 404 }),
    { now },
    () => ({ status: 401 }),
  );
  for (const token of ['a', 'b', 'c']) expect((await ask(strategy, token)).is).toBe('unavailable');
  expect(service.count('POST')).toBe(1);
  now.pass(5_000);
  await ask(strategy, 'd');
  expect(service.count('POST')).toBe(2);
});

test.each<[string, Awaited<ReturnType<Scripted>>]>([
  ['an error', { status: 500, body: 'oops' }],
  ['that it is too busy', { status: 429 }],
  ['a redirect', { status: 302, headers: { location: '/elsewhere' } }],
  ['no JSON', { status: 200, body: '<html>' }],
  ['JSON that is no token', { status: 200, body: { hello: 1 } }],
  ['a token without a user', { status: 200, body: tokenBody({ user: undefined }) }],
  ['a token without an end', { status: 200, body: tokenBody({ expires_at: undefined }) }],
  ['a token whose end cannot be read', { status: 200, body: tokenBody({ expires_at: 'tomorrow' }) }],
  ['a token whose roles are no list', { status: 200, body: tokenBody({ roles: 'admin' }) }],
  [
    'access rules that cannot be read',
    { status: 200, body: tokenBody({ application_credential: { access_rules: 'GET' } }) },
  ],
  ['more than a token can be', { status: 200, body: 'x'.repeat(1024 * 1024 + 1) }],
  ['nothing and hangs up', 'hang up'],
])('an identity service that answers %s authenticates no caller', async (_, answer) => {
  const { strategy } = await started(() => answer);
  const verdict = await ask(strategy);
  expect(verdict.is).toBe('unavailable');
  expect(JSON.stringify(verdict)).not.toMatch(/user-token|own-token|own-password/);
});

test('an identity service that says nothing at all is given up on', async () => {
  const { strategy } = await started(() => 'hang', { timeoutMs: 50 });
  expect((await ask(strategy)).is).toBe('unavailable');
});

test('a token that the service vouches for although its end has passed is refused', async () => {
  const { strategy } = await started(() => ({ status: 200, body: tokenBody({ expires_at: '2020-01-01T00:00:00Z' }) }));
  expect((await ask(strategy)).is).toBe('refused');
});

test('a service token that is vouched for although its end has passed does not count', async () => {
  const { strategy } = await started(({ headers }) => ({
    status: 200,
    body: tokenBody(
      headers['x-subject-token'] === 'service-token'
        ? { expires_at: '2020-01-01T00:00:00Z', roles: [{ id: 's', name: 'service' }] }
        : {},
    ),
  }));
  const verdict = await strategy.identify(presenting({ token: 'user-token', serviceToken: 'service-token' }));
  expect(verdict.is).toBe('refused');
});

test('a token of domain scope gives the domain and no project', async () => {
  const { strategy } = await started(() => ({
    status: 200,
    body: tokenBody({ project: undefined, domain: { id: 'd1', name: 'one' } }),
  }));
  const caller = { domain_id: 'd1', project_id: null, project_domain_id: null, system_scope: null };
  expect(await ask(strategy)).toMatchObject({ is: 'known', caller });
});

test('a token of a project that is not the admin project says so', async () => {
  const { strategy } = await started(() => ({ status: 200, body: tokenBody({ is_admin_project: false }) }));
  expect(await ask(strategy)).toMatchObject({ is: 'known', caller: { is_admin_project: false } });
});

test('roles are those that the token lists: nothing is added to an admin of an older cloud', async () => {
  const { strategy } = await started(() => ({ status: 200, body: tokenBody({ roles: [{ id: 'r', name: 'admin' }] }) }));
  expect(await ask(strategy)).toMatchObject({ is: 'known', caller: { roles: ['admin'] } });
});

describe('static tokens beside keystone', () => {
  const fixed = () =>
    createStaticTokens({
      tokens: textSource('tokens: [{user: ci, token: ci-token-0123456789, roles: [admin], system: all}]'),
    });

  test.each(['keystone first', 'static first'])('both are asked about a token, %s', async (order) => {
    const { strategy } = await started(({ headers }) =>
      headers['x-subject-token'] === 'user-token' ? { status: 200, body: tokenBody() } : { status: 404 },
    );
    const both = order === 'keystone first' ? [strategy, await fixed()] : [await fixed(), strategy];
    const identity = createIdentity(both);
    expect((await identity.identify(presenting({ token: 'ci-token-0123456789' }))).strategy).toBe('static_tokens');
    expect((await identity.identify(presenting({ token: 'user-token' }))).strategy).toBe('keystone');
    expect((await faultOf(identity.identify(presenting({ token: 'neither' })))).code).toBe('Unauthenticated');
  });

  test('a static token works while keystone is down, and another token is a 503', async () => {
    const { strategy } = await started(() => 'hang up');
    const identity = createIdentity([strategy, await fixed()]);
    expect((await identity.identify(presenting({ token: 'ci-token-0123456789' }))).user_name).toBe('ci');
    expect((await faultOf(identity.identify(presenting({ token: 'user-token' })))).code).toBe('IdentityUnavailable');
  });
});

describe('access rules', () => {
  const tokenWith = (access_rules: unknown) =>
    TokenReply.parse(tokenBody({ application_credential: { id: 'a', name: 'a', restricted: true, access_rules } }))
      .token;
  const allows = (path: string, asked: string, service = 'baremetal') =>
    accessRulesAllow(
      tokenWith([{ id: 'x', service, method: 'GET', path }]),
      { method: 'GET', path: asked },
      'baremetal',
    );

  test.each([
    ['/v1/nodes', '/v1/nodes', true],
    ['/v1/nodes', '/v1/nodes/n', false],
    ['/v1/nodes/*', '/v1/nodes/n', true],
    ['/v1/nodes/*', '/v1/nodes/', false],
    ['/v1/nodes/*', '/v1/nodes/n/states', false],
    ['/v1/nodes/*/states', '/v1/nodes/n/states', true],
    ['/v1/nodes/{node}/states', '/v1/nodes/n/states', true],
    ['/v1/nodes/{node}/states', '/v1/nodes//states', false],
    ['/v1/**', '/v1/nodes/n/states', true],
    ['/v1/**', '/v2/nodes', false],
    ['**', '/', true],
    ['/v1/**/power', '/v1/nodes/n/states/power', true],
    ['/v1/**/power', '/v1/nodes/n/states', false],
    ['/v1.nodes', '/v1/nodes', false],
    ['/v1/(nodes|ports)', '/v1/nodes', false],
    ['/v1/n{', '/v1/n{', true],
    ['/V1/nodes', '/v1/nodes', false],
  ])('%s allows %s: %s', (path, asked, may) => expect(allows(path, asked)).toBe(may));

  test('for another service allow nothing here', () => expect(allows('/v1/nodes', '/v1/nodes', 'compute')).toBe(false));

  test.each([
    ['no list', null, true],
    ['an absent list', undefined, true],
    ['an empty list', [], false],
  ])('%s allows a request: %3$s', (_, rules, may) =>
    expect(accessRulesAllow(tokenWith(rules), { method: 'GET', path: '/v1/nodes' }, 'baremetal')).toBe(may),
  );

  test('written to take long do not: a pattern full of wildcards is matched in bounded work', () => {
    // Backtracking would not end before the test's time does.
    expect(allows(`/${'**a'.repeat(80)}b`, `/${'a'.repeat(4_000)}`)).toBe(false);
  });
});
