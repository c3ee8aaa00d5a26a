/** Keystone tokens against an identity service that keeps to the protocol: the demo's. */

import { demoApplicationCredentials, demoProjects, startDemoIdentity } from '../../emulator/identity/index';
import { createIdentity, createKeystone, type KeystoneOptions, presentedFrom } from '../../src/identity';
import { clock, faultOf, presenting } from './support';

const now = clock();
let keystone: Awaited<ReturnType<typeof startDemoIdentity>>;
const strategies: { close?(): Promise<void> }[] = [];

beforeEach(async () => {
  keystone = await startDemoIdentity({ port: 0, host: '127.0.0.1', catalogUrl: 'http://bare.metal', now });
});
afterEach(async () => {
  await Promise.all(strategies.splice(0).map(async (strategy) => strategy.close?.()));
  await keystone.close().catch(() => {}); // some tests have closed it already
});

const start = (more: Partial<KeystoneOptions> = {}) => {
  const self = { username: 'temper', password: 'demo-temper', scope: { project: { name: 'service' } } } as const;
  const strategy = createKeystone({ identityUrl: keystone.url, self, now, ...more });
  strategies.push(strategy);
  return strategy;
};

const post = async (identity: unknown, scope?: unknown): Promise<string> => {
  const reply = await fetch(`${keystone.url}/v3/auth/tokens`, {
    method: 'POST',
    body: JSON.stringify({ auth: { identity, ...(scope ? { scope } : {}) } }),
  });
  expect(reply.status).toBe(201);
  return reply.headers.get('x-subject-token') as string;
};

const tokenOf = (name: string, scope?: unknown): Promise<string> =>
  post(
    { methods: ['password'], password: { user: { name, domain: { id: 'default' }, password: `demo-${name}` } } },
    scope,
  );

const credentialToken = (name: string): Promise<string> => {
  const id = demoApplicationCredentials.find((credential) => credential.name === name)?.id;
  return post({ methods: ['application_credential'], application_credential: { id, secret: `demo-${name}` } });
};

const revoke = async (token: string): Promise<void> => {
  const headers = { 'x-auth-token': token, 'x-subject-token': token };
  expect((await fetch(`${keystone.url}/v3/auth/tokens`, { method: 'DELETE', headers })).status).toBe(204);
};

const hour = 3600_000;

describe('a valid token', () => {
  test('of a project gives the project and the roles that the token lists', async () => {
    const verdict = await start().identify(presenting({ token: await tokenOf('owner-member') }));
    expect(verdict).toMatchObject({
      is: 'known',
      caller: {
        user_name: 'owner-member',
        user_domain_id: 'default',
        project_id: demoProjects['owner-project'],
        project_name: 'owner-project',
        project_domain_id: 'default',
        system_scope: null,
        domain_id: null,
        roles: ['member', 'reader'],
        service_roles: [],
        all_powerful: false,
        is_public_api: false,
        strategy: 'keystone',
      },
    });
  });

  test('of the system gives system scope and no project', async () => {
    const token = await tokenOf('operator', { system: { all: true } });
    expect(await start().identify(presenting({ token }))).toMatchObject({
      is: 'known',
      caller: { system_scope: 'all', project_id: null, roles: ['admin', 'manager', 'member', 'reader'] },
    });
  });

  test('without scope gives neither scope nor roles', async () => {
    const token = await tokenOf('owner-member', 'unscoped');
    const caller = { system_scope: null, project_id: null, domain_id: null, roles: [] };
    expect(await start().identify(presenting({ token }))).toMatchObject({ is: 'known', caller });
  });

  test('is believed for its cache time without another question, and no longer', async () => {
    const strategy = start({ outageMs: 0 });
    const token = await tokenOf('owner-member');
    await strategy.identify(presenting({ token }));
    await keystone.close();
    now.pass(299_000);
    expect((await strategy.identify(presenting({ token }))).is).toBe('known');
    now.pass(1_000);
    expect((await strategy.identify(presenting({ token }))).is).toBe('unavailable');
  });

  test('stands for one caller as long as it is believed, and for another one when it has been asked about again', async () => {
    const strategy = start({ cacheMs: 1000 });
    const token = await tokenOf('owner-member');
    const callerNow = async () => {
      const verdict = await strategy.identify(presenting({ token }));
      return verdict.is === 'known' ? verdict.caller : undefined;
    };
    const [first, second] = [await callerNow(), await callerNow()];
    expect(first).toBeDefined();
    expect(second).toBe(first);
    now.pass(1001);
    const third = await callerNow();
    expect(third).toEqual(first);
    expect(third).not.toBe(first);
  });

  test('is never believed after its end, however long the cache time', async () => {
    const strategy = start({ cacheMs: 48 * hour });
    const token = await tokenOf('owner-member');
    await strategy.identify(presenting({ token }));
    now.pass(24 * hour - 1);
    expect((await strategy.identify(presenting({ token }))).is).toBe('known');
    now.pass(1);
    expect((await strategy.identify(presenting({ token }))).is).toBe('refused');
  });

  test('that is revoked is refused at once when it is new to us, and after the cache time when it is not', async () => {
    const strategy = start();
    const [seen, unseen] = [await tokenOf('owner-member'), await tokenOf('owner-member')];
    await strategy.identify(presenting({ token: seen }));
    await revoke(seen);
    await revoke(unseen);
    expect((await strategy.identify(presenting({ token: unseen }))).is).toBe('refused');
    expect((await strategy.identify(presenting({ token: seen }))).is).toBe('known');
    now.pass(300_000);
    expect((await strategy.identify(presenting({ token: seen }))).is).toBe('refused');
  });
});

describe('a token that is not valid', () => {
  test.each([
    ['unknown', async () => 'no-such-token'],
    ['changed by one character', async () => (await tokenOf('owner-member')).replace(/^./, 'f')],
    ['not one that a header can carry', async () => 'tok en'],
    ['longer than any', async () => 'x'.repeat(9_000)],
    ['the name that Python clients make up', async () => 'notused'],
  ])('because it is %s is refused', async (_, token) => {
    expect((await start().identify(presenting({ token: await token() }))).is).toBe('refused');
  });

  test('because it has expired is refused', async () => {
    const token = await tokenOf('owner-member');
    now.pass(24 * hour);
    expect((await start().identify(presenting({ token }))).is).toBe('refused');
  });

  test('ends as a 401 that names the identity service', async () => {
    const identity = createIdentity([start({ publicUrl: 'https://keystone.example/v3/' })]);
    const fault = await faultOf(identity.identify(presenting({ token: 'no-such-token' })));
    expect(fault.facts.challenge).toBe('Keystone uri="https://keystone.example"');
    expect(JSON.stringify([fault.message, fault.facts])).not.toContain('no-such-token');
  });
});

test('identity headers that a client forges change nothing', async () => {
  const headers = {
    'x-auth-token': await tokenOf('lessee-reader'),
    'x-roles': 'admin',
    'x-project-id': demoProjects['owner-project'],
    'x-user-name': 'operator',
    'openstack-system-scope': 'all',
    'x-service-roles': 'service',
    'x-identity-status': 'Confirmed',
  };
  const strategy = start();
  const verdict = await strategy.identify(presentedFrom({ headers, method: 'GET', path: '/v1/nodes' }));
  expect(verdict).toMatchObject({
    is: 'known',
    caller: {
      user_name: 'lessee-reader',
      roles: ['reader'],
      system_scope: null,
      service_roles: [],
      project_id: demoProjects['lessee-project'],
    },
  });
  const { 'x-auth-token': _, ...forgedOnly } = headers;
  const request = presentedFrom({ headers: forgedOnly, method: 'GET', path: '/v1/nodes' });
  expect(await strategy.identify(request)).toEqual({ is: 'absent' });
});

describe('a service token', () => {
  test('with the service role says which service acts for the caller', async () => {
    const presented = presenting({ token: await tokenOf('owner-member'), serviceToken: await tokenOf('temper') });
    expect(await start().identify(presented)).toMatchObject({
      is: 'known',
      caller: {
        user_name: 'owner-member',
        roles: ['member', 'reader'],
        service_roles: ['service'],
        service_project_id: demoProjects.service,
      },
    });
  });

  test.each([
    ['an admin has no service role', () => tokenOf('operator', { system: { all: true } })],
    ['it is unknown', async () => 'no-such-token'],
  ])('does not count when %s, and the request is refused', async (_, serviceToken) => {
    const presented = presenting({ token: await tokenOf('owner-member'), serviceToken: await serviceToken() });
    expect((await start().identify(presented)).is).toBe('refused');
  });

  test('alone is no caller', async () => {
    expect(await start().identify(presenting({ serviceToken: await tokenOf('temper') }))).toEqual({ is: 'absent' });
  });

  test('lets a recently expired token of the caller pass, which is refused without it', async () => {
    const strategy = start();
    const token = await tokenOf('owner-member');
    now.pass(25 * hour);
    const serviceToken = await tokenOf('temper');
    const verdicts = [];
    for (const service of [null, serviceToken, null])
      verdicts.push((await strategy.identify(presenting({ token, serviceToken: service }))).is);
    expect(verdicts).toEqual(['refused', 'known', 'refused']);
  });

  test('that has expired itself does not', async () => {
    const [token, serviceToken] = [await tokenOf('owner-member'), await tokenOf('temper')];
    now.pass(25 * hour);
    expect((await start().identify(presenting({ token, serviceToken }))).is).toBe('refused');
  });
});

describe('an application credential', () => {
  test('without access rules may call everything, as its user', async () => {
    const token = await credentialToken('owner-member-app');
    const verdict = await start().identify(presenting({ token, method: 'PUT', path: '/v1/nodes/n/states/power' }));
    expect(verdict).toMatchObject({
      is: 'known',
      caller: { project_name: 'owner-project', roles: ['member', 'reader'] },
    });
  });

  test.each([
    ['GET', '/v1/nodes', 'known'],
    ['GET', '/v1/nodes/', 'known'],
    ['GET', '/v1/nodes/n1/states', 'known'],
    ['POST', '/v1/nodes', 'refused'],
    ['DELETE', '/v1/nodes/n1', 'refused'],
    ['GET', '/v1/ports', 'refused'],
    ['GET', '/v1/nodesque', 'refused'],
    ['GET', '/nodes', 'refused'],
    ['GET', '/', 'refused'],
  ])('that may only read nodes asks %s %s: %s', async (method, path, is) => {
    const token = await credentialToken('owner-member-nodes-only');
    expect((await start().identify(presenting({ token, method, path }))).is).toBe(is);
  });

  test('that may only read nodes may do the rest through a service that acts for it', async () => {
    const token = await credentialToken('owner-member-nodes-only');
    const request = presenting({ token, serviceToken: await tokenOf('temper'), path: '/v1/ports' });
    expect((await start().identify(request)).is).toBe('known');
  });

  test('is judged anew at every request, also when its token is cached', async () => {
    const strategy = start();
    const token = await credentialToken('owner-member-nodes-only');
    const verdicts = [];
    for (const path of ['/v1/nodes', '/v1/ports', '/v1/nodes'])
      verdicts.push((await strategy.identify(presenting({ token, path }))).is);
    expect(verdicts).toEqual(['known', 'refused', 'known']);
  });

  test('of another service type has no rules for this one', async () => {
    const token = await credentialToken('owner-member-nodes-only');
    expect((await start({ serviceType: 'compute' }).identify(presenting({ token }))).is).toBe('refused');
  });

  test('can be what our own service user logs in with', async () => {
    const id = demoApplicationCredentials.find(({ name }) => name === 'temper-app')?.id as string;
    const strategy = start({ self: { applicationCredential: { id, secret: 'demo-temper-app' } } });
    expect((await strategy.identify(presenting({ token: await tokenOf('owner-member') }))).is).toBe('known');
  });
});

describe('when the identity service is down', () => {
  test('a token seen before goes on, an unseen one is a 503 and not a 401', async () => {
    const strategy = start();
    const identity = createIdentity([strategy]);
    const [seen, unseen] = [await tokenOf('owner-member'), await tokenOf('owner-member')];
    await identity.identify(presenting({ token: seen }));
    await keystone.close();
    expect((await identity.identify(presenting({ token: seen }))).user_name).toBe('owner-member');
    const fault = await faultOf(identity.identify(presenting({ token: unseen })));
    expect(fault).toMatchObject({ code: 'IdentityUnavailable', status: 503 });
    expect(JSON.stringify([fault.message, fault.facts])).not.toContain(unseen);
  });

  test('a request without a token is still a 401', async () => {
    const identity = createIdentity([start()]);
    await keystone.close();
    expect((await faultOf(identity.identify(presenting({})))).code).toBe('Unauthenticated');
  });
});

test('wrong credentials of our service user are our fault, not the caller’s', async () => {
  const strategy = start({ self: { username: 'temper', password: 'wrong', scope: { project: { name: 'service' } } } });
  const verdict = await strategy.identify(presenting({ token: await tokenOf('owner-member') }));
  expect(verdict).toEqual({
    is: 'unavailable',
    reason: 'the identity service refused the credentials of our service user',
  });
});

test('a service user who may not validate is our fault too', async () => {
  const self = {
    username: 'owner-reader',
    password: 'demo-owner-reader',
    scope: { project: { name: 'owner-project' } },
  };
  const verdict = await start({ self }).identify(presenting({ token: await tokenOf('owner-member') }));
  expect(verdict).toMatchObject({ is: 'unavailable', reason: expect.stringContaining('403') });
});
