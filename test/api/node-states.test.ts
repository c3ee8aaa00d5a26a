/** States, power, maintenance, traits and validation of a node. */
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api.close());

const run = '33333333-3333-4333-8333-333333333333';
beforeEach(async () => {
  await api.sql`delete from nodes`;
  Object.assign(api.runs, { started: [], moved: [], sent: [] });
  await api.as('operator', 'POST', '/v1/nodes', {
    body: {
      name: 'n1',
      driver: 'redfish',
      owner,
      lessee,
      driver_info: { redfish_address: 'https://192.0.2.7', redfish_password: 'hunter2' },
    },
  });
});
const set = (columns: Record<string, unknown>) => api.sql`update nodes set ${api.sql(columns)} where name = 'n1'`;
const uuidOf = async () => String((await api.sql`select uuid from nodes where name = 'n1'`)[0]!.uuid);

describe('states', () => {
  test('they are shown to each caller who sees the node, with the error that clients wait for', async () => {
    await set({ last_error: 'disk full', provision_state: 'clean failed', power_state: 'power on' });
    for (const who of ['operator', 'owner-reader', 'lessee-reader'] as const) {
      const reply = await api.as(who, 'GET', '/v1/nodes/n1/states');
      expect([reply.status, reply.body]).toEqual([
        200,
        {
          console_enabled: false,
          last_error: 'disk full',
          power_state: 'power on',
          provision_state: 'clean failed',
          target_power_state: null,
          target_provision_state: null,
          provision_updated_at: null,
          raid_config: {},
          target_raid_config: {},
          boot_mode: null,
          secure_boot: null,
        },
      ]);
    }
  });

  test.each([
    [11, 'raid_config', false],
    [12, 'raid_config', true],
    [74, 'boot_mode', false],
    [75, 'boot_mode', true],
  ])('at 1.%s, %s is there: %s', async (minor, field, there) => {
    const { body } = await api.as('operator', 'GET', `/v1/nodes/${await uuidOf()}/states`, { minor });
    expect(field in body).toBe(there);
  });

  test('available is null to versions before it had a name', async () => {
    await set({ provision_state: 'available' });
    const shown = async (minor: number) =>
      (await api.as('operator', 'GET', `/v1/nodes/${await uuidOf()}/states`, { minor })).body.provision_state;
    expect([await shown(1), await shown(2)]).toEqual([null, 'available']);
  });
});

describe('power', () => {
  const ask = async (body: unknown, options: { who?: 'operator'; minor?: number } = {}) =>
    api.as(options.who ?? 'operator', 'PUT', `/v1/nodes/${await uuidOf()}/states/power`, {
      body,
      minor: options.minor,
    });

  test('a request is a run of one step', async () => {
    const reply = await api.as('lessee-member', 'PUT', '/v1/nodes/n1/states/power', {
      body: { target: 'soft rebooting', timeout: 30 },
    });
    expect([reply.status, reply.text]).toEqual([202, '']);
    expect(reply.headers.get('content-type')).toBeNull();
    expect(reply.headers.get('location')).toBe(`${api.url}/v1/nodes/n1/states`);
    expect(api.runs.started).toEqual([
      expect.objectContaining({
        verb: 'power',
        kind: 'power',
        event: null,
        ends: null,
        target: null,
        fault: null,
        runbook: null,
        power: { target: 'soft rebooting', timeoutMs: 30_000 },
        steps: [
          {
            index: 0,
            interface: 'power',
            step: 'soft rebooting',
            args: {},
            acts: [
              { act: 'soft_power_off', effect: 'converge' },
              { act: 'power_on', effect: 'converge' },
            ],
            waits: null,
            abortable: false,
            parks: false,
          },
        ],
        asked: expect.objectContaining({ rule: 'baremetal:node:set_power_state' }),
      }),
    ]);
  });

  test('query and body are one set of arguments', async () => {
    expect((await api.as('operator', 'PUT', '/v1/nodes/n1/states/power?target=power%20on')).status).toBe(202);
    expect(api.runs.started[0]!.power).toEqual({ target: 'power on' });
  });

  test.each([
    ['operator', 202],
    ['system-member', 202],
    ['system-reader', 403],
    ['owner-member', 202],
    ['owner-reader', 403],
    ['lessee-member', 202],
    ['lessee-reader', 403],
    ['stranger-admin', 404],
  ] as const)('%s gets %s', async (who, status) => {
    const reply = await api.as(who, 'PUT', '/v1/nodes/n1/states/power', { body: { target: 'power on' } });
    expect(reply.status).toBe(status);
    expect(api.runs.started).toHaveLength(status === 202 ? 1 : 0);
  });

  test.each([
    [{}, { target: 'power on' }, 1, 202],
    [{}, { target: 'rebooting' }, 1, 202],
    [{}, { target: 'soft power off' }, 26, 406],
    [{}, { target: 'soft power off' }, 27, 202],
    [{}, { target: 'power on', timeout: 5 }, 26, 406],
    [{}, { target: 'power on', timeout: 5 }, 27, 202],
    [{}, { target: 'power on', timeout: '5' }, 27, 202],
    [{}, { target: 'power on', timeout: 0 }, 27, 400],
    [{}, { target: 'power on', timeout: 'soon' }, 27, 400],
    [{}, { target: 'explode' }, 115, 400],
    [{}, {}, 115, 400],
    [{}, { target: 'power on', colour: 1 }, 115, 400],
    [{ provision_state: 'cleaning' }, { target: 'power on' }, 115, 400],
    [{ provision_state: 'clean wait', reservation: run }, { target: 'power on' }, 115, 400],
    [{ reservation: run }, { target: 'power on' }, 115, 409],
    [{ disable_power_off: true }, { target: 'power off' }, 115, 409],
    [{ disable_power_off: true }, { target: 'soft power off' }, 115, 409],
    [{ disable_power_off: true }, { target: 'rebooting' }, 115, 202],
    [{ conductor_group: 'nowhere' }, { target: 'power on' }, 115, 503],
    [{ driver_info: {} }, { target: 'power on' }, 115, 400],
    [{ maintenance: true }, { target: 'power on' }, 115, 202],
  ])('with %j, %j at 1.%s is %s', async (columns, body, minor, status) => {
    if (Object.keys(columns).length > 0) await set(columns);
    expect((await ask(body, { minor })).status).toBe(status);
    expect(api.runs.started).toHaveLength(status === 202 ? 1 : 0);
  });
});

describe('maintenance', () => {
  test('it is set with a reason and cleared with its fault, also while a run holds the node', async () => {
    await set({ reservation: run, fault: 'clean failure' });
    const on = await api.as('operator', 'PUT', '/v1/nodes/n1/maintenance', { body: { reason: 'new fan' } });
    expect([on.status, on.text, on.headers.get('content-type')]).toEqual([202, '', null]);
    expect((await api.as('operator', 'GET', '/v1/nodes/n1')).body).toMatchObject({
      maintenance: true,
      maintenance_reason: 'new fan',
      fault: 'clean failure',
      reservation: run,
    });
    expect((await api.as('operator', 'DELETE', '/v1/nodes/n1/maintenance')).status).toBe(202);
    expect((await api.as('operator', 'GET', '/v1/nodes/n1')).body).toMatchObject({
      maintenance: false,
      maintenance_reason: null,
      fault: null,
      reservation: run,
    });
    const kinds = (await api.sql`select kind from events where kind like 'node.maintenance%' order by seq`).map(
      (row) => row.kind,
    );
    expect(kinds).toEqual(['node.maintenance.set', 'node.maintenance.cleared']);
  });

  test('a reason may be left out', async () => {
    expect((await api.as('operator', 'PUT', '/v1/nodes/n1/maintenance')).status).toBe(202);
    expect((await api.as('operator', 'PUT', '/v1/nodes/n1/maintenance', { body: { colour: 1 } })).status).toBe(400);
  });

  test.each([
    ['operator', 202],
    ['owner-member', 202],
    ['owner-reader', 403],
    ['lessee-manager', 202],
    ['lessee-member', 403],
    ['stranger-admin', 404],
  ] as const)('%s gets %s', async (who, status) => {
    expect((await api.as(who, 'PUT', '/v1/nodes/n1/maintenance', { body: {} })).status).toBe(status);
    expect((await api.as(who, 'DELETE', '/v1/nodes/n1/maintenance')).status).toBe(status);
  });
});

describe('traits', () => {
  const traits = async () => (await api.as('operator', 'GET', '/v1/nodes/n1/traits')).body.traits;
  const put = (list: unknown) => api.as('operator', 'PUT', '/v1/nodes/n1/traits', { body: { traits: list } });

  test('they are replaced, added, removed and cleared', async () => {
    expect((await put(['CUSTOM_B', 'CUSTOM_A', 'CUSTOM_A', 'HW_CPU_X86_VMX'])).status).toBe(204);
    expect(await traits()).toEqual(['CUSTOM_A', 'CUSTOM_B', 'HW_CPU_X86_VMX']);
    const added = await api.as('operator', 'PUT', '/v1/nodes/n1/traits/CUSTOM_C');
    expect([added.status, added.text, added.headers.get('location')]).toEqual([
      204,
      '',
      `${api.url}/v1/nodes/n1/traits/CUSTOM_C`,
    ]);
    expect((await api.as('operator', 'PUT', '/v1/nodes/n1/traits/CUSTOM_C')).status).toBe(204);
    expect((await api.as('operator', 'DELETE', '/v1/nodes/n1/traits/CUSTOM_A')).status).toBe(204);
    expect(await traits()).toEqual(['CUSTOM_B', 'CUSTOM_C', 'HW_CPU_X86_VMX']);
    expect((await api.as('operator', 'DELETE', '/v1/nodes/n1/traits/CUSTOM_A')).status).toBe(404);
    expect((await api.as('operator', 'DELETE', '/v1/nodes/n1/traits')).status).toBe(204);
    expect(await traits()).toEqual([]);
  });

  test.each([
    [['custom_a']],
    [['BIOS']],
    [['CUSTOM_a']],
    [['']],
    ['CUSTOM_A'],
    [[1]],
    [Array.from({ length: 51 }, (_, at) => `CUSTOM_${at}`)],
  ])('%j are no traits of a node', async (list) => {
    expect((await put(list)).status).toBe(400);
    expect(await traits()).toEqual([]);
  });

  test('one trait comes without a body', async () => {
    expect((await api.as('operator', 'PUT', '/v1/nodes/n1/traits/bad')).status).toBe(400);
    expect(
      (await api.as('operator', 'PUT', '/v1/nodes/n1/traits/CUSTOM_A', { body: { trait: 'CUSTOM_B' } })).status,
    ).toBe(400);
  });

  test('they do not change while a run holds the node', async () => {
    await set({ reservation: run, traits: ['CUSTOM_A'] });
    expect((await put([])).status).toBe(409);
    expect((await api.as('operator', 'PUT', '/v1/nodes/n1/traits/CUSTOM_B')).status).toBe(409);
    expect((await api.as('operator', 'DELETE', '/v1/nodes/n1/traits')).status).toBe(409);
    expect((await api.as('operator', 'DELETE', '/v1/nodes/n1/traits/CUSTOM_A')).status).toBe(409);
    expect(await traits()).toEqual(['CUSTOM_A']);
  });

  test.each([
    ['GET', 406],
    ['PUT', 405],
    ['DELETE', 404],
  ])('below 1.37 %s is %s', async (method, status) => {
    const body = method === 'PUT' ? { traits: [] } : undefined;
    expect((await api.as('operator', method, '/v1/nodes/n1/traits', { minor: 36, body })).status).toBe(status);
  });

  // Who may set a trait may approve runbooks for the node.
  test.each([
    // who            read set  delete
    ['operator', 200, 204, 204],
    ['owner-manager', 200, 204, 204],
    ['owner-member', 200, 403, 403],
    ['lessee-admin', 200, 403, 403],
    ['lessee-member', 200, 403, 403],
    ['stranger-admin', 404, 404, 404],
  ] as const)('%s: read %s, set %s, delete %s', async (who, ...statuses) => {
    const got = [
      (await api.as(who, 'GET', '/v1/nodes/n1/traits')).status,
      (await api.as(who, 'PUT', '/v1/nodes/n1/traits', { body: { traits: ['CUSTOM_A'] } })).status,
      (await api.as(who, 'DELETE', '/v1/nodes/n1/traits')).status,
    ];
    expect(got).toEqual(statuses);
  });
});

describe('validation', () => {
  test.each(['/v1/nodes/n1/validate', '/v1/nodes/validate?node=n1', '/v1/nodes/validate?node_uuid=n1'])(
    '%s says per interface whether the node is ready',
    async (path) => {
      const { body } = await api.as('operator', 'GET', path);
      expect(Object.keys(body).sort()).toEqual(
        'bios boot console deploy firmware inspect management network power raid rescue storage'.split(' '),
      );
      expect(body).toMatchObject({
        power: { result: true },
        management: { result: true },
        console: { result: null, reason: 'not supported: console_interface is no-console' },
        deploy: { result: false, reason: expect.stringContaining('image_source is missing') },
      });
      expect(body.power.reason).toBeUndefined();
    },
  );

  test('what is missing is named, and no value is repeated', async () => {
    await set({ driver_info: {} });
    const { body } = await api.as('operator', 'GET', '/v1/nodes/n1/validate');
    expect(body.power).toEqual({ result: false, reason: expect.stringContaining('redfish_address is missing') });
  });

  test.each([
    ['owner-member', 200],
    ['owner-reader', 403],
    ['lessee-manager', 200],
    ['lessee-member', 403],
    ['stranger-admin', 404],
  ] as const)('%s gets %s', async (who, status) => {
    expect((await api.as(who, 'GET', '/v1/nodes/n1/validate')).status).toBe(status);
  });

  test('without a node it is a bad request, and by name it needs 1.5', async () => {
    expect(faultOf(await api.as('operator', 'GET', '/v1/nodes/validate'))).toBe('node: is missing');
    expect((await api.as('operator', 'GET', '/v1/nodes/validate?node=n1', { minor: 4 })).status).toBe(406);
  });
});
