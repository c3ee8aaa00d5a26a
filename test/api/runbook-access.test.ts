/** The expected access to runbooks, line by line; what changes publicity; steps with rules of their own; operators' traits. */
import { readPolicy } from '../../src/policy';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { blocksOf, partOf, readDocument } from '../support/documents';
import { lessee, owner, type Persona, stranger } from '../support/world';

const prefix = 'CUSTOM_APPROVED_';

let api: TestApi;
let node: string;
beforeAll(async () => {
  api = await startTestApi({ settings: { operatorTraitPrefix: prefix, disallowedSteps: ['bios.forbidden'] } });
  await api.sql`insert into workers (hostname, conductor_group, drivers, role) values ('w', '', ${['fake-hardware']}, 'bmc')`;
});
afterAll(() => api?.close());
beforeEach(async () => {
  await api.sql`delete from runbooks`;
  await api.sql`delete from nodes`;
  const [row] = await api.sql<{ uuid: string }[]>`
    insert into nodes (name, driver, provision_state, owner, lessee, traits)
    values ('n', 'fake-hardware', 'active', ${owner}, ${lessee}, ${['CUSTOM_FIT']}) returning uuid`;
  node = row!.uuid;
});
afterEach(() => api.setPolicy({ set: 'temper' }));

const steps = [{ interface: 'power', step: 'reboot', order: 1, args: {} }];
const stored = (more: object = {}) =>
  api.inventory.runbooks.insert({
    name: 'BOOK',
    steps,
    disable_ramdisk: false,
    extra: {},
    public: false,
    owner: null,
    description: null,
    traits: ['CUSTOM_FIT'],
    ...more,
  } as never);

const create = (who: Persona, more: object = {}) =>
  api.as(who, 'POST', '/v1/runbooks', { body: { name: 'MADE', steps, ...more } });
const patch = (who: Persona, ops: unknown) => api.as(who, 'PATCH', '/v1/runbooks/BOOK', { body: ops });
const add = (path: string, value: unknown) => [{ op: 'add', path, value }];
const remove = (path: string) => [{ op: 'remove', path }];
const service = (who: Persona, runbook = 'BOOK') =>
  api.as(who, 'PUT', `/v1/nodes/${node}/states/provision`, { body: { target: 'service', runbook } });

type Act = (who: Persona) => Promise<{ status: number }>;
const show: Act = (who) => api.as(who, 'GET', '/v1/runbooks/BOOK');
const rename: Act = (who) => patch(who, add('/name', 'OTHER'));
const newSteps: Act = (who) => patch(who, [{ op: 'replace', path: '/steps', value: steps }]);
const drop: Act = (who) => api.as(who, 'DELETE', '/v1/runbooks/BOOK');
const publish: Act = (who) => patch(who, add('/public', true));
const giveAway: Act = (who) => patch(who, add('/owner', stranger));
const disown: Act = (who) => patch(who, remove('/owner'));

const ofNobody = {};
const ofProject = { owner };
const ofOthers = { owner: stranger };
const published = { public: true };

const lists = async (who: Persona): Promise<string[]> => {
  const { body } = await api.as(who, 'GET', '/v1/runbooks?sort_key=name');
  return body.runbooks.map(({ name }: { name: string }) => name);
};

describe('system: admin, manager and member', () => {
  test.each(['operator', 'system-member'] as const)(
    '%s makes, sees, changes and deletes runbooks of no project',
    async (who) => {
      const made = await create(who);
      expect([made.status, made.body.owner, made.body.public]).toEqual([201, null, false]);
      for (const act of [show, newSteps, rename]) {
        await api.sql`delete from runbooks`;
        await stored(ofNobody);
        expect((await act(who)).status).toBe(200);
      }
      await stored(ofNobody);
      expect((await drop(who)).status).toBe(204);
    },
  );

  test.each(['operator', 'system-member'] as const)(
    '%s makes, sees, changes and deletes runbooks of a project',
    async (who) => {
      const made = await create(who, { owner });
      expect([made.status, made.body.owner]).toEqual([201, owner]);
      for (const act of [show, newSteps, rename]) {
        await api.sql`delete from runbooks`;
        await stored(ofProject);
        expect((await act(who)).status).toBe(200);
      }
      await stored(ofProject);
      expect((await drop(who)).status).toBe(204);
    },
  );

  test.each(['operator', 'system-member'] as const)('%s unsets the owner, sets one, and publishes', async (who) => {
    await stored(ofProject);
    const disowned = await patch(who, remove('/owner'));
    expect([disowned.status, disowned.body.owner, disowned.body.public]).toEqual([200, null, false]);
    const owned = await patch(who, add('/owner', owner));
    expect([owned.status, owned.body.owner]).toEqual([200, owner]);
    const open = await patch(who, add('/public', true));
    expect([open.status, open.body.owner, open.body.public]).toEqual([200, null, true]);
    const shut = await patch(who, remove('/public'));
    expect([shut.status, shut.body.owner, shut.body.public]).toEqual([200, null, false]);
  });
});

test('system: a reader lists and sees all, and writes none', async () => {
  for (const [name, more] of Object.entries({ A: ofNobody, B: ofProject, BOOK: ofOthers, D: published }))
    await stored({ name, ...more });
  expect(await lists('system-reader')).toEqual(['A', 'B', 'BOOK', 'D']);
  expect((await show('system-reader')).status).toBe(200);
  for (const act of [create, newSteps, rename, publish, giveAway, disown, drop] as Act[])
    expect((await act('system-reader')).status).toBe(403);
});

describe('project: admin and manager', () => {
  test.each(['owner-admin', 'owner-manager'] as const)(
    '%s makes, sees, changes and deletes those of its project',
    async (who) => {
      const made = await create(who);
      expect([made.status, made.body.owner, made.body.public]).toEqual([201, owner, false]);
      for (const act of [show, newSteps, rename]) {
        await api.sql`delete from runbooks`;
        await stored(ofProject);
        expect((await act(who)).status).toBe(200);
      }
      await stored(ofProject);
      expect((await drop(who)).status).toBe(204);
    },
  );

  test.each(['owner-admin', 'owner-manager'] as const)(
    '%s publishes none, gives none away and takes none over',
    async (who) => {
      for (const act of [publish, giveAway, disown]) {
        await api.sql`delete from runbooks`;
        await stored(ofProject);
        expect((await act(who)).status).toBe(403);
        expect((await show('operator')) as object).toMatchObject({ body: { owner, public: false } });
      }
      expect((await create(who, { name: 'X', public: true })).status).toBe(403);
      expect((await create(who, { name: 'Y', owner: stranger })).status).toBe(400);
    },
  );

  test.each([
    [ofNobody, 404],
    [ofOthers, 404],
    [published, 403],
  ] as const)('changes and deletes none that are %j', async (more, status) => {
    await stored(more);
    for (const act of [newSteps, rename, publish, giveAway, drop])
      expect((await act('owner-manager')).status).toBe(status);
  });
});

describe('project: a member', () => {
  test.each([
    [published, 'owner-member', 202],
    [published, 'lessee-member', 202],
    [ofProject, 'owner-member', 202],
    [{ owner: lessee }, 'lessee-member', 202],
    [ofProject, 'lessee-member', 404],
    [ofOthers, 'owner-member', 404],
    [ofNobody, 'owner-member', 404],
    [published, 'stranger-admin', 404],
    [published, 'owner-reader', 403],
    [published, 'lessee-reader', 403],
  ] as const)('a runbook that is %j is run by %s: %i', async (more, who, status) => {
    await stored(more);
    expect((await service(who)).status).toBe(status);
  });

  test('runs it, and has no steps of its own beside it nor instead of it', async () => {
    await stored(published);
    const body = { target: 'service', runbook: 'BOOK', service_steps: [] };
    for (const who of ['owner-member', 'operator'] as const)
      expect((await api.as(who, 'PUT', `/v1/nodes/${node}/states/provision`, { body })).status).toBe(400);
    const own = { target: 'service', service_steps: [{ interface: 'power', step: 'reboot', args: {} }] };
    const refused = await api.as('owner-member', 'PUT', `/v1/nodes/${node}/states/provision`, { body: own });
    expect([refused.status, faultOf(refused)]).toEqual([403, expect.stringContaining('service_steps')]);
  });

  test('changes none', async () => {
    await stored(ofProject);
    for (const act of [create, newSteps, rename, publish, drop] as Act[])
      expect((await act('owner-member')).status).toBe(403);
  });
});

test('project: a reader lists public runbooks and those of its project, and sees no others', async () => {
  for (const [name, more] of Object.entries({ A: ofNobody, B: ofProject, BOOK: ofOthers, D: published }))
    await stored({ name, ...more });
  expect(await lists('owner-reader')).toEqual(['B', 'D']);
  expect(await lists('lessee-reader')).toEqual(['D']);
  expect((await show('owner-reader')).status).toBe(404);
});

describe('a public runbook asks the rule of seeing', () => {
  const see = 'baremetal:runbook:get';
  const asked = { rule: see, runbook: 'BOOK' };
  const roleless = 'stranger-roleless' as Persona;
  const refused = { list: [], show: 404, revisions: 404, traits: 404, can: false };
  const answers = async (who: Persona) => ({
    list: (await api.as(who, 'GET', '/v1/runbooks')).body.runbooks?.map((one: { name: string }) => one.name) ?? 403,
    show: (await show(who)).status,
    revisions: (await api.as(who, 'GET', '/temper/v1/runbooks/BOOK/revisions/1')).status,
    traits: (await api.as(who, 'GET', '/v1/runbooks/BOOK/traits')).status,
    can: (await api.as(who, 'POST', '/temper/v1/policy/can', { body: { asks: [asked] } })).body.answers?.[0].allowed,
  });
  beforeEach(() => stored(published));

  test('and set closed shows it to the system alone, until a file opens it', async () => {
    api.setPolicy({ set: 'closed' });
    for (const who of ['owner-reader', roleless] as const)
      expect([who, await answers(who)]).toEqual([who, { ...refused, list: 403 }]);
    expect((await show('system-reader')).status).toBe(200);
    api.setPolicy({ set: 'closed', overrides: { [see]: 'role:reader and True:%(runbook.public)s' } });
    expect(await answers('owner-reader')).toMatchObject({
      list: ['BOOK'],
      show: 200,
      revisions: 200,
      traits: 200,
      can: true,
    });
    expect(await answers(roleless)).toEqual({ ...refused, list: 403 });
  });

  test('and set temper shows it to readers, to none where a file says so, and to no caller without a role', async () => {
    expect(await answers('lessee-reader')).toMatchObject({
      list: ['BOOK'],
      show: 200,
      revisions: 200,
      traits: 200,
      can: true,
    });
    expect(await answers(roleless)).toEqual({ ...refused, list: 403 });
    api.setPolicy({ set: 'temper', overrides: { [see]: '!' } });
    expect(await answers('owner-admin')).toEqual(refused);
  });

  test('and set ironic shows it to every caller, as the original does', async () => {
    api.setPolicy({ set: 'ironic' });
    expect(await answers('stranger-admin')).toMatchObject({ list: ['BOOK'], show: 200, revisions: 200, can: true });
    expect(await answers(roleless)).toMatchObject({ list: 403, show: 200, revisions: 200 });
  });
});

describe('publicity', () => {
  test.each([
    ['a name', add('/name', 'BOOK2')],
    ['steps', [{ op: 'replace', path: '/steps', value: steps }]],
    ['extra', add('/extra/a', 1)],
    ['a description', add('/description', 'x')],
  ])('is left as it is by %s', async (_what, ops) => {
    for (const more of [published, ofProject]) {
      await api.sql`delete from runbooks`;
      const before = await stored(more);
      const { status, body } = await patch('operator', ops);
      expect([status, body.public, body.owner]).toEqual([200, before.public, before.owner]);
    }
  });

  test('is left as it is by traits, and by an owner', async () => {
    await stored(published);
    expect((await api.as('operator', 'PUT', '/v1/runbooks/BOOK/traits/CUSTOM_B')).status).toBe(204);
    expect((await patch('operator', add('/owner', owner))).status).toBe(400);
    expect((await show('operator')) as object).toMatchObject({ body: { public: true, owner: null } });
  });

  test('and an owner exclude each other from the beginning', async () => {
    expect((await create('operator', { owner, public: true })).status).toBe(400);
  });
});

describe('rules and refusals of single steps', () => {
  const overrides = { 'baremetal:step:execute:power.reboot': 'role:admin and system_scope:all' };

  test('a step with a rule is put into a runbook only by whom the rule admits', async () => {
    api.setPolicy({ set: 'temper', overrides });
    const refused = await create('owner-manager');
    expect([refused.status, faultOf(refused)]).toEqual([403, expect.stringContaining(Object.keys(overrides)[0]!)]);
    expect((await create('operator')).status).toBe(201);
  });

  test('a private runbook that held it before is not run by others, and a public one is: it was approved', async () => {
    await stored(ofProject);
    api.setPolicy({ set: 'temper', overrides });
    expect((await service('owner-member')).status).toBe(403);
    await api.sql`update runbooks set owner = null, public = true`;
    expect((await service('owner-member')).status).toBe(202);
  });

  test('a step that the operator forbids comes into none and runs in none', async () => {
    const forbidden = [{ interface: 'bios', step: 'forbidden', order: 1, args: {} }];
    expect((await create('operator', { steps: forbidden })).status).toBe(400);
    await stored({ ...published, steps: forbidden });
    expect((await service('operator')).status).toBe(400);
  });
});

test('a list without steps reads no steps: a role that may not read them answers it', async () => {
  await stored(published);
  const [{ columns }] = (await api.sql`
    select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
    where table_name = 'runbooks' and column_name <> 'steps'`) as unknown as [{ columns: string }];
  await api.sql`revoke select on runbooks from temper_api`;
  await api.sql.unsafe(`grant select (${columns}) on runbooks to temper_api`);
  try {
    for (const query of ['', '?fields=name,owner', '?sort_key=name&project=x'])
      expect((await api.as('operator', 'GET', `/v1/runbooks${query}`)).status).toBe(200);
    expect((await api.as('owner-reader', 'GET', '/v1/runbooks')).status).toBe(200);
    expect((await api.as('operator', 'GET', '/v1/runbooks?detail=true')).status).toBe(500);
  } finally {
    await api.sql`grant select on runbooks to temper_api`;
  }
});

describe('traits that only the operator sets', () => {
  const mark = `${prefix}X`;
  const path = () => `/v1/nodes/${node}/traits`;
  const setAll = (who: Persona, traits: readonly string[]) => api.as(who, 'PUT', path(), { body: { traits } });
  const traits = async () => (await api.as('operator', 'GET', path())).body.traits;

  test.each([
    ['operator', 204],
    ['system-member', 204],
    ['owner-admin', 403],
    ['owner-manager', 403],
  ] as const)('are given to a node and taken from it by %s with %i', async (who, status) => {
    const ways = [
      () => api.as(who, 'PUT', `${path()}/${mark}`),
      () => setAll(who, [mark, 'CUSTOM_FIT']),
      () => api.as(who, 'DELETE', `${path()}/${mark}`),
      () => api.as(who, 'DELETE', path()),
      () => setAll(who, ['CUSTOM_FIT']),
    ];
    for (const [at, way] of ways.entries()) {
      const before = at < 2 ? ['CUSTOM_FIT'] : ['CUSTOM_FIT', mark];
      await api.sql`update nodes set traits = ${before}`;
      const reply = await way();
      expect([at, reply.status]).toEqual([at, status]);
      if (status === 403) {
        expect(faultOf(reply)).toContain('temper:node:operator_traits');
        expect((await traits()).sort()).toEqual([...before].sort());
      }
    }
  });

  test('leave the owner its other traits', async () => {
    await api.sql`update nodes set traits = ${[mark, 'CUSTOM_FIT']}`;
    expect((await setAll('owner-manager', [mark, 'CUSTOM_NEW'])).status).toBe(204);
    expect((await api.as('owner-manager', 'DELETE', `${path()}/CUSTOM_NEW`)).status).toBe(204);
    expect(await traits()).toEqual([mark]);
  });

  test.each([
    ['owner-manager', 403],
    ['system-member', 200],
  ] as const)('are given to a runbook, by trait or by name, by %s with %i', async (who, status) => {
    const allowed = status === 200;
    expect((await create(who, { owner, name: `${prefix}Y` })).status).toBe(allowed ? 201 : 403);
    await stored(ofProject);
    expect((await api.as(who, 'PUT', `/v1/runbooks/BOOK/traits/${mark}`)).status).toBe(allowed ? 204 : 403);
    expect((await patch(who, add('/name', `${prefix}Z`))).status).toBe(status);
  });

  test('approve what a runbook does: its project changes that no more, and the rest as before', async () => {
    await stored({ ...ofProject, traits: [mark] });
    expect((await newSteps('owner-manager')).status).toBe(403);
    expect((await patch('owner-manager', add('/disable_ramdisk', true))).status).toBe(403);
    expect((await patch('owner-manager', add('/extra/a', 1))).status).toBe(200);
    expect((await newSteps('operator')).status).toBe(200);
  });
});

describe('the file of the page for tenants, over set closed', () => {
  const file = blocksOf(partOf(readDocument('docs/tenants.md'), 'Opening a closed API'), 'yaml').join('');
  beforeEach(() => api.setPolicy({ set: 'closed', ...readPolicy(file, 'policy.yaml') }));

  test.each([
    ['lessee-member', published, 202],
    ['owner-member', published, 202],
    ['owner-member', ofProject, 202],
    ['lessee-reader', published, 403],
    ['lessee-admin', ofProject, 404],
    ['stranger-admin', published, 404],
  ] as const)('%s runs %j: %i', async (who, of, status) => {
    await stored(of);
    const reply = await service(who);
    expect([reply.status, status === 202 ? '' : faultOf(reply)]).toEqual([status, expect.any(String)]);
  });

  test('members read and list the runbooks that they may run, and write none', async () => {
    for (const [name, more] of Object.entries({ BOOK: published, A: ofProject, B: ofOthers }))
      await stored({ name, ...more });
    expect(await lists('owner-member')).toEqual(['A', 'BOOK']);
    expect((await show('owner-member')).status).toBe(200);
    for (const act of [newSteps, rename, drop, create] as Act[]) expect((await act('owner-admin')).status).toBe(403);
  });
});
