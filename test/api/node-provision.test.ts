/** The provision request: who may ask which verb in which state and version, by steps and by runbook, and what runs are given. */
import { type Verb, verbs } from '../../src/model/lifecycle/verbs';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api.close());

const run = '33333333-3333-4333-8333-333333333333';
const trait = 'CUSTOM_BIOS';
let uuid: string;

beforeEach(async () => {
  await api.sql`delete from nodes`;
  await api.sql`delete from runbooks`;
  Object.assign(api.runs, { started: [], moved: [], sent: [] });
  api.setPolicy({ set: 'temper' });
  const made = await api.as('operator', 'POST', '/v1/nodes', {
    body: {
      name: 'n1',
      driver: 'redfish',
      owner,
      lessee,
      driver_info: { redfish_address: 'https://192.0.2.7', deploy_iso: 'https://images.example.org/ramdisk.iso' },
    },
  });
  uuid = made.body.uuid;
  await set({ provision_state: 'manageable', traits: [trait] });
});

const set = (columns: Record<string, unknown>) => api.sql`update nodes set ${api.sql(columns)} where name = 'n1'`;
const ask = (body: unknown, { who = 'operator', minor }: { who?: Persona; minor?: number } = {}) =>
  api.as(who, 'PUT', `/v1/nodes/${minor !== undefined && minor < 5 ? uuid : 'n1'}/states/provision`, { body, minor });
const asked = () => api.runs.started.length + api.runs.moved.length + api.runs.sent.length;

const step = { interface: 'management', step: 'set_boot_device', args: { boot_device: 'pxe' } };
const clean = (more: object = {}) => ({ target: 'clean', clean_steps: [step], ...more });

const addRunbook = async (columns: Record<string, unknown> = {}) => {
  const [row] = await api.sql`insert into runbooks ${api.sql({
    name: 'CUSTOM_BIOS',
    steps: api.sql.json([{ ...step, order: 1 }] as never),
    traits: [trait],
    public: true,
    ...columns,
  })} returning uuid`;
  return String(row!.uuid);
};

describe('the answer', () => {
  test.each([['n1'], ['uuid']])(
    'is 202 without a body, and says where the states of the node are, named as it was (%s)',
    async (kind) => {
      const ident = kind === 'uuid' ? uuid.toUpperCase() : kind;
      const reply = await api.as('operator', 'PUT', `/v1/nodes/${ident}/states/provision`, { body: clean() });
      expect([reply.status, reply.text]).toEqual([202, '']);
      expect(reply.headers.get('content-type')).toBeNull();
      expect(reply.headers.get('location')).toBe(`${api.url}/v1/nodes/${ident}/states`);
      expect(reply.headers.get('x-openstack-ironic-api-version')).toBe('1.115');
    },
  );

  test('arguments may come in the query', async () => {
    expect((await api.as('operator', 'PUT', '/v1/nodes/n1/states/provision?target=provide')).status).toBe(202);
    expect(api.runs.started).toHaveLength(1);
  });
});

describe('what runs are given', () => {
  test('clean with steps: the resolved steps, in order, and who asked by which rule', async () => {
    const reply = await ask(
      clean({
        clean_steps: [
          { ...step, order: '2' },
          { interface: 'power', step: 'reboot', order: 1 },
        ],
      }),
      { who: 'owner-manager' },
    );
    expect(reply.status).toBe(202);
    expect(api.runs.started).toEqual([
      {
        node: {
          uuid,
          name: 'n1',
          driver: 'redfish',
          conductor_group: '',
          provision_state: 'manageable',
          revision: expect.any(String),
        },
        verb: 'clean',
        kind: 'clean',
        event: 'clean',
        ends: 'manage',
        target: 'manageable',
        fault: 'clean failure',
        steps: [
          expect.objectContaining({ index: 0, interface: 'power', step: 'reboot' }),
          expect.objectContaining({
            index: 1,
            step: 'set_boot_device',
            args: { boot_device: 'pxe' },
            acts: [{ act: 'set_boot_device', effect: 'converge' }],
          }),
        ],
        ramdisk: {},
        runbook: null,
        limit: { class: 'clean', max: 50 },
        asked: {
          rule: 'baremetal:node:set_provision_state',
          rule_set: api.rooms.policy().hash,
          origin: { address: '127.0.0.1', project_name: owner, roles: ['manager', 'member', 'reader'] },
          requester: {
            user_id: 'user-of-project-owner',
            user_name: 'user-of-project-owner',
            project_id: owner,
            system_scope: null,
            strategy: 'static_tokens',
            request_id: reply.headers.get('x-openstack-request-id'),
          },
        },
      },
    ]);
  });

  test.each([
    // from        verb        kind       event       ends in       steps
    ['enroll', 'manage', 'verify', 'manage', 'manageable', ['verify']],
    ['manageable', 'adopt', 'adopt', 'adopt', 'active', ['verify']],
    ['manageable', 'inspect', 'inspect', 'inspect', 'manageable', ['inspect']],
    ['manageable', 'provide', 'clean', 'provide', 'available', ['boot_ramdisk', 'list_steps', 'remove_ramdisk']],
    ['rescue', 'unrescue', 'unrescue', 'unrescue', 'active', ['boot_instance']],
  ] as const)('from %s, %s starts a run of kind %s', async (state, target, kind, event, to, steps) => {
    await set({ provision_state: state });
    expect((await ask({ target })).status).toBe(202);
    expect(api.runs.started).toEqual([
      expect.objectContaining({ verb: target, kind, event, ends: 'done', target: to, runbook: null }),
    ]);
    expect(api.runs.started[0]!.steps.map(({ step: name }) => name)).toEqual(steps);
  });

  test.each([
    ['available', 'manage', 'manage'],
    ['clean failed', 'manage', 'manage'],
    ['inspect failed', 'manage', 'manage'],
    ['adopt failed', 'manage', 'manage'],
    ['service failed', 'abort', 'abort'],
  ])('from %s, %s is a move that needs no run', async (state, target, event) => {
    await set({ provision_state: state });
    expect((await ask({ target })).status).toBe(202);
    expect(api.runs).toMatchObject({
      started: [],
      sent: [],
      moved: [{ event, node: { uuid, provision_state: state }, asked: { rule: 'baremetal:node:set_provision_state' } }],
    });
  });

  test('an abort out of service failed waits for the end of maintenance', async () => {
    await set({ provision_state: 'service failed', maintenance: true });
    expect((await ask({ target: 'abort' })).status).toBe(409);
    expect(asked()).toBe(0);
  });

  test.each([
    ['clean wait', 'abort'],
    ['clean hold', 'abort'],
    ['clean hold', 'unhold'],
    ['service wait', 'abort'],
    ['service hold', 'unhold'],
  ])('in %s, %s is a message to the run that holds the node', async (state, target) => {
    await set({ provision_state: state, reservation: run });
    expect((await ask({ target })).status).toBe(202);
    expect(api.runs).toMatchObject({ started: [], moved: [], sent: [{ kind: target, node: { uuid } }] });
  });
});

describe('versions', () => {
  test.each([
    ...Object.entries(verbs).map(([verb, { since }]) => [{ target: verb }, since] as const),
    [clean({ disable_ramdisk: true }), 70] as const,
    [clean({ disable_ramdisk: false }), 70] as const,
    [{ target: 'service', service_steps: [step], disable_ramdisk: true }, 108] as const,
    [{ target: 'clean', runbook: 'CUSTOM_BIOS' }, 92] as const,
    [{ target: 'service', runbook: 'CUSTOM_BIOS' }, 92] as const,
  ])('%j is not acceptable before 1.%s', async (body, since) => {
    await addRunbook();
    if (body.target === 'service') await set({ provision_state: 'active' });
    if (since > 1) {
      const reply = await ask(body, { minor: since - 1 });
      expect([reply.status, faultOf(reply)]).toEqual([406, expect.stringContaining(`1.${since}`)]);
      expect(asked()).toBe(0);
    }
    expect((await ask(body, { minor: since })).status).not.toBe(406);
  });

  test.each([
    ['inspect wait', 40, 406],
    ['inspect wait', 41, 202],
    ['wait call-back', 109, 406],
    ['wait call-back', 110, 202],
  ])('abort in %s at 1.%s is %s', async (state, minor, status) => {
    await set({ provision_state: state, reservation: run });
    expect((await ask({ target: 'abort' }, { minor })).status).toBe(status);
  });
});

describe('states', () => {
  const refused: [string, Verb | 'unknown', number][] = [
    ['enroll', 'clean', 400],
    ['enroll', 'provide', 400],
    ['available', 'clean', 400],
    ['available', 'provide', 400],
    ['active', 'clean', 400],
    ['active', 'manage', 400],
    ['manageable', 'service', 400],
    ['manageable', 'manage', 400],
    ['manageable', 'abort', 400],
    ['manageable', 'unhold', 400],
    ['manageable', 'unknown', 400],
    ['cleaning', 'abort', 400],
  ];
  const bodyOf = (target: string) => ({
    target,
    ...(target === 'clean' ? { clean_steps: [step] } : target === 'service' ? { service_steps: [step] } : {}),
  });

  test.each(refused)(
    'from %s, %s is a bad request, and a conflict while a run holds the node',
    async (state, target, status) => {
      await set({ provision_state: state });
      const reply = await ask(bodyOf(target));
      expect(reply.status).toBe(status);
      await set({ reservation: run });
      expect((await ask(bodyOf(target))).status).toBe(target === 'unknown' ? 400 : 409);
      expect(asked()).toBe(0);
    },
  );

  test('a verb that is legal conflicts while a run holds the node', async () => {
    await set({ reservation: run });
    const reply = await ask(clean());
    expect([reply.status, faultOf(reply)]).toEqual([409, 'Node n1 is busy; try again when its run ends.']);
    await set({ provision_state: 'cleaning' });
    expect((await ask({ target: 'manage' })).status).toBe(409);
    expect(asked()).toBe(0);
  });

  test('the refusal names verb, node and state', async () => {
    await set({ provision_state: 'active' });
    expect(faultOf(await ask(clean()))).toBe(
      'The requested action "clean" can not be performed on node "n1" while it is in state "active". To run steps on a node in use, ask for service with service_steps; to clean it, tear it down first (undeploy).',
    );
  });

  test.each([
    ['operator', 'Rule baremetal:node:clear_maintenance lets you end it: `baremetal node maintenance unset n1`.'],
    [
      'owner-admin',
      'You cannot end it: rule baremetal:node:clear_maintenance admits role admin with system scope; ask for `baremetal node maintenance unset n1`.',
    ],
  ] as const)('in maintenance %s reads who can end it, and how', async (who, says) => {
    await set({ maintenance: true, provision_state: 'active', lessee });
    api.setPolicy({
      set: 'temper',
      overrides: { 'baremetal:node:clear_maintenance': 'role:admin and system_scope:all' },
    });
    const reply = await api.as(who, 'PUT', '/v1/nodes/n1/states/provision', {
      body: { target: 'rebuild' },
    });
    expect(faultOf(reply)).toBe(`The rebuild operation is not possible while node n1 is in maintenance mode. ${says}`);
  });

  test.each([
    [{ maintenance: true }, clean(), 400, /maintenance/],
    [{ maintenance: true }, { target: 'provide' }, 202, null],
    [
      { maintenance: true, provision_state: 'active' },
      { target: 'service', service_steps: [step] },
      400,
      /maintenance/,
    ],
    [{ retired: true }, { target: 'provide' }, 400, /retired/],
    [{ retired: true }, clean(), 202, null],
    [{ conductor_group: 'nowhere' }, clean(), 503, /No worker is online for conductor group "nowhere"/],
    [{ driver_info: {} }, clean(), 400, /redfish_address is missing/],
  ])('with %j, %j is %s', async (columns, body, status, says) => {
    await set(columns);
    const reply = await ask(body);
    expect([reply.status, reply.status < 300 ? null : faultOf(reply)]).toEqual([
      status,
      says && expect.stringMatching(says),
    ]);
    expect(asked()).toBe(status === 202 ? 1 : 0);
  });
});

describe('steps', () => {
  test.each([
    [{ target: 'clean' }, /clean_steps: is missing/],
    [{ target: 'clean', clean_steps: [] }, /at least one step/],
    [{ target: 'clean', clean_steps: {} }, /clean_steps/],
    [clean({ clean_steps: [{ interface: 'network', step: 'x' }] }), /interface/],
    [clean({ clean_steps: [{ interface: 'bios', step: '' }] }), /step/],
    [clean({ clean_steps: [{ ...step, colour: 'red' }] }), /colour/],
    [clean({ clean_steps: [{ ...step, order: -1 }] }), /order/],
    [clean({ clean_steps: [{ ...step, temper: { colour: 1 } }] }), /colour/],
    [clean({ clean_steps: [{ ...step, args: { boot_device: 'tape' } }] }), /boot_device must be one of/],
    [clean({ clean_steps: [{ interface: 'bios', step: 'paint' }] }), /has no step bios.paint/],
    [clean({ clean_steps: [{ interface: 'vendor', step: 'send_raw' }] }), /does not allow vendor.send_raw/],
    [clean({ clean_steps: [{ ...step, limit_child_node_execution: [run] }] }), /needs execute_on_child_nodes/],
    [clean({ clean_steps: [{ ...step, args: { boot_device: { $secret: run } } }] }), /reserved/],
    [clean({ service_steps: [step] }), /service_steps: is not possible with clean/],
    [clean({ deploy_steps: [] }), /deploy_steps: is not possible with clean/],
    [clean({ configdrive: 'x' }), /configdrive: is not possible with clean/],
    [clean({ rescue_password: 'x' }), /rescue_password: is not possible with clean/],
    [{ target: 'provide', clean_steps: [step] }, /clean_steps: is not possible with provide/],
    [{ target: 'provide', disable_ramdisk: false }, /disable_ramdisk: is not possible with provide/],
    [clean({ colour: 'red' }), /Unexpected arguments: colour/],
    [{}, /target: is missing/],
  ])('%j is refused with a reason', async (body, says) => {
    const reply = await ask(body);
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(says)]);
    expect(asked()).toBe(0);
  });

  test('a step may carry a limit of ours, and disable_ramdisk is accepted', async () => {
    expect(
      (await ask(clean({ clean_steps: [{ ...step, temper: { timeout: 60 } }], disable_ramdisk: 'true' }))).status,
    ).toBe(202);
  });

  test('a rule for one step decides about that step, and the others stay free', async () => {
    api.setPolicy({
      set: 'temper',
      overrides: { 'baremetal:step:execute:management.reset_bmc': 'role:admin and system_scope:all' },
    });
    const reset = clean({ clean_steps: [step, { interface: 'management', step: 'reset_bmc' }] });
    const reply = await ask(reset, { who: 'owner-manager' });
    expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('management.reset_bmc')]);
    expect((await ask(clean(), { who: 'owner-manager' })).status).toBe(202);
    expect((await ask(reset)).status).toBe(202);
  });
});

describe('who', () => {
  test.each([
    // who               provide  raw clean  runbook
    ['operator', 202, 202, 202],
    ['system-member', 202, 202, 202],
    ['system-reader', 403, 403, 403],
    ['owner-admin', 202, 202, 202],
    ['owner-manager', 202, 202, 202],
    ['owner-member', 202, 403, 202],
    ['owner-reader', 403, 403, 403],
    ['lessee-admin', 202, 403, 202],
    ['lessee-manager', 202, 403, 202],
    ['lessee-member', 403, 403, 202],
    ['lessee-reader', 403, 403, 403],
    ['stranger-admin', 404, 404, 404],
  ] as const)(
    '%s: provide %s, steps of one’s own choice %s, a public approved runbook %s',
    async (who, ...statuses) => {
      await addRunbook();
      const got: number[] = [];
      for (const body of [{ target: 'provide' }, clean(), { target: 'clean', runbook: 'CUSTOM_BIOS' }])
        got.push((await ask(body, { who })).status);
      expect(got).toEqual(statuses);
      expect(asked()).toBe(statuses.filter((status) => status === 202).length);
    },
  );

  test.each([
    ['owner-member', 202],
    ['lessee-member', 202],
    ['owner-reader', 403],
    ['stranger-admin', 404],
  ] as const)('a service by runbook, asked by %s, is %s', async (who, status) => {
    await set({ provision_state: 'active' });
    await addRunbook();
    expect((await ask({ target: 'service', runbook: 'CUSTOM_BIOS' }, { who })).status).toBe(status);
  });

  test('set ironic decides by its own rules: a lessee’s member may not provision', async () => {
    api.setPolicy({ set: 'ironic' });
    await addRunbook();
    expect((await ask({ target: 'clean', runbook: 'CUSTOM_BIOS' }, { who: 'lessee-member' })).status).toBe(403);
    expect((await ask(clean(), { who: 'owner-member' })).status).toBe(202);
  });
});

const useRunbook = { target: 'clean', runbook: 'CUSTOM_BIOS' };

describe('runbooks', () => {
  test('its steps run in order, its name goes into the record, and its secrets stay references', async () => {
    const reference = { $secret: run };
    const id = await addRunbook({
      steps: api.sql.json([
        { interface: 'power', step: 'reboot', order: 2, args: {} },
        {
          interface: 'bios',
          step: 'apply_configuration',
          order: 1,
          args: { settings: [{ name: 'AdminPassword', value: reference }] },
        },
      ] as never),
    });
    expect((await ask(useRunbook, { who: 'lessee-member' })).status).toBe(202);
    expect(api.runs.started).toEqual([
      expect.objectContaining({
        runbook: expect.objectContaining({ uuid: id, name: 'CUSTOM_BIOS' }),
        steps: [
          expect.objectContaining({
            index: 0,
            step: 'apply_configuration',
            args: { settings: [{ name: 'AdminPassword', value: reference }] },
          }),
          expect.objectContaining({ index: 1, step: 'reboot' }),
        ],
        asked: expect.objectContaining({ rule: 'temper:node:run_runbook' }),
      }),
    ]);
  });

  test.each(['clean_steps', 'service_steps', 'deploy_steps'])(
    'a runbook beside %s is refused, even beside an empty one',
    async (key) => {
      await addRunbook();
      for (const value of [[], {}, [step], null])
        for (const who of ['operator', 'lessee-member'] as const)
          expect((await ask({ ...useRunbook, [key]: value }, { who })).status).toBe(400);
      expect(asked()).toBe(0);
    },
  );

  test.each(Object.keys(verbs).filter((verb) => verb !== 'clean' && verb !== 'service'))(
    'a runbook with %s is refused, so it opens no other verb',
    async (target) => {
      await addRunbook();
      for (const who of ['operator', 'lessee-member'] as const)
        expect((await ask({ target, runbook: 'CUSTOM_BIOS' }, { who })).status).toBe(400);
      expect(asked()).toBe(0);
    },
  );

  test('null is no runbook', async () => {
    expect((await ask({ target: 'provide', runbook: null }, { who: 'lessee-member' })).status).not.toBe(202);
    expect((await ask(clean({ runbook: '' }))).status).toBe(400);
    expect(asked()).toBe(0);
  });
});

describe('whether a caller may use a runbook on a node', () => {
  test.each([
    // runbook                               operator owner-manager owner-member lessee-member
    [{ public: true, owner: null }, 202, 202, 202, 202],
    [{ public: false, owner }, 202, 202, 202, 404],
    [{ public: false, owner: lessee }, 202, 404, 404, 202],
    [{ public: false, owner: stranger }, 403, 404, 404, 404],
    [{ public: false, owner: null }, 202, 404, 404, 404],
  ])('%j: operator %s, owner-manager %s, owner-member %s, lessee-member %s', async (columns, ...statuses) => {
    await addRunbook(columns);
    const got: number[] = [];
    for (const who of ['operator', 'owner-manager', 'owner-member', 'lessee-member'] as const)
      got.push((await ask(useRunbook, { who })).status);
    expect(got).toEqual(statuses);
  });

  test('a hidden runbook and a missing one differ in nothing but the name asked for', async () => {
    await addRunbook({ public: false, owner: stranger });
    const hidden = await ask(useRunbook, { who: 'lessee-member' });
    const missing = await ask({ ...useRunbook, runbook: 'CUSTOM_NONE' }, { who: 'lessee-member' });
    expect([hidden.status, hidden.text.replaceAll('CUSTOM_BIOS', 'CUSTOM_NONE')]).toEqual([404, missing.text]);
  });

  test('who sees a runbook and may not use it is refused by the rule', async () => {
    api.setPolicy({ set: 'temper', overrides: { 'baremetal:runbook:use': 'role:admin and system_scope:all' } });
    await addRunbook();
    const reply = await ask(useRunbook, { who: 'lessee-member' });
    expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('baremetal:runbook:use')]);
  });

  test.each([
    // version  name           runbook's traits     node's traits        status
    [111, 'CUSTOM_BIOS', [], ['CUSTOM_BIOS'], 202],
    [111, 'CUSTOM_BIOS', ['CUSTOM_X'], ['CUSTOM_X'], 400],
    [111, 'CUSTOM_BIOS', ['CUSTOM_X'], ['CUSTOM_BIOS'], 202],
    [112, 'CUSTOM_BIOS', [], ['CUSTOM_BIOS'], 202],
    [112, 'CUSTOM_BIOS', [], [], 400],
    [112, 'CUSTOM_BIOS', ['CUSTOM_X'], ['CUSTOM_BIOS'], 400],
    [112, 'any name', ['CUSTOM_X', 'CUSTOM_Y'], ['CUSTOM_Y', 'CUSTOM_Z'], 202],
    [115, 'CUSTOM_BIOS', ['CUSTOM_X'], ['CUSTOM_Y'], 400],
  ])('at 1.%s a runbook %s with %j on a node with %j is %s', async (minor, name, traits, nodeTraits, status) => {
    const id = await addRunbook({ name, traits });
    await set({ traits: nodeTraits });
    const reply = await ask({ target: 'clean', runbook: id }, { minor, who: 'lessee-member' });
    expect(reply.status).toBe(status);
    if (status === 400) expect(faultOf(reply)).toMatch(/is not approved for node n1: the node needs/);
  });

  test('a missing trait is named', async () => {
    await addRunbook({ traits: ['CUSTOM_X', 'CUSTOM_Y'] });
    expect(faultOf(await ask(useRunbook))).toContain('one of the traits CUSTOM_X, CUSTOM_Y');
    await set({ traits: [] });
    expect(faultOf(await ask(useRunbook, { minor: 111 }))).toContain('the trait CUSTOM_BIOS');
  });

  test.each([
    ['service', false, 92, 202],
    ['service', false, 107, 202],
    ['service', true, 107, 406],
    ['service', true, 108, 202],
    ['clean', true, 92, 202],
  ])('%s by a runbook with disable_ramdisk %s at 1.%s is %s', async (target, disable_ramdisk, minor, status) => {
    await addRunbook({ disable_ramdisk });
    if (target === 'service') await set({ provision_state: 'active' });
    expect((await ask({ target, runbook: 'CUSTOM_BIOS' }, { minor })).status).toBe(status);
  });

  test('rules of single steps bind what a project wrote, and not what an operator published', async () => {
    api.setPolicy({
      set: 'temper',
      overrides: { 'baremetal:step:execute:management.set_boot_device': 'role:admin and system_scope:all' },
    });
    await addRunbook();
    await addRunbook({ name: 'CUSTOM_OWN', public: false, owner });
    expect((await ask(useRunbook, { who: 'owner-member' })).status).toBe(202);
    expect((await ask({ ...useRunbook, runbook: 'CUSTOM_OWN' }, { who: 'owner-member' })).status).toBe(403);
  });

  test('steps that the operator forbids, or that the driver lacks, are refused in a runbook too', async () => {
    await addRunbook({ steps: api.sql.json([{ interface: 'vendor', step: 'send_raw', order: 1, args: {} }]) });
    expect(faultOf(await ask(useRunbook))).toContain('vendor.send_raw');
    await set({ raid_interface: 'no-raid' });
    await addRunbook({
      name: 'CUSTOM_RAID',
      steps: api.sql.json([{ interface: 'raid', step: 'create_configuration', order: 1, args: {} }]),
    });
    expect(faultOf(await ask({ ...useRunbook, runbook: 'CUSTOM_RAID' }))).toContain(
      'needs another raid_interface than no-raid',
    );
    expect(asked()).toBe(0);
  });

  test('a runbook does not pass over state, maintenance or a lock', async () => {
    await addRunbook();
    await set({ provision_state: 'active' });
    expect((await ask(useRunbook, { who: 'lessee-member' })).status).toBe(400);
    await set({ provision_state: 'manageable', maintenance: true });
    expect((await ask(useRunbook, { who: 'lessee-member' })).status).toBe(400);
    await set({ maintenance: false, reservation: run });
    expect((await ask(useRunbook, { who: 'lessee-member' })).status).toBe(409);
    expect(asked()).toBe(0);
  });
});

test('a lock that another run took meanwhile is a conflict', async () => {
  const { raise } = jest.requireActual('../../src/model/errors');
  const busy = await startTestApi({ runs: { start: async () => raise('NodeLocked', { node: 'n1' }) } });
  try {
    await addWorker(busy.sql);
    await busy.as('operator', 'POST', '/v1/nodes', { body: { name: 'n1', driver: 'fake-hardware' } });
    const reply = await busy.as('operator', 'PUT', '/v1/nodes/n1/states/provision', { body: { target: 'manage' } });
    expect(reply.status).toBe(409);
  } finally {
    await busy.close();
  }
});
