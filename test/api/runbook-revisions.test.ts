/** Revisions of runbooks: every state is kept, with who made it, and is shown to those who could see it then. */
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { reboot } from '../support/runbook-steps';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from runbooks`;
  await api.sql`delete from runbook_traits`;
});
afterEach(() => api.setPolicy({ set: 'temper' }));

const bios = (value: string) => ({
  interface: 'bios',
  step: 'apply_configuration',
  order: 2,
  args: { settings: [{ name: 'Boot', value }] },
});
const create = (who: Persona, more: object = {}) =>
  api.as(who, 'POST', '/v1/runbooks', { body: { name: 'flash', steps: [reboot, bios('a')], ...more } });
const patch = (who: Persona, path: string, value: unknown) =>
  api.as(who, 'PATCH', '/v1/runbooks/flash', { body: [{ op: 'add', path, value }] });
const revisions = (who: Persona, below = '', request: Request = {}) =>
  api.as(who, 'GET', `/temper/v1/runbooks/flash/revisions${below}`, request);
const withdraw = (who: Persona, revision: number, body: object = { reason: 'it bricks model X' }) =>
  api.as(who, 'POST', `/temper/v1/runbooks/flash/revisions/${revision}/withdraw`, { body });
const numbers = async (who: Persona, below = '') =>
  (await revisions(who, below)).body.revisions.map(({ revision }: { revision: number }) => revision);

describe('a revision is made', () => {
  beforeEach(async () => {
    expect((await create('owner-manager')).status).toBe(201);
  });

  test('with the runbook, numbered 1, with its steps, its digest and who made it', async () => {
    const reply = await revisions('owner-reader', '/1');
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      revision: 1,
      newest: true,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      name: 'flash',
      owner,
      public: false,
      traits: [],
      disable_ramdisk: false,
      author: { user_name: expect.any(String), project_id: owner },
      withdrawn: null,
      steps: [reboot, bios('a')],
    });
  });

  test.each([
    ['steps', '/steps', [reboot, bios('b')]],
    ['name', '/name', 'flash'],
    ['disable_ramdisk', '/disable_ramdisk', true],
  ])('by a change of %s, and not where nothing changes', async (_, path, value) => {
    expect((await patch('owner-manager', path, value)).status).toBe(200);
    expect((await patch('owner-manager', path, value)).status).toBe(200);
    expect(await numbers('owner-reader')).toEqual(path === '/name' ? [1] : [2, 1]);
  });

  test.each([
    ['extra', { note: 'x' }],
    ['description', 'what it is for'],
  ])('by no change of %s, which says nothing about what runs', async (name, value) => {
    expect((await patch('owner-manager', `/${name}`, value)).status).toBe(200);
    expect(await numbers('owner-reader')).toEqual([1]);
  });

  test('by a change of traits, owner and public, whichever caller makes it', async () => {
    expect((await api.as('owner-manager', 'PUT', '/v1/runbooks/flash/traits/CUSTOM_FW')).status).toBe(204);
    expect((await patch('operator', '/owner', lessee)).status).toBe(200);
    expect((await revisions('lessee-reader', '/2')).status).toBe(404);
    const { body } = await revisions('operator');
    expect(body.revisions).toMatchObject([
      { revision: 3, owner: lessee, traits: ['CUSTOM_FW'], author: { system_scope: 'all' } },
      { revision: 2, owner, traits: ['CUSTOM_FW'], author: { project_id: owner } },
      { revision: 1, owner, traits: [] },
    ]);
    expect(new Set(body.revisions.map(({ digest }: { digest: string }) => digest)).size).toBe(3);
  });

  test('by a process that does not say for whom, too', async () => {
    await api.sql`update runbooks set steps = ${api.sql.json([reboot])}`;
    expect((await revisions('operator', '/2')).body).toMatchObject({ author: null, steps: [reboot] });
  });

  test('a request that fails makes none', async () => {
    expect((await patch('owner-manager', '/steps', [{ interface: 'x' }])).status).toBe(400);
    expect((await patch('owner-member', '/disable_ramdisk', true)).status).toBe(403);
    expect(await numbers('owner-reader')).toEqual([1]);
  });

  test('two changes at once are two revisions', async () => {
    const replies = await Promise.all(
      ['b', 'c', 'd', 'e'].map((value) => patch('owner-manager', '/steps', [bios(value)])),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await numbers('owner-reader')).toEqual([5, 4, 3, 2, 1]);
  });

  test('a runbook made again under the same UUID counts on', async () => {
    const { uuid } = (await api.as('operator', 'GET', '/v1/runbooks/flash')).body;
    expect((await api.as('owner-manager', 'DELETE', '/v1/runbooks/flash')).status).toBe(204);
    expect((await revisions('owner-reader')).status).toBe(404);
    expect((await create('owner-manager', { uuid })).status).toBe(201);
    expect(await numbers('owner-reader')).toEqual([2, 1]);
  });

  test('what is written stays: the API’s role cannot change a revision', async () => {
    const writable = await api.sql`
      select c.table_name, c.column_name, role from information_schema.columns c
      cross join unnest(array['temper_api', 'temper_control', 'temper_bmc']) as role
      where c.table_name in ('runbook_revisions', 'runbook_steps')
        and (has_column_privilege(role, c.table_name, c.column_name, 'update') or has_table_privilege(role, c.table_name, 'delete, truncate'))
      order by c.ordinal_position`;
    expect(writable).toEqual(
      ['withdrawn_at', 'withdrawn_by', 'withdrawn_reason'].map((column_name) => ({
        table_name: 'runbook_revisions',
        column_name,
        role: 'temper_api',
      })),
    );
  });
});

describe('pages', () => {
  beforeEach(async () => {
    await create('owner-manager');
    for (const value of ['b', 'c', 'd']) await patch('owner-manager', '/steps', [bios(value)]);
  });

  test('are newest first, by the number after which one begins', async () => {
    expect(await numbers('owner-reader', '?limit=2')).toEqual([4, 3]);
    expect(await numbers('owner-reader', '?limit=2&marker=3')).toEqual([2, 1]);
    expect(await numbers('owner-reader', '?marker=1')).toEqual([]);
  });

  test.each(['?limit=0', '?limit=x', '?marker=0', '?marker=x', '?page=2', '/0', '/x', '/1.5', '/99999999999'])(
    '%s is refused',
    async (below) => {
      const reply = await revisions('owner-reader', below);
      expect([400, 404]).toContain(reply.status);
    },
  );
});

describe('two revisions are compared', () => {
  beforeEach(async () => {
    await create('owner-manager');
    await patch('owner-manager', '/steps', [reboot, bios('b')]);
    await patch('owner-manager', '/steps', [reboot, bios('c')]);
  });
  const diff = async (below: string) => (await revisions('owner-reader', below)).body;

  test('with the one before, where no other is named', async () => {
    expect(await diff('/3/diff')).toMatchObject({
      from: { revision: 2 },
      to: { revision: 3 },
      patch: [{ op: 'replace', path: '/steps/1/args/settings/0/value', value: 'c' }],
    });
    expect(await diff('/1/diff?from=3')).toMatchObject({
      patch: [{ op: 'replace', path: '/steps/1/args/settings/0/value', value: 'a' }],
    });
    expect(await diff('/2/diff?from=2')).toMatchObject({ patch: [] });
  });

  test('not with one that there is not', async () => {
    expect(faultOf(await revisions('owner-reader', '/1/diff'))).toMatch(/revision 1 is the first/);
    expect((await revisions('owner-reader', '/3/diff?from=9')).status).toBe(404);
    expect((await revisions('owner-reader', '/9/diff')).status).toBe(404);
  });

  test('where a list of thousands was replaced by another, too: as costly as the two lists, not as their product', async () => {
    const step = (from: number) => ({
      interface: 'vendor',
      step: 'send',
      order: 3,
      args: { numbers: Array.from({ length: 7_000 }, (_, at) => from + at) },
    });
    expect((await patch('owner-manager', '/steps', [reboot, step(0)])).status).toBe(200);
    expect((await patch('owner-manager', '/steps', [reboot, step(7_000)])).status).toBe(200);
    const reply = await revisions('owner-reader', '/5/diff');
    expect([reply.status, reply.body.patch?.length]).toEqual([200, 7_000]);
  });

  test('a secret is shown in neither, nor in what changed', async () => {
    const raw = (password: string) => ({
      interface: 'deploy',
      step: 'set_bmc_account',
      order: 3,
      args: { password },
    });
    expect((await patch('owner-manager', '/steps', [raw('hunter2-first')])).status).toBe(200);
    expect((await patch('owner-manager', '/steps', [raw('hunter2-second')])).status).toBe(200);
    for (const below of ['', '/4', '/5', '/5/diff', '/5/diff?from=3'])
      expect(JSON.stringify((await revisions('owner-reader', below)).body)).not.toContain('hunter2');
    const { from, to, patch: changed } = await diff('/5/diff');
    expect(changed).toEqual([]);
    expect(from.digest).not.toBe(to.digest);
  });
});

describe('who sees what', () => {
  test('a project sees of a public runbook nothing of the time when it was another project’s own', async () => {
    await create('owner-manager', { name: 'flash' });
    const publish = await patch('operator', '/public', true);
    expect([publish.status, publish.body]).toEqual([200, expect.objectContaining({ public: true, owner: null })]);
    expect(await numbers('operator')).toEqual([2, 1]);
    expect(await numbers('lessee-reader')).toEqual([2]);
    for (const below of ['/1', '/2/diff', '/1/diff?from=2'])
      expect([below, (await revisions('lessee-reader', below)).status]).toEqual([below, 404]);
    expect((await revisions('lessee-reader', '/2')).body).toMatchObject({ author: null });
    expect((await revisions('system-reader', '/2')).body).toMatchObject({ author: { system_scope: 'all' } });
  });

  test('a page is full as long as there is more to see, however many hidden revisions lie between', async () => {
    await create('owner-manager', { name: 'flash' });
    await patch('operator', '/public', true);
    const body = [
      { op: 'add', path: '/public', value: false },
      { op: 'add', path: '/owner', value: owner },
    ];
    expect((await api.as('operator', 'PATCH', '/v1/runbooks/flash', { body })).status).toBe(200);
    await patch('owner-manager', '/steps', [reboot]);
    await patch('operator', '/public', true);
    expect(await numbers('operator')).toEqual([5, 4, 3, 2, 1]);
    expect(await numbers('lessee-reader')).toEqual([5, 2]);
    expect(await numbers('lessee-reader', '?limit=2')).toEqual([5, 2]);
    expect(await numbers('lessee-reader', '?limit=1&marker=5')).toEqual([2]);
  });

  test('a stranger finds no runbook', async () => {
    await create('owner-manager');
    for (const below of ['', '/1', '/1/diff']) expect((await revisions('stranger-admin', below)).status).toBe(404);
    expect((await withdraw('stranger-admin', 1)).status).toBe(404);
  });
});

describe('a revision is withdrawn', () => {
  beforeEach(async () => {
    await create('owner-manager');
    await patch('owner-manager', '/steps', [reboot]);
  });

  test('once, with a reason, which is shown and on record', async () => {
    expect((await withdraw('owner-manager', 2)).body).toMatchObject({
      revision: 2,
      withdrawn: { at: expect.any(String), by: { project_id: owner }, reason: 'it bricks model X' },
    });
    const again = await withdraw('owner-manager', 2);
    expect([again.status, faultOf(again)]).toEqual([409, 'Revision 2 of runbook flash was withdrawn before.']);
    const audit = await api.sql`select data, rule from audit where action = 'runbook.withdraw'`;
    expect(audit).toEqual([
      { rule: 'temper:runbook:withdraw', data: { name: 'flash', revision: 2, reason: 'it bricks model X' } },
    ]);
    const events = await api.sql`select project, data from events where kind = 'runbook.withdrawn'`;
    expect(events).toMatchObject([{ project: owner, data: { revision: 2, reason: 'it bricks model X' } }]);
  });

  test.each([
    ['without a reason', {}],
    ['with an empty one', { reason: '  ' }],
    ['with a word too many', { reason: 'x', force: true }],
  ])('not %s', async (_, body) => {
    expect((await withdraw('owner-manager', 1, body)).status).toBe(400);
    expect((await revisions('owner-reader', '/1')).body.withdrawn).toBeNull();
  });

  test('not by who may only run it', async () => {
    expect((await withdraw('owner-member', 1)).status).toBe(403);
    expect((await withdraw('owner-manager', 7)).status).toBe(404);
  });
});
