/** Rollouts of callers whom a real Keystone knows: what it takes from the person who started one, or approved it, ends its beginning of nodes. */
import { randomUUID } from 'node:crypto';
import { createIdentity, createKeystone, createRoleLookup, type RoleLookup } from '../../src/identity';
import { grantsFrom, votersFrom } from '../../src/process/workers/grants';
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
import { type RolloutWorld, startRolloutWorld } from '../support/rollout-world';
import type { Persona } from '../support/world';

const whenThere = suiteOf('a real Keystone', keystoneMissing);
const self = { username: 'temper', password: 'temper-secret', scope: { system: 'all' } } as const;
const settings = { TEMPER_ROLLOUT_GRANT_HOURS: 24, TEMPER_TOKEN_OUTAGE_SECONDS: 0, TEMPER_USERS_FILE: undefined };

whenThere('rollouts by the rights of users of a real Keystone', () => {
  let keystone: Keystone;
  let people: Awaited<ReturnType<typeof populate>>;
  let lookup: RoleLookup;
  let strategy: ReturnType<typeof createKeystone>;
  let world: RolloutWorld;
  let operator: Persona;

  beforeAll(async () => {
    keystone = await startKeystone();
    people = await populate(keystone);
    await people.grant('reader', await people.makeUser('temper'));
    await people.grant('admin', await people.makeUser('root'));
    strategy = createKeystone({ identityUrl: keystone.url, self, cacheMs: 300_000 });
    // Nothing is believed from before, so that no test waits.
    lookup = createRoleLookup({ identityUrl: keystone.url, self, cacheMs: 0 });
    world = await startRolloutWorld({ identity: createIdentity([strategy]), voters: votersFrom(settings, lookup) });
    // The fake identity of the other tests takes the names of personas for tokens; here they are tokens.
    operator = (await keystone.login(byPassword('root', 'root-secret'), system)) as Persona;
    const steps = [{ interface: 'power', step: 'reboot', args: {}, order: 1 }];
    await world.posted(operator, '/v1/runbooks', { name: 'CUSTOM_RESTART', public: true, steps });
  });
  afterAll(async () => {
    await world?.close();
    await Promise.all([strategy?.close?.(), lookup?.close()]);
    await keystone?.close();
  });

  /** A manager of a project of their own, in a domain of their own. */
  const manager = async () => {
    const name = `m-${randomUUID()}`;
    const { id: domain } = (await keystone.admin('POST', '/domains', { domain: { name } })).domain;
    const project = await people.makeProject(name, domain);
    const user = await people.makeUser(name, domain);
    await people.grant('manager', user, `projects/${project}`);
    const login = byPassword(name, `${name}-secret`, { id: domain });
    const token = (await keystone.login(login, inProject(project))) as Persona;
    return { name, domain, project, user, token };
  };
  type Person = Awaited<ReturnType<typeof manager>>;

  const tend = (rollout: { uuid: string }) => world.tend(rollout, { authority: grantsFrom(settings, lookup) });
  const shown = (rollout: { uuid: string }) => world.show(rollout, operator);

  /** Begun by the token, with one node of two done. */
  const halfDone = async (person: Person, token: Persona = person.token) => {
    const nodes = await world.nodes(['r1', 'r1'], { owner: person.project });
    const rollout = await world.plan({ select: { nodes }, max_in_flight: 1 }, token);
    await world.start(rollout, {}, token);
    await tend(rollout);
    expect((await shown(rollout)).states).toEqual({ admitted: 1, pending: 1 });
    await world.endRuns(rollout);
    return rollout;
  };

  const withdrawals: Record<string, (person: Person) => Promise<unknown>> = {
    'the role': ({ user, project }) =>
      keystone.admin('DELETE', `/projects/${project}/users/${user}/roles/${people.roles.manager}`),
    'the user’s being enabled': ({ user }) => keystone.admin('PATCH', `/users/${user}`, { user: { enabled: false } }),
    'the user': ({ user }) => keystone.admin('DELETE', `/users/${user}`),
    'the project’s being enabled': ({ project }) =>
      keystone.admin('PATCH', `/projects/${project}`, { project: { enabled: false } }),
    'the domain’s being enabled': ({ domain }) =>
      keystone.admin('PATCH', `/domains/${domain}`, { domain: { enabled: false } }),
  };

  test.each(Object.entries(withdrawals))('%s withdrawn pauses it before the next node', async (_, withdraw) => {
    const person = await manager();
    const rollout = await halfDone(person);
    await withdraw(person);
    await tend(rollout);
    expect(await shown(rollout)).toMatchObject({
      state: 'paused',
      code: 'authority_lost',
      states: { done: 1, pending: 1 },
    });
  });

  test('an application credential that is deleted takes its rollout with it, and its user may adopt that', async () => {
    const person = await manager();
    const path = `/users/${person.user}/application_credentials`;
    const body = { application_credential: { name: 'ci' } };
    const { id, secret } = (await keystone.as(person.token, 'POST', path, body)).application_credential;
    const token = await keystone.login({
      methods: ['application_credential'],
      application_credential: { id, secret },
    });
    const rollout = await halfDone(person, token as Persona);
    await keystone.as(person.token, 'DELETE', `${path}/${id}`);
    await tend(rollout);
    expect(await shown(rollout)).toMatchObject({ state: 'paused', code: 'authority_lost', states: { pending: 1 } });
    for (const act of ['adopt', 'resume']) expect((await world.act(rollout, act, {}, person.token)).status).toBe(200);
    await tend(rollout);
    expect((await shown(rollout)).states).toEqual({ admitted: 1, done: 1 });
  });

  test('an approval of a user who lost the role since is none', async () => {
    const person = await manager();
    const [approver] = [await people.makeUser('approver')];
    await people.grant('manager', approver!, `projects/${person.project}`);
    const voter = (await keystone.login(
      byPassword('approver', 'approver-secret'),
      inProject(person.project),
    )) as Persona;
    world.setPolicy({
      set: 'temper',
      overrides: {
        'temper:rollout:start_alone': '!',
        'temper:rollout:approve': 'role:manager and not user_id:%(rollout.requester)s',
      },
    });
    const nodes = await world.nodes(['r1'], { owner: person.project });
    const rollout = await world.plan({ select: { nodes } }, person.token);
    const { plan_hash } = rollout;
    expect((await world.act(rollout, 'approve', { plan_hash }, voter)).body).toMatchObject({ approved: 1 });
    const away = `/projects/${person.project}/users/${approver}/roles/${people.roles.manager}`;
    await keystone.admin('DELETE', away);
    expect((await world.act(rollout, 'start', { plan_hash }, person.token)).status).toBe(409);
    await keystone.admin('PUT', away);
    expect((await world.act(rollout, 'start', { plan_hash }, person.token)).status).toBe(200);
    world.setPolicy({ set: 'temper' });
  });

  test('while it does not answer nothing is begun, and after too long the rollout is paused', async () => {
    const person = await manager();
    const rollout = await halfDone(person);
    await keystone.close();
    let ms = Date.now();
    const authority = grantsFrom({ ...settings, TEMPER_TOKEN_OUTAGE_SECONDS: 900 }, lookup, () => ms);
    const show = async () => {
      const [row] = await world.api.sql`select state, code from rollouts where id = ${rollout.uuid}`;
      const states = await world.api.sql`
        select state from rollout_targets where rollout = ${rollout.uuid} order by position`;
      return { ...row, states: states.map(({ state }) => state) };
    };
    await world.tend(rollout, { authority });
    expect(await show()).toEqual({ state: 'running', code: 'identity_unavailable', states: ['done', 'pending'] });
    ms += 901_000;
    await world.tend(rollout, { authority });
    expect(await show()).toEqual({ state: 'paused', code: 'identity_unavailable', states: ['done', 'pending'] });
  });
});
