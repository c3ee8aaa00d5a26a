/** Who is calling, by the tokens of a real Keystone: scopes, roles, credentials, services, and what ends a token. */
import fc from 'fast-check';
import { createIdentity, createKeystone, type KeystoneOptions, presentedFrom } from '../../src/identity';
import { clock, faultOf, presenting } from '../identity/support';
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

const whenThere = suiteOf('a real Keystone', keystoneMissing);

const cacheMs = 300_000;
const temper = { username: 'temper', password: 'temper-secret', scope: { project: { name: 'service' } } } as const;

whenThere('tokens of a real Keystone', () => {
  let keystone: Keystone;
  let people: Awaited<ReturnType<typeof populate>>;
  let service: string;
  let lab: string;
  let ann: string;
  const strategies: ReturnType<typeof createKeystone>[] = [];

  beforeAll(async () => {
    keystone = await startKeystone();
    people = await populate(keystone);
    service = await people.makeProject('service');
    lab = await people.makeProject('lab');
    await people.grant('service', await people.makeUser('temper'), `projects/${service}`);
    ann = await people.makeUser('ann');
    await people.grant('member', ann, `projects/${lab}`);
    await member('bob');
  });
  afterAll(async () => {
    await Promise.all(strategies.map(async (strategy) => strategy.close?.()));
    await keystone?.close();
  });

  const start = (more: Partial<KeystoneOptions> = {}) => {
    const strategy = createKeystone({ identityUrl: keystone.url, self: temper, cacheMs, ...more });
    strategies.push(strategy);
    return strategy;
  };
  const secretOf = (name: string) => byPassword(name, `${name}-secret`);
  const tokenOf = (name: string, scope: unknown) => keystone.login(secretOf(name), scope);
  const annToken = () => tokenOf('ann', inProject(lab));
  const verdictOn = (token: string, more: Parameters<typeof presenting>[0] = {}) =>
    start().identify(presenting({ token, ...more }));
  /** A new member of the lab, for a test that does something to them. */
  const member = async (name: string): Promise<string> => {
    const id = await people.makeUser(name);
    await people.grant('member', id, `projects/${lab}`);
    return id;
  };

  describe('scopes and roles', () => {
    test('a project token gives the project, its domain, and the roles with those they imply', async () => {
      expect(await verdictOn(await annToken())).toMatchObject({
        is: 'known',
        caller: {
          user_id: ann,
          user_name: 'ann',
          user_domain_id: 'default',
          project_id: lab,
          project_name: 'lab',
          project_domain_id: 'default',
          system_scope: null,
          domain_id: null,
          roles: expect.arrayContaining(['member', 'reader']),
          service_roles: [],
          is_admin_project: true,
          all_powerful: false,
          strategy: 'keystone',
        },
      });
    });

    test('a system token gives the system and no project, and is not had without a role on it', async () => {
      const root = await people.makeUser('root');
      await people.grant('admin', root);
      const verdict = await verdictOn(await tokenOf('root', system));
      expect(verdict).toMatchObject({
        is: 'known',
        caller: { system_scope: 'all', project_id: null, domain_id: null },
      });
      expect(verdict.is === 'known' && [...verdict.caller.roles].sort()).toEqual([
        'admin',
        'manager',
        'member',
        'reader',
      ]);
      expect((await keystone.tryLogin(secretOf('ann'), system)).status).toBe(401);
    });

    test('a domain token gives the domain, and neither project nor system', async () => {
      await people.grant('manager', await people.makeUser('dora'), 'domains/default');
      expect(await verdictOn(await tokenOf('dora', { domain: { id: 'default' } }))).toMatchObject({
        is: 'known',
        caller: { domain_id: 'default', project_id: null, system_scope: null },
      });
    });

    test('a token without scope gives no role at all', async () => {
      expect(await verdictOn(await tokenOf('ann', 'unscoped'))).toMatchObject({
        is: 'known',
        caller: { project_id: null, system_scope: null, domain_id: null, roles: [] },
      });
    });

    test('roles that a site lets imply others are believed as the token lists them', async () => {
      const [auditor, reader] = [await people.makeRole('auditor'), people.roles.reader];
      await keystone.admin('PUT', `/roles/${auditor}/implies/${reader}`);
      await people.grant('auditor', await people.makeUser('aude'), `projects/${lab}`);
      const verdict = await verdictOn(await tokenOf('aude', inProject(lab)));
      expect(verdict.is === 'known' && [...verdict.caller.roles].sort()).toEqual(['auditor', 'reader']);
    });

    test('users of two domains who share a name are not taken for one another', async () => {
      const { id } = (await keystone.admin('POST', '/domains', { domain: { name: 'elsewhere' } })).domain;
      const project = await people.makeProject('lab', id);
      await people.grant('reader', await people.makeUser('ann', id), `projects/${project}`);
      const token = await keystone.login(byPassword('ann', 'ann-secret', { name: 'elsewhere' }), inProject(project));
      expect(await verdictOn(token)).toMatchObject({
        is: 'known',
        caller: { user_domain_id: id, project_domain_id: id, project_id: project, roles: ['reader'] },
      });
    });

    test('headers in which a client names itself what it likes change nothing', async () => {
      const headers = {
        'x-auth-token': await annToken(),
        'x-roles': 'admin',
        'x-user-id': 'root',
        'x-project-id': service,
        'openstack-system-scope': 'all',
        'x-service-roles': 'service',
        'x-identity-status': 'Confirmed',
      };
      const { 'x-auth-token': _, ...forgedOnly } = headers;
      const asked = (given: Record<string, string>) =>
        start().identify(presentedFrom({ headers: given, method: 'GET', path: '/v1/nodes' }));
      expect(await asked(headers)).toEqual(await verdictOn(headers['x-auth-token']));
      expect(await asked(forgedOnly)).toEqual({ is: 'absent' });
    });
  });

  describe('application credentials', () => {
    const make = async (name: string, more: Record<string, unknown> = {}) => {
      const body = { application_credential: { name, ...more } };
      const path = `/users/${ann}/application_credentials`;
      const { id, secret } = (await keystone.as(await annToken(), 'POST', path, body)).application_credential;
      const login = () =>
        keystone.login({ methods: ['application_credential'], application_credential: { id, secret } });
      return { id, login };
    };
    const reading = (path: string) => ({ service: 'baremetal', method: 'GET', path });

    test('one without access rules may call everything, as its user in its project', async () => {
      const token = await (await make('whole')).login();
      expect(await verdictOn(token, { method: 'PUT', path: '/v1/nodes/n/states/power' })).toMatchObject({
        is: 'known',
        caller: { user_id: ann, project_id: lab },
      });
    });

    test('one with fewer roles than its user has no more than those', async () => {
      const token = await (await make('reader', { roles: [{ name: 'reader' }] })).login();
      expect(await verdictOn(token)).toMatchObject({ is: 'known', caller: { roles: ['reader'] } });
    });

    test('access rules limit method and path, at the first request and at those from the cache', async () => {
      const { login } = await make('nodes', { access_rules: [reading('/v1/nodes'), reading('/v1/nodes/{n}/states')] });
      const [token, strategy] = [await login(), start()];
      const verdicts: Record<string, string> = {};
      for (const at of [
        'GET /v1/nodes',
        'GET /v1/nodes/n/states',
        'POST /v1/nodes',
        'GET /v1/nodes/n',
        'GET /v1/ports',
      ]) {
        const [method, path] = at.split(' ') as [string, string];
        verdicts[at] = (await strategy.identify(presenting({ token, method, path }))).is;
      }
      expect(verdicts).toEqual({
        'GET /v1/nodes': 'known',
        'GET /v1/nodes/n/states': 'known',
        'POST /v1/nodes': 'refused',
        'GET /v1/nodes/n': 'refused',
        'GET /v1/ports': 'refused',
      });
    });

    test('rules for another service allow nothing here', async () => {
      const { login } = await make('compute', { access_rules: [{ ...reading('/**'), service: 'compute' }] });
      expect((await verdictOn(await login())).is).toBe('refused');
    });

    test('the limits fall where a service acts for the holder, whose own paths they do not name', async () => {
      const token = await (await make('through', { access_rules: [reading('/v1/nodes')] })).login();
      const serviceToken = await tokenOf('temper', inProject(service));
      expect((await verdictOn(token, { path: '/v1/ports' })).is).toBe('refused');
      expect((await verdictOn(token, { path: '/v1/ports', serviceToken })).is).toBe('known');
    });

    test('one that is deleted takes its tokens with it', async () => {
      const { id, login } = await make('short-lived');
      const token = await login();
      expect((await verdictOn(token)).is).toBe('known');
      await keystone.as(await annToken(), 'DELETE', `/users/${ann}/application_credentials/${id}`);
      expect((await verdictOn(token)).is).toBe('refused');
    });
  });

  describe('services that act for others', () => {
    test('a service token with the role says which service it is', async () => {
      const verdict = await verdictOn(await annToken(), { serviceToken: await tokenOf('temper', inProject(service)) });
      expect(verdict).toMatchObject({
        is: 'known',
        caller: {
          user_id: ann,
          service_roles: ['service'],
          service_user_id: expect.any(String),
          service_user_domain_id: 'default',
          service_project_id: service,
          service_project_domain_id: 'default',
        },
      });
    });

    test('a token without the role is no service token, however powerful, and the request is refused', async () => {
      const admin = await people.makeUser('no-service');
      await people.grant('admin', admin);
      const serviceToken = await tokenOf('no-service', system);
      expect((await verdictOn(await annToken(), { serviceToken })).is).toBe('refused');
    });

    test('a token that ended an hour ago passes with a service token, and never without', async () => {
      const token = await keystone.expired(ann, lab);
      const serviceToken = await tokenOf('temper', inProject(service));
      const strategy = start();
      const verdicts = [];
      for (const given of [null, serviceToken, null])
        verdicts.push((await strategy.identify(presenting({ token, serviceToken: given }))).is);
      expect(verdicts).toEqual(['refused', 'known', 'refused']);
    });
  });

  describe('projects in which an admin is admin too', () => {
    const watcher = { username: 'watcher', password: 'watcher-secret', scope: { system: 'all' } } as const;
    let sue: string;
    let home: string;
    let supported: string[];

    beforeAll(async () => {
      await people.grant('reader', await people.makeUser('watcher'));
      sue = await people.makeUser('sue');
      home = await people.makeProject('support');
      const [direct, grouped, parent] = [
        await people.makeProject('direct'),
        await people.makeProject('grouped'),
        await people.makeProject('parent'),
      ];
      const body = { project: { name: 'child', domain_id: 'default', parent_id: parent } };
      const child = (await keystone.admin('POST', '/projects', body)).project.id;
      const group = (await keystone.admin('POST', '/groups', { group: { name: 'helpers', domain_id: 'default' } }))
        .group;
      await keystone.admin('PUT', `/groups/${group.id}/users/${sue}`);
      for (const project of [home, direct]) await people.grant('admin', sue, `projects/${project}`);
      await keystone.admin('PUT', `/projects/${grouped}/groups/${group.id}/roles/${people.roles.admin}`);
      const inherited = `/OS-INHERIT/projects/${parent}/users/${sue}/roles/${people.roles.admin}/inherited_to_projects`;
      await keystone.admin('PUT', inherited);
      await people.grant('manager', sue, `projects/${await people.makeProject('managed')}`);
      await people.grant('admin', sue, 'domains/default');
      supported = [home, direct, grouped, child].sort();
    });

    const projects = async (more: Partial<KeystoneOptions>, token?: string) => {
      const verdict = await start({ adminProjects: true, ...more }).identify(
        presenting({ token: token ?? (await tokenOf('sue', inProject(home))) }),
      );
      if (verdict.is !== 'known') throw new Error(verdict.is);
      const found = verdict.caller.admin_projects;
      return found && [...found].sort();
    };

    test('are those where the role was given to the user, to a group, or is inherited, and no others', async () => {
      expect(await projects({ self: watcher })).toEqual(supported);
    });

    test('are unknown where our own user may not list role assignments, and no caller is kept out by it', async () => {
      const told: string[] = [];
      expect(await projects({ onUnknownProjects: (reason) => told.push(reason) })).toBeNull();
      expect(told).toEqual([expect.stringMatching(/does not let our service user list role assignments/)]);
    });

    test('are no caller’s by an application credential, which is for one project', async () => {
      const body = { application_credential: { name: 'one-project' } };
      const own = await tokenOf('sue', inProject(home));
      const made = await keystone.as(own, 'POST', `/users/${sue}/application_credentials`, body);
      const { id, secret } = made.application_credential;
      const token = await keystone.login({
        methods: ['application_credential'],
        application_credential: { id, secret },
      });
      expect(await projects({ self: watcher }, token)).toEqual([]);
    });

    test('are no caller’s where the operator did not ask for them', async () => {
      expect(await projects({ self: watcher, adminProjects: false })).toEqual([]);
    });
  });

  describe('what ends a token', () => {
    type Ending = (given: { token: string; id: string; project: string }) => Promise<unknown>;
    const endings: Record<string, Ending> = {
      'it is revoked': ({ token }) => keystone.revoke(token),
      'its user is disabled': ({ id }) => keystone.admin('PATCH', `/users/${id}`, { user: { enabled: false } }),
      'its user is deleted': ({ id }) => keystone.admin('DELETE', `/users/${id}`),
      'its user gets another password': ({ id }) =>
        keystone.admin('PATCH', `/users/${id}`, { user: { password: 'another-secret' } }),
      'its project is disabled': ({ project }) =>
        keystone.admin('PATCH', `/projects/${project}`, { project: { enabled: false } }),
      'its user loses the last role': ({ id, project }) =>
        keystone.admin('DELETE', `/projects/${project}/users/${id}/roles/${people.roles.member}`),
    };

    test.each(Object.keys(endings))(
      'when %s, who has seen it believes it for the cache time and no longer',
      async (why) => {
        const name = why.replaceAll(' ', '-');
        const [id, project] = [await people.makeUser(name), await people.makeProject(name)];
        await people.grant('member', id, `projects/${project}`);
        const token = await tokenOf(name, inProject(project));
        const now = clock();
        const strategy = start({ now });
        const asked = async () => (await strategy.identify(presenting({ token }))).is;
        expect(await asked()).toBe('known');
        await endings[why]!({ token, id, project });
        expect((await verdictOn(token)).is).toBe('refused');
        now.pass(cacheMs - 1_000);
        expect(await asked()).toBe('known');
        now.pass(1_000);
        expect(await asked()).toBe('refused');
      },
    );

    test('a role that is taken away is gone after the cache time, the others stay', async () => {
      const id = await member('demoted');
      await people.grant('manager', id, `projects/${lab}`);
      const token = await tokenOf('demoted', inProject(lab));
      const now = clock();
      const strategy = start({ now });
      const roles = async () => {
        const verdict = await strategy.identify(presenting({ token }));
        return verdict.is === 'known' ? [...verdict.caller.roles].sort() : verdict;
      };
      expect(await roles()).toEqual(['manager', 'member', 'reader']);
      await keystone.admin('DELETE', `/projects/${lab}/users/${id}/roles/${people.roles.manager}`);
      expect(await roles()).toContain('manager');
      now.pass(cacheMs);
      expect(await roles()).toEqual(['member', 'reader']);
    });
  });

  describe('our own user', () => {
    test('may be one of another domain, by the domain’s name', async () => {
      const { id } = (await keystone.admin('POST', '/domains', { domain: { name: 'machines' } })).domain;
      const project = await people.makeProject('services', id);
      await people.grant('service', await people.makeUser('temper-there', id), `projects/${project}`);
      const domain = { name: 'machines' };
      const self = {
        username: 'temper-there',
        password: 'temper-there-secret',
        userDomain: domain,
        scope: { project: { name: 'services', domain } },
      };
      expect((await start({ self }).identify(presenting({ token: await annToken() }))).is).toBe('known');
    });

    test('whose token is revoked under our hands logs in again, unnoticed by the caller or nearly so', async () => {
      const id = await people.makeUser('temper-2');
      await people.grant('service', id, `projects/${service}`);
      const strategy = start({ self: { ...temper, username: 'temper-2', password: 'temper-2-secret' } });
      const verdict = async () => strategy.identify(presenting({ token: await annToken() }));
      expect((await verdict()).is).toBe('known');
      // A new password ends all tokens there are; the old one back, so that ours can be had again.
      for (const password of ['meanwhile', 'temper-2-secret'])
        await keystone.admin('PATCH', `/users/${id}`, { user: { password } });
      // Keystone counts in whole seconds: tokens given in the second of a revocation are revoked with the earlier ones.
      let now = await verdict();
      while (now.is === 'unavailable') {
        expect(now.reason).toMatch(/does not accept the tokens it gives/);
        now = await verdict();
      }
      expect(now.is).toBe('known');
    });

    test.each([
      ['has a wrong password', { ...temper, password: 'wrong' }, /refused the credentials/],
      [
        'may not look at tokens',
        { username: 'bob', password: 'bob-secret', scope: { project: { name: 'lab' } } },
        /403/,
      ],
    ])('that %s is our fault and not the caller’s', async (_, self, says) => {
      const verdict = await start({ self }).identify(presenting({ token: await annToken() }));
      expect(verdict).toEqual({ is: 'unavailable', reason: expect.stringMatching(says) });
    });
  });

  describe('hostile tokens', () => {
    test('anything that is not a whole token as Keystone gave it is no caller’s', async () => {
      const real = await annToken();
      const strategy = start();
      const at = fc.nat(real.length - 1);
      const other = fc.constantFrom(...'ABCabc012_-=');
      const hostile = fc.oneof(
        fc.string({ minLength: 1, maxLength: 300 }),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
        at.map((end) => real.slice(0, end)),
        fc.tuple(at, other).map(([index, letter]) => real.slice(0, index) + letter + real.slice(index + 1)),
        fc.constantFrom(
          `${real}, ${real}`,
          `${real} `.repeat(2),
          real.toUpperCase(),
          `${real}\u0000`,
          'x'.repeat(16_000),
        ),
      );
      await fc.assert(
        fc.asyncProperty(hostile, async (token) => {
          // The last letter of base64 before padding may hold bits that count for nothing: another spelling of the same.
          if (Buffer.from(token.trim(), 'base64url').equals(Buffer.from(real, 'base64url'))) return;
          const { is } = await strategy.identify(
            presentedFrom({ headers: { 'x-auth-token': token }, method: 'GET', path: '/' }),
          );
          expect(['refused', 'absent']).toContain(is);
        }),
        { numRuns: 60 },
      );
    });
  });

  // Last: there is no Keystone after it.
  describe('when it goes away', () => {
    test('who was seen goes on, who was not is answered 503, and who shows nothing 401 and where to go', async () => {
      const identity = createIdentity([start({ publicUrl: 'https://keystone.example.org/v3' })]);
      const [seen, unseen] = [await annToken(), await annToken()];
      expect((await identity.identify(presenting({ token: seen }))).user_name).toBe('ann');
      await keystone.close();
      expect((await identity.identify(presenting({ token: seen }))).user_name).toBe('ann');
      expect(await faultOf(identity.identify(presenting({ token: unseen })))).toMatchObject({ status: 503 });
      expect(await faultOf(identity.identify(presenting({})))).toMatchObject({
        status: 401,
        facts: { challenge: 'Keystone uri="https://keystone.example.org"' },
      });
    });
  });
});
