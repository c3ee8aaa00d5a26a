/** What an approval covers: one runbook's trait, on its project's nodes, without the steps that operators keep for themselves. */
import { addWorker, faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
let node: string;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api.close());
beforeEach(async () => {
  api.runs.started.length = 0;
  await api.sql`delete from runbooks`;
  await api.sql`delete from runbook_traits`;
  await api.sql`delete from nodes`;
  const columns = {
    name: 'n',
    driver: 'fake-hardware',
    provision_state: 'active',
    owner,
    lessee,
    traits: ['CUSTOM_FW'],
  };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  node = row!.uuid;
});
afterEach(() => api.setPolicy({ set: 'temper' }));

const steps = [{ interface: 'power', step: 'reboot', order: 1, args: {} }];
const create = (who: Persona, name: string, more: object = {}, request: Request = {}) =>
  api.as(who, 'POST', '/v1/runbooks', { ...request, body: { name, steps, ...more } });
const giveTrait = (who: Persona, book: string, trait: string) =>
  api.as(who, 'PUT', `/v1/runbooks/${book}/traits/${trait}`);
const run = (who: Persona, runbook: string, request: Request = {}) =>
  api.as(who, 'PUT', `/v1/nodes/${node}/states/provision`, { ...request, body: { target: 'service', runbook } });

const taken = [409, expect.stringContaining('CUSTOM_FW')];
const said = (reply: Awaited<ReturnType<typeof run>>) => [reply.status, reply.status < 300 ? '' : faultOf(reply)];

describe('a trait on runbooks', () => {
  beforeEach(async () => {
    expect((await create('operator', 'flash', { public: true })).status).toBe(201);
    expect((await giveTrait('operator', 'flash', 'CUSTOM_FW')).status).toBe(204);
    expect((await create('lessee-manager', 'mine')).status).toBe(201);
  });

  test('of the system is taken by no project, whichever way, and its runbook is not approved by it', async () => {
    expect(said(await giveTrait('lessee-manager', 'mine', 'CUSTOM_FW'))).toEqual(taken);
    const all = { body: { traits: ['CUSTOM_A', 'CUSTOM_FW'] } };
    expect(said(await api.as('lessee-manager', 'PUT', '/v1/runbooks/mine/traits', all))).toEqual(taken);
    expect(said(await create('lessee-manager', 'CUSTOM_FW'))).toEqual(taken);
    expect(said(await create('lessee-manager', 'CUSTOM_FW', {}, { minor: 111 }))).toEqual(taken);
    const rename = { body: [{ op: 'replace', path: '/name', value: 'CUSTOM_FW' }] };
    expect(said(await api.as('lessee-manager', 'PATCH', '/v1/runbooks/mine', rename))).toEqual(taken);
    expect((await run('lessee-member', 'mine')).status).toBe(400);
    expect((await api.as('operator', 'GET', '/v1/runbooks/mine/traits')).body.traits).toEqual([]);
  });

  test('stays with the system while a node has it, though its runbook is gone', async () => {
    expect((await api.as('operator', 'DELETE', '/v1/runbooks/flash')).status).toBe(204);
    expect(said(await giveTrait('lessee-manager', 'mine', 'CUSTOM_FW'))).toEqual(taken);
    await api.sql`update nodes set traits = '{}'`;
    expect((await giveTrait('lessee-manager', 'mine', 'CUSTOM_FW')).status).toBe(204);
  });

  test('of a project is its own, for as many of its runbooks as it likes', async () => {
    expect((await giveTrait('lessee-manager', 'mine', 'CUSTOM_OURS')).status).toBe(204);
    expect((await create('lessee-manager', 'mine2')).status).toBe(201);
    expect((await giveTrait('lessee-manager', 'mine2', 'CUSTOM_OURS')).status).toBe(204);
    expect((await create('owner-manager', 'theirs')).status).toBe(201);
    expect((await giveTrait('owner-manager', 'theirs', 'CUSTOM_OURS')).status).toBe(409);
  });

  test('is shared by the system, and by whom a file lets', async () => {
    expect((await giveTrait('system-member', 'mine', 'CUSTOM_FW')).status).toBe(204);
    expect((await run('lessee-member', 'mine')).status).toBe(202);
    expect((await create('owner-manager', 'theirs')).status).toBe(201);
    expect((await giveTrait('owner-manager', 'theirs', 'CUSTOM_FW')).status).toBe(409);
    api.setPolicy({ set: 'temper', overrides: { 'temper:runbook:share_trait': 'role:manager' } });
    expect((await giveTrait('owner-manager', 'theirs', 'CUSTOM_FW')).status).toBe(204);
  });

  test('is for every caller in set ironic, as in the original', async () => {
    api.setPolicy({ set: 'ironic' });
    expect((await giveTrait('lessee-manager', 'mine', 'CUSTOM_FW')).status).toBe(204);
    expect((await create('owner-manager', 'CUSTOM_FW')).status).toBe(201);
  });

  test('is not taken along where a runbook changes hands', async () => {
    const give = (to: string | null) =>
      api.as('operator', 'PATCH', '/v1/runbooks/flash', {
        body: [
          { op: 'replace', path: '/public', value: false },
          ...(to === null ? [] : [{ op: 'replace', path: '/owner', value: to }]),
        ],
      });
    api.setPolicy({ set: 'temper', overrides: { 'temper:runbook:share_trait': '!' } });
    expect(said(await give(lessee))).toEqual(taken);
    expect((await give(null)).status).toBe(200);
  });

  test('taken by two at once is the trait of one', async () => {
    expect((await create('owner-manager', 'theirs')).status).toBe(201);
    const both = [
      giveTrait('lessee-manager', 'mine', 'CUSTOM_NEW'),
      giveTrait('owner-manager', 'theirs', 'CUSTOM_NEW'),
    ];
    const answers = (await Promise.all(both)).map(({ status }) => status);
    expect(answers.sort()).toEqual([204, 409]);
  });
});

describe('a runbook without traits', () => {
  test.each([92, 111, 112, 115])('runs at 1.%i where the node has its name', async (minor) => {
    expect((await create('operator', 'CUSTOM_FW', { public: true }, { minor: 115 })).status).toBe(201);
    expect((await api.as('operator', 'GET', '/v1/runbooks/CUSTOM_FW')).body.traits).toEqual([]);
    expect(said(await run('lessee-member', 'CUSTOM_FW', { minor }))).toEqual([202, '']);
  });

  test('that has others later is not matched by its name from 1.112 on', async () => {
    await create('operator', 'CUSTOM_FW', { public: true });
    await giveTrait('operator', 'CUSTOM_FW', 'CUSTOM_OTHER');
    expect((await run('operator', 'CUSTOM_FW')).status).toBe(400);
    expect((await run('operator', 'CUSTOM_FW', { minor: 111 })).status).toBe(202);
  });

  test('is matched by no name from 1.112 on in set ironic', async () => {
    await create('operator', 'CUSTOM_FW');
    api.setPolicy({ set: 'ironic' });
    expect((await run('operator', 'CUSTOM_FW')).status).toBe(400);
  });
});

const url = 'https://firmware.example.org/x.bin';
const kept = [
  ['firmware', 'update', { settings: [{ component: 'bmc', url }] }],
  ['management', 'attach_virtual_media', { device_type: 'cdrom', image_url: url }],
  ['management', 'reset_secure_boot_keys_to_default', {}],
  ['management', 'clear_secure_boot_keys', {}],
  ['management', 'reset_bmc', {}],
  ['deploy', 'generic_container_step', { container_steps: [] }],
  ['deploy', 'update_nvidia_nic_firmware_image', { images: [] }],
  ['deploy', 'update_nvidia_nic_firmware_settings', { settings: [] }],
] as const;

describe.each(kept)('%s.%s in a project’s runbook', (of, step, args) => {
  const body = { steps: [{ interface: of, step, order: 1, args }] };
  const denied = [403, expect.stringContaining(`baremetal:step:execute:${of}.${step}`)];

  test('is written by operators alone, also into one that is there', async () => {
    for (const who of ['owner-admin', 'owner-manager', 'lessee-manager'] as const)
      expect([who, ...said(await create(who, `of-${who}`, body))]).toEqual([who, ...denied]);
    expect((await create('system-member', 'ops', { ...body, owner })).status).toBe(201);
    expect((await create('owner-manager', 'mine')).status).toBe(201);
    const patch = [{ op: 'replace', path: '/steps', value: body.steps }];
    expect(said(await api.as('owner-manager', 'PATCH', '/v1/runbooks/mine', { body: patch }))).toEqual(denied);
  });

  test('does not run there for members, and is the project’s own affair in set ironic', async () => {
    await create('system-member', 'ops', { ...body, owner: lessee });
    await giveTrait('operator', 'ops', 'CUSTOM_FW');
    expect(said(await run('lessee-member', 'ops'))).toEqual(denied);
    api.setPolicy({ set: 'ironic' });
    expect((await create('lessee-manager', 'own', body)).status).toBe(201);
  });
});

test('steps that a request itself brings are asked as before', async () => {
  const body = { target: 'service', service_steps: [{ interface: 'management', step: 'reset_bmc', args: {} }] };
  await api.sql`update nodes set driver = 'redfish', driver_info = ${api.sql.json({ redfish_address: 'https://192.0.2.7' })}`;
  const reply = await api.as('owner-manager', 'PUT', `/v1/nodes/${node}/states/provision`, { body });
  expect(said(reply)).toEqual([202, '']);
});

describe('a private runbook on a node that its project neither owns nor leases', () => {
  const reason = { headers: { 'x-temper-reason': 'the project asked us to, ticket 7' } };
  beforeEach(async () => {
    expect((await create('operator', 'foreign', { owner: stranger })).status).toBe(201);
    expect((await giveTrait('operator', 'foreign', 'CUSTOM_FW')).status).toBe(204);
  });

  test('does not run, for system callers either', async () => {
    for (const who of ['operator', 'system-member'] as const)
      for (const request of [{}, reason])
        expect(said(await run(who, 'foreign', request))).toEqual([
          403,
          expect.stringContaining('temper:runbook:cross'),
        ]);
    expect(api.runs.started).toEqual([]);
  });

  test.each([{ owner: stranger }, { lessee: stranger }])('runs where that project is %j of it', async (columns) => {
    await api.sql`update nodes set ${api.sql(columns)}`;
    expect((await run('operator', 'foreign')).status).toBe(202);
  });

  test('crosses by a rule of its own, with a reason that is kept', async () => {
    api.setPolicy({ set: 'temper', overrides: { 'temper:runbook:cross': 'role:admin and system_scope:all' } });
    expect(said(await run('operator', 'foreign'))).toEqual([400, expect.stringContaining('X-Temper-Reason')]);
    expect(said(await run('operator', 'foreign', { headers: { 'x-temper-reason': '  ' } }))[0]).toBe(400);
    expect((await run('system-member', 'foreign', reason)).status).toBe(403);
    expect(said(await run('operator', 'foreign', reason))).toEqual([202, '']);
    expect(api.runs.started[0]!.asked).toMatchObject({
      rule: 'temper:node:run_runbook, temper:runbook:cross',
      reason: 'the project asked us to, ticket 7',
    });
  });

  test('a reason opens nothing that is not asked for one', async () => {
    await create('lessee-manager', 'mine');
    expect((await run('lessee-member', 'mine', reason)).status).toBe(400);
  });

  test('runs in set ironic as in the original', async () => {
    api.setPolicy({ set: 'ironic' });
    expect((await run('operator', 'foreign')).status).toBe(202);
  });
});
