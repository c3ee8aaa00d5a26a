/** The plan of a request on one node: all that refuses it, what would run, and that it is the same word as the admission's. */
import type { NodeUuid } from '../../src/model/ids';
import { faultOf, type Reply, startTestApi, type TestApi } from '../support/api';
import { biosStep, reboot } from '../support/runbook-steps';
import { lessee, owner, type Persona, stranger } from '../support/world';

const secret = 'correct-horse';
let api: TestApi;
let node: NodeUuid;
beforeAll(async () => {
  api = await startTestApi({ settings: { disallowedSteps: ['management.reset_bmc'] } });
});
afterAll(() => api?.close());
afterEach(() => api.setPolicy({ set: 'temper' }));

const bios = biosStep('A', 'b');
const withSecret = biosStep('AdminPassword', secret);

const address = { redfish_address: 'https://192.0.2.7' };
const ready = {
  driver: 'redfish',
  provision_state: 'manageable',
  maintenance: false,
  retired: false,
  conductor_group: '',
  owner: owner as string | null,
  lessee: null as string | null,
  traits: ['CUSTOM_FIT'],
  driver_info: address as object,
};
type World = typeof ready;

const place = async (given: Partial<World> = {}): Promise<void> => {
  const row = { ...ready, ...given };
  await api.sql`delete from freezes`;
  await api.sql`delete from nodes`;
  const [made] = await api.sql<{ uuid: NodeUuid }[]>`
    insert into nodes (name, driver, provision_state, maintenance, retired, conductor_group, owner, lessee, traits, driver_info, properties)
    values ('n', ${row.driver}, ${row.provision_state}, ${row.maintenance}, ${row.retired}, ${row.conductor_group}, ${row.owner}, ${row.lessee},
      ${row.traits}, ${api.sql.json(row.driver_info as never)}, ${api.sql.json({ vendor: 'ACME', model: 'X1' })}) returning uuid`;
  node = made!.uuid;
};
const book = async (name: string, steps: readonly object[], more: object = {}): Promise<string> => {
  const { body, status } = await api.as('operator', 'POST', '/v1/runbooks', { body: { name, steps, ...more } });
  expect(status).toBe(201);
  expect((await api.as('operator', 'PUT', `/v1/runbooks/${name}/traits/CUSTOM_FIT`)).status).toBe(204);
  return body.uuid;
};
const plan = (who: Persona, body: object, headers: Record<string, string> = {}) =>
  api.as(who, 'POST', '/temper/v1/nodes/n/plan', { body, headers });
const provision = (who: Persona, body: object) => api.as(who, 'PUT', '/v1/nodes/n/states/provision', { body });
const codes = ({ body }: Reply): string[] => body.refusals.map(({ code }: { code: string }) => code);

beforeEach(async () => {
  api.runs.started.length = 0;
  await api.sql`delete from runbooks`;
  await api.sql`delete from runbook_traits`;
  await api.sql`delete from workers`;
  await api.sql`insert into workers (hostname, conductor_group, drivers, role) values ('w', '', ${['redfish', 'fake-hardware']}, 'bmc')`;
  await place();
  await book('BIOS', [reboot, withSecret], { public: true });
});

describe('what would run', () => {
  test('steps with their acts, secrets masked, power cycles, and whether data is erased', async () => {
    const { status, body, text } = await plan('owner-member', { target: 'clean', runbook: 'BIOS' });
    expect(status).toBe(200);
    expect(text).not.toContain(secret);
    expect(body).toMatchObject({
      node_uuid: node,
      node_name: 'n',
      verb: 'clean',
      does: 'run',
      provision_state: 'manageable',
      target_provision_state: 'manageable',
      runbook: { name: 'BIOS', revision: 2 },
      would_run: true,
      refusals: [],
      concerns: [],
      power_cycles: 2,
      erases: false,
      expected_ms: null,
    });
    expect(body.steps).toMatchObject([
      { index: 0, interface: 'power', step: 'reboot', power_cycles: 1, erases: false },
      {
        index: 1,
        interface: 'bios',
        step: 'apply_configuration',
        args: { settings: [{ name: 'AdminPassword', value: '******' }] },
      },
    ]);
    expect(body.steps[0].acts.map(({ act }: { act: string }) => act)).toEqual(['power_off', 'power_on']);
  });

  test('without a verb a runbook runs with the one that the node’s state admits', async () => {
    expect((await plan('owner-member', { runbook: 'BIOS' })).body.verb).toBe('clean');
    await place({ provision_state: 'active' });
    expect((await plan('owner-member', { runbook: 'BIOS' })).body).toMatchObject({ verb: 'service', would_run: true });
    expect(faultOf(await plan('owner-member', {}))).toContain('target: is missing');
  });

  test.each([
    ['a step that erases', [{ interface: 'raid', step: 'delete_configuration' }], true],
    ['raw bytes', [{ interface: 'vendor', step: 'send_raw', args: { raw_bytes: '0x00 0x00' } }], null],
    ['a restart', [{ interface: 'power', step: 'reboot' }], false],
  ])('%s', async (_, clean_steps, erases) => {
    const driver_info = { ...address, ipmi_address: '192.0.2.7', ipmi_username: 'u', ipmi_password: 'p' };
    await place({ driver_info, ...(erases === null && { driver: 'ipmi' }) });
    const { body } = await plan('operator', { target: 'clean', clean_steps });
    expect(body.steps).toHaveLength(1);
    expect(body.erases).toBe(erases);
  });

  test('how long its like took on nodes of the same kind', async () => {
    const [other] = await api.sql<{ uuid: NodeUuid }[]>`
      insert into nodes (name, driver, provision_state, properties)
      values ('other', 'redfish', 'active', ${api.sql.json({ vendor: 'ACME', model: 'X1' })}) returning uuid`;
    const [run] = await api.sql<{ id: string }[]>`
      insert into runs (id, node_uuid, verb, kind, workflow_id, state, requester, rule_set, input, fence, finished_at)
      values (gen_random_uuid(), ${other!.uuid}, 'clean', 'clean', 'w', 'succeeded', '{}', 'h', '{}', 1, now()) returning id`;
    for (const [index, step, seconds] of [
      [0, 'reboot', 60],
      [1, 'apply_configuration', 240],
    ] as const)
      await api.sql`
        insert into run_steps (run_id, index, interface, step, args, state, started_at, finished_at)
        values (${run!.id}, ${index}, ${index === 0 ? 'power' : 'bios'}, ${step}, '{}', 'done', now() - make_interval(secs => ${seconds}), now())`;
    const { body } = await plan('owner-member', { target: 'clean', runbook: 'BIOS' });
    expect(body).toMatchObject({ expected_ms: 300_000, p95_ms: 300_000 });
    expect(body.steps.map(({ expected_ms }: { expected_ms: number }) => expected_ms)).toEqual([60_000, 240_000]);
    await api.sql`update nodes set properties = '{"vendor": "ACME", "model": "X2"}' where uuid = ${node}`;
    expect((await plan('owner-member', { target: 'clean', runbook: 'BIOS' })).body.expected_ms).toBeNull();
    await api.sql`delete from run_steps`;
    await api.sql`delete from runs`;
  });

  test('a verb without steps, and one that only sends a message', async () => {
    await place({ driver_info: { ...address, deploy_iso: 'http://images.example.org/ipa.iso' } });
    expect((await plan('owner-admin', { target: 'provide' })).body).toMatchObject({ does: 'run', would_run: true });
    await place({ provision_state: 'clean wait' });
    expect((await plan('owner-admin', { target: 'abort' })).body).toMatchObject({ does: 'message', steps: [] });
  });
});

describe('everything that refuses is listed', () => {
  test('all of it at once, each with the text of the request itself', async () => {
    await place({
      provision_state: 'active',
      maintenance: true,
      retired: true,
      conductor_group: 'far',
      traits: [],
      owner,
    });
    await api.sql`update nodes set reservation = gen_random_uuid()`;
    const reply = await plan('owner-reader', { target: 'clean', runbook: 'BIOS' });
    expect(reply.body.would_run).toBe(false);
    expect(codes(reply)).toEqual(['rule', 'held', 'state', 'rule', 'trait', 'maintenance', 'no_worker']);
    expect(reply.body.refusals[0]).toMatchObject({
      rule: 'temper:node:run_runbook',
      status: 403,
      error: 'PolicyDenied',
    });
    expect(reply.body.steps).toHaveLength(2);
  });

  test('every step that this node does not have, and every rule of single steps', async () => {
    const step = (of: string, name: string) => ({ interface: of, step: name });
    api.setPolicy({
      set: 'temper',
      overrides: { 'baremetal:step:execute:power.reboot': '!', 'baremetal:step:execute:bios.nonsense': '!' },
    });
    const clean_steps = [
      step('power', 'reboot'),
      step('bios', 'nonsense'),
      step('raid', 'nonsense'),
      step('management', 'reset_bmc'),
    ];
    const reply = await plan('owner-admin', { target: 'clean', clean_steps });
    expect(codes(reply)).toEqual(['rule', 'rule', 'step_unsupported', 'step_unsupported', 'step_unsupported']);
    expect(reply.body.steps.map(({ step: name }: { step: string }) => name)).toEqual(['reboot', 'reset_bmc']);
  });

  type Refusing = { readonly code: string; readonly before: () => Promise<unknown>; readonly body?: object };
  const withdrawn = async (): Promise<void> => {
    const path = '/temper/v1/runbooks/BIOS/revisions/2/withdraw';
    expect((await api.as('operator', 'POST', path, { body: { reason: 'it bricks' } })).status).toBe(200);
  };
  const refusing: readonly Refusing[] = [
    { code: 'withdrawn', before: withdrawn },
    { code: 'node_incomplete', before: () => place({ driver_info: {} }) },
    {
      code: 'maintenance',
      before: () => place({ provision_state: 'available', maintenance: true }),
      body: { target: 'active' },
    },
    { code: 'retired', before: () => place({ retired: true }), body: { target: 'provide' } },
    { code: 'request', before: async () => undefined, body: { target: 'provide', disable_ramdisk: true } },
  ];
  test.each(refusing)('$code', async ({ code, before, body = { target: 'clean', runbook: 'BIOS' } }) => {
    await before();
    expect(codes(await plan('operator', body))).toContain(code);
  });

  test('a freeze and another project’s node are concerns, not refusals', async () => {
    await place({ provision_state: 'active', lessee });
    const froze = await api.as('operator', 'POST', `/temper/v1/nodes/${node}/freezes`, {
      body: { reason: 'fan swap' },
    });
    expect(froze.status).toBe(201);
    const { body } = await plan('owner-member', { target: 'service', runbook: 'BIOS' });
    expect(body).toMatchObject({ would_run: true, refusals: [] });
    expect(body.concerns).toMatchObject([
      { code: 'frozen', reason: expect.stringContaining('fan swap') },
      { code: 'leased' },
    ]);
    expect((await plan('lessee-member', { target: 'service', runbook: 'BIOS' })).body.concerns).toMatchObject([
      { code: 'frozen' },
    ]);
  });

  test('why a rule refuses is explained to those who may ask', async () => {
    const body = { target: 'clean', runbook: 'BIOS' };
    const [refused] = (await plan('system-reader', body)).body.refusals;
    expect(refused.explain).toMatchObject({ rule: 'temper:node:run_runbook', verdict: 'refused' });
    expect((await plan('owner-reader', body)).body.refusals[0]).not.toHaveProperty('explain');
  });
});

describe('who may ask', () => {
  test('a node that is hidden is missing, and so is a runbook', async () => {
    const missing = await api.as('stranger-admin', 'POST', '/temper/v1/nodes/none/plan', { body: { runbook: 'BIOS' } });
    const hidden = await plan('stranger-admin', { runbook: 'BIOS' });
    expect([missing.status, hidden.status]).toEqual([404, 404]);
    expect(faultOf(hidden)).toBe(faultOf(missing).replace('none', 'n'));
    await book('OTHERS', [reboot], { owner: stranger });
    expect((await plan('owner-admin', { runbook: 'OTHERS' })).status).toBe(404);
  });

  test('arguments of what the operator chose are not shown to those whom a rule refuses', async () => {
    await place({
      provision_state: 'available',
      driver_info: { ...address, deploy_iso: 'http://images.example.org/ipa.iso' },
    });
    const { body } = await plan('owner-reader', { target: 'active' });
    expect(body.steps.length).toBeGreaterThan(0);
    expect(new Set(body.steps.map(({ args }: { args: unknown }) => args))).toEqual(new Set([null]));
  });
});

test('nothing is touched: every table holds what it held, and no run was asked for', async () => {
  const tables = await api.sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  const contents = async (): Promise<string[]> => {
    const digests: string[] = [];
    for (const { name } of tables) {
      const [row] = await api.sql.unsafe(
        `select '${name} ' || count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest from ${name} t`,
      );
      digests.push(row!.digest as string);
    }
    return digests;
  };
  const before = await contents();
  for (const body of [
    { runbook: 'BIOS' },
    { target: 'provide' },
    { target: 'clean', clean_steps: [bios] },
    { target: 'nonsense' },
  ])
    for (const who of ['operator', 'owner-member', 'owner-reader', 'stranger-admin'] as const) await plan(who, body);
  expect(await contents()).toEqual(before);
  expect(tables.length).toBeGreaterThan(30);
  expect(api.runs).toMatchObject({ started: [], moved: [], sent: [], operated: [], called: [] });
});

describe('the plan and the admission say the same', () => {
  // A fixed sequence, so that a failure can be seen again.
  const chooser = (seed: number) => {
    let state = seed;
    return <T>(from: readonly T[]): T => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return from[Math.floor((state / 2_147_483_648) * from.length)]!;
    };
  };
  const people: readonly Persona[] = [
    'operator',
    'system-member',
    'owner-admin',
    'owner-manager',
    'owner-member',
    'owner-reader',
    'lessee-member',
    'stranger-admin',
  ];
  const bodies: readonly object[] = [
    { target: 'clean', runbook: 'BIOS' },
    { target: 'service', runbook: 'BIOS' },
    { target: 'clean', runbook: 'OWN' },
    { target: 'clean', clean_steps: [bios] },
    { target: 'clean', clean_steps: [{ interface: 'bios', step: 'nonsense' }] },
    { target: 'clean', clean_steps: [{ interface: 'management', step: 'reset_bmc' }], disable_ramdisk: true },
    { target: 'provide' },
    { target: 'active' },
    { target: 'inspect' },
    { target: 'manage' },
    { target: 'abort' },
    { target: 'deleted' },
    { target: 'rescue' },
    { target: 'provide', clean_steps: [bios] },
  ];

  test.each([1, 2, 3])('on random nodes and callers, seed %s', async (seed) => {
    await book('OWN', [reboot, bios], { owner });
    const choose = chooser(seed);
    const met = new Set<string>();
    for (let world = 0; world < 60; world += 1) {
      await place({
        driver: choose(['redfish', 'fake-hardware', 'redfish']),
        provision_state: choose([
          'manageable',
          'active',
          'available',
          'enroll',
          'clean wait',
          'clean failed',
          'manageable',
        ]),
        maintenance: choose([false, false, true]),
        retired: choose([false, false, true]),
        conductor_group: choose(['', '', '', 'far']),
        owner: choose([owner, owner, null]),
        lessee: choose([null, lessee]),
        traits: choose([['CUSTOM_FIT'], ['CUSTOM_FIT'], []]),
        driver_info: choose([address, address, {}]),
      });
      if (choose([false, false, true])) await api.sql`update nodes set reservation = gen_random_uuid()`;
      const [who, body] = [choose(people), choose(bodies)];
      const planned = await plan(who, body);
      const admitted = await provision(who, body);
      // A runbook that is missing is missing, whatever else refuses.
      if (planned.status === 404) {
        expect(admitted.status).toBeGreaterThanOrEqual(400);
        continue;
      }
      const refusals =
        planned.status === 200 ? planned.body.refusals : [{ status: planned.status, reason: faultOf(planned) }];
      const said = refusals.length === 0 ? { status: 202 } : { status: refusals[0].status, reason: refusals[0].reason };
      const answered =
        admitted.status === 202 ? { status: 202 } : { status: admitted.status, reason: faultOf(admitted) };
      expect({ world, who, body, ...said }).toEqual({ world, who, body, ...answered });
      met.add(refusals[0]?.code ?? String(said.status));
    }
    // Too narrow a world would prove nothing.
    expect(met.size).toBeGreaterThan(5);
  });
});
