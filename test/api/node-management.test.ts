/** Calls to a node's BMC that are waited for: boot device, interrupt, lights, virtual media; and boot mode, secure boot, RAID. */
import { raise } from '../../src/model/errors';
import type { CallOrder } from '../../src/runs/contract';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

const answers: { next: unknown; called: CallOrder[] } = { next: undefined, called: [] };
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    settings: { imageOrigins: ['https://images.example.org'] },
    runs: {
      call: async (order) => {
        answers.called.push(order);
        return typeof answers.next === 'function' ? answers.next() : answers.next;
      },
    },
  });
  await addWorker(api.sql, { drivers: ['redfish', 'ipmi', 'fake-hardware'] });
});
afterAll(() => api.close());

const run = '33333333-3333-4333-8333-333333333333';
beforeEach(async () => {
  Object.assign(answers, { next: undefined, called: [] });
  await api.sql`delete from nodes`;
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
const image_url = 'https://images.example.org/a.iso';

type Call = readonly [method: string, part: string, body?: unknown];
const ask = async ([method, part, body]: Call, { who = 'operator', minor }: { who?: Persona; minor?: number } = {}) =>
  api.as(who, method, `/v1/nodes/${await uuidOf()}/${part}`, { body, minor });

const bootDevice: Call = ['PUT', 'management/boot_device', { boot_device: 'pxe' }];
const nmi: Call = ['PUT', 'management/inject_nmi', {}];
const light: Call = ['PUT', 'management/indicators/LED@system', { state: 'blinking' }];
const attach: Call = ['POST', 'vmedia', { device_type: 'cdrom', image_url }];
const detach: Call = ['DELETE', 'vmedia'];
const bootMode: Call = ['PUT', 'states/boot_mode', { target: 'uefi' }];
const secureBoot: Call = ['PUT', 'states/secure_boot', { target: 'true' }];
const writes = [bootDevice, nmi, light, attach, detach, bootMode, secureBoot];

const getDevice: Call = ['GET', 'management/boot_device'];
const getDevices: Call = ['GET', 'management/boot_device/supported'];
const getLights: Call = ['GET', 'management/indicators'];
const getLight: Call = ['GET', 'management/indicators/LED@system'];
const getMedia: Call = ['GET', 'vmedia'];
const reads = [getDevice, getDevices, getLights, getLight, getMedia];

const lights = [
  { component: 'system', name: 'LED', state: 'on', readonly: false, states: ['on', 'off', 'blinking'] },
  { component: 'disk', name: 'bay@1', state: null, readonly: true, states: [] },
];

describe('looks', () => {
  test('each asks for one act, by its rule, and takes no lock', async () => {
    answers.next = lights;
    for (const read of reads) await ask(read);
    expect(answers.called.map(({ act, args, asked }) => [act, args, asked.rule])).toEqual([
      ['read_boot_device', {}, 'baremetal:node:get_boot_device'],
      ['list_boot_devices', {}, 'baremetal:node:get_boot_device'],
      ['read_indicators', {}, 'baremetal:node:get_indicator_state'],
      ['read_indicators', {}, 'baremetal:node:get_indicator_state'],
      ['read_media', {}, 'baremetal:node:vmedia:get'],
    ]);
  });

  test('they go on in maintenance, while a run holds the node, and in every state', async () => {
    await set({ maintenance: true, reservation: run, provision_state: 'cleaning' });
    answers.next = lights;
    for (const read of reads) expect((await ask(read)).status).toBe(200);
  });

  test('the boot device and the supported ones', async () => {
    answers.next = { boot_device: 'pxe', persistent: true, more: 1 };
    expect((await ask(getDevice)).body).toEqual({ boot_device: 'pxe', persistent: true });
    answers.next = { supported_boot_devices: ['pxe', 'disk'] };
    expect((await ask(getDevices)).body).toEqual({ supported_boot_devices: ['pxe', 'disk'] });
  });

  test('a BMC that says nothing of use is answered with nothing', async () => {
    for (const next of [undefined, null, 'x', { boot_device: 7, supported_boot_devices: 'all' }]) {
      answers.next = next;
      expect((await ask(getDevice)).body).toEqual({ boot_device: null, persistent: null });
      expect((await ask(getDevices)).body).toEqual({ supported_boot_devices: [] });
      expect((await ask(getLights)).body).toEqual({ indicators: [] });
    }
  });

  test('lights are named with their component', async () => {
    answers.next = lights;
    const { indicators } = (await ask(getLights)).body;
    expect(indicators.map(({ name }: { name: string }) => name)).toEqual(['LED@system', 'bay@1@disk']);
    expect(indicators[0]).toEqual({
      name: 'LED@system',
      component: 'system',
      readonly: false,
      states: ['on', 'off', 'blinking'],
      links: [
        { href: expect.stringContaining('/management/indicators/LED%40system'), rel: 'self' },
        { href: expect.any(String), rel: 'bookmark' },
      ],
    });
    expect((await ask(getLight)).body).toEqual({ state: 'on' });
    expect((await ask(['GET', 'management/indicators/bay@1@disk'])).body).toEqual({ state: 'unknown' });
    for (const wrong of ['LED', '@system', 'LED@', 'LED@chassis'])
      expect((await ask(['GET', `management/indicators/${wrong}`])).status).toBe(400);
  });

  test('virtual media is a list, without the account in an image’s URL', async () => {
    answers.next = [{ image: 'https://u:hunter2@images/a.iso', inserted: true, media_types: ['CD'] }];
    const { body } = await ask(getMedia);
    expect(body).toEqual([{ image: expect.not.stringContaining('hunter2'), inserted: true, media_types: ['CD'] }]);
    answers.next = undefined;
    expect((await ask(getMedia)).body).toEqual([]);
  });

  test.each([
    ['BmcUnreachable', { node: 'n1', bmc: '192.0.2.7', reason: 'no route' }, 502],
    ['BmcUnsupported', { node: 'n1', bmc: '192.0.2.7', what: 'indicators' }, 400],
    ['DriverUnsupported', { driver: 'ipmi', what: 'to read the virtual drives' }, 400],
    ['BmcLeaseHeld', { bmc: '192.0.2.7' }, 409],
    ['EngineUnavailable', {}, 503],
    ['CallTimeout', { node: 'n1', seconds: 60, outcome: 'nothing was changed, try again' }, 504],
  ] as const)('%s reaches the caller as it is', async (code, facts, status) => {
    answers.next = () => raise(code, facts);
    for (const read of reads) expect((await ask(read)).status).toBe(status);
    for (const write of writes) expect((await ask(write)).status).toBe(status);
  });

  test('where a BMC is does not reach a caller who may not read driver_info', async () => {
    api.setPolicy({
      set: 'temper',
      overrides: { 'baremetal:node:get:driver_info': 'role:admin and system_scope:all' },
    });
    answers.next = () => raise('BmcUnreachable', { node: 'n1', bmc: 'https://192.0.2.7:8443', reason: 'no route' });
    try {
      for (const one of [...reads, ...writes]) {
        const { status, text } = await ask(one, { who: 'owner-admin' });
        expect([status, text]).toEqual([502, expect.stringContaining('The BMC of node n1 did not answer: no route')]);
      }
      expect((await ask(reads[0]!)).text).toContain('192.0.2.7');
    } finally {
      api.setPolicy({ set: 'temper' });
    }
  });
});

describe('acts', () => {
  test('each is one act with its arguments, by its rule; only states are not waited for', async () => {
    const statuses = [];
    for (const write of writes) statuses.push((await ask(write)).status);
    expect(statuses).toEqual([204, 204, 204, 204, 204, 202, 202]);
    expect(answers.called.map(({ act, args, asked, background }) => [act, args, asked.rule, background])).toEqual([
      ['set_boot_device', { boot_device: 'pxe', persistent: false }, 'baremetal:node:set_boot_device', undefined],
      ['inject_nmi', {}, 'baremetal:node:inject_nmi', undefined],
      [
        'set_indicator',
        { state: 'blinking', name: 'LED', component: 'system' },
        'baremetal:node:set_indicator_state',
        undefined,
      ],
      ['insert_media', { image_url, device_type: 'cdrom' }, 'baremetal:node:vmedia:attach', undefined],
      ['eject_media', {}, 'baremetal:node:vmedia:detach', undefined],
      ['set_boot_mode', { boot_mode: 'uefi' }, 'baremetal:node:set_boot_mode', true],
      ['set_secure_boot', { enabled: true }, 'baremetal:node:set_secure_boot', true],
    ]);
    expect(answers.called[0]!.node).toMatchObject({ name: 'n1', revision: expect.any(String), driver: 'redfish' });
  });

  test('a change of state says where to look', async () => {
    const reply = await api.as('operator', 'PUT', '/v1/nodes/n1/states/boot_mode?target=bios');
    expect([reply.status, reply.text, reply.headers.get('location')]).toEqual([
      202,
      '',
      `${api.url}/v1/nodes/n1/states`,
    ]);
    expect(answers.called[0]!.args).toEqual({ boot_mode: 'bios' });
  });

  test.each(writes.map((write) => [write.slice(0, 2).join(' '), write] as const))(
    '%s is refused while a run holds the node, under a freeze, and where no worker is',
    async (_name, write) => {
      await set({ reservation: run });
      expect((await ask(write)).status).toBe(409);
      await set({ reservation: null });
      const freeze = await api.as('operator', 'POST', '/temper/v1/nodes/n1/freezes', { body: { reason: 'fan swap' } });
      const frozen = await ask(write);
      expect([frozen.status, faultOf(frozen)]).toEqual([409, expect.stringContaining('fan swap')]);
      expect((await ask(getDevice)).status).toBe(200);
      await api.as('operator', 'DELETE', `/temper/v1/freezes/${freeze.body.uuid ?? freeze.body.id}`);
      await set({ conductor_group: 'nowhere' });
      expect((await ask(write)).status).toBe(503);
      expect(answers.called.filter(({ act }) => act !== 'read_boot_device')).toEqual([]);
    },
  );

  test.each([
    [['PUT', 'management/boot_device', {}]],
    [['PUT', 'management/boot_device', { boot_device: 'toaster' }]],
    [['PUT', 'management/boot_device', { boot_device: 'pxe', persistent: 'maybe' }]],
    [['PUT', 'management/boot_device', { boot_device: 'pxe', colour: 1 }]],
    [['PUT', 'management/inject_nmi', { hard: true }]],
    [['PUT', 'management/indicators/LED@system', { state: 'unknown' }]],
    [['PUT', 'management/indicators/LED', { state: 'on' }]],
    [['POST', 'vmedia', { device_type: 'tape', image_url }]],
    [['POST', 'vmedia', { device_type: 'cdrom' }]],
    [['POST', 'vmedia', { device_type: 'cdrom', image_url: 'file:///etc/passwd' }]],
    [['POST', 'vmedia', { device_type: 'cdrom', image_url: 'nonsense' }]],
    [['POST', 'vmedia', { device_type: 'cdrom', image_url: 'https://elsewhere.example.org/a.iso' }]],
    [['POST', 'vmedia', { device_type: 'cdrom', image_url: 'http://images.example.org/a.iso' }]],
    [['POST', 'vmedia', { device_type: 'cdrom', image_url: 'https://images.example.org:444/a.iso' }]],
    [['POST', 'vmedia', { device_type: 'cdrom', image_url: 'https://images.example.org@elsewhere.example.org/' }]],
    [['POST', 'vmedia', { device_type: 'cdrom', image_url, image_download_source: 'swift' }]],
    [['DELETE', 'vmedia', { device_types: 'cdrom,tape' }]],
    [['PUT', 'states/boot_mode', { target: 'legacy' }]],
    [['PUT', 'states/secure_boot', { target: 'perhaps' }]],
    [['PUT', 'states/raid', []]],
    [['PUT', 'states/raid', { logical_disks: [{ size_gb: 1 }] }]],
  ] as [Call][])('%j is a bad request', async (call) => {
    const reply = await ask(call);
    expect(reply.status).toBe(400);
    expect(reply.text).not.toContain('passwd');
    expect(answers.called).toEqual([]);
  });
});

describe('acts that are refused or split', () => {
  test('what the node’s driver lacks is refused before a worker is asked', async () => {
    await set({ driver: 'ipmi', driver_info: { ipmi_address: '192.0.2.8' } });
    for (const write of [attach, bootMode, secureBoot]) expect((await ask(write)).status).toBe(400);
    expect((await ask(['PUT', 'states/raid', {}])).status).toBe(204);
    await set({ raid_interface: 'no-raid' });
    expect((await ask(['PUT', 'states/raid', {}])).status).toBe(404);
    expect(answers.called).toEqual([]);
  });

  test('several kinds of drives are emptied one after the other, as clients name them', async () => {
    await ask(['DELETE', 'vmedia', { device_types: 'cdrom,floppy,cdrom' }]);
    await ask(['DELETE', 'vmedia?device_types=disk']);
    await ask(['DELETE', 'vmedia', { device_types: ['cdrom', 'disk', 'floppy'] }]);
    expect(answers.called.map(({ args }) => args.device_type)).toEqual(['cdrom', 'floppy', 'disk', undefined]);
  });

  test.each(['cleaning', 'deploying', 'inspecting', 'verifying'])(
    'in %s what a node boots with is not changed',
    async (provision_state) => {
      await set({ provision_state });
      for (const write of [bootMode, secureBoot]) expect((await ask(write)).status).toBe(409);
      expect(answers.called).toEqual([]);
    },
  );

  test.each([
    [nmi, 28, 404],
    [nmi, 29, 204],
    [getMedia, 92, 404],
    [getMedia, 93, 200],
    [attach, 88, 404],
    [attach, 89, 204],
    [detach, 88, 404],
    [detach, 89, 204],
    [bootMode, 75, 404],
    [bootMode, 76, 202],
    [secureBoot, 75, 404],
    [secureBoot, 76, 202],
    [['PUT', 'states/raid', {}], 11, 406],
    [['PUT', 'states/raid', {}], 12, 204],
    [bootDevice, 1, 204],
    [getLights, 1, 200],
  ] as [Call, number, number][])('%j at 1.%s is %s', async (call, minor, status) => {
    expect((await ask(call, { minor })).status).toBe(status);
  });

  test.each([
    //                 device nmi light media boot-mode raid  device? lights? media?
    ['operator', 204, 204, 204, 204, 202, 204, 200, 200, 200],
    ['owner-manager', 204, 204, 204, 204, 202, 204, 200, 200, 200],
    ['owner-member', 403, 403, 204, 204, 202, 204, 403, 200, 200],
    ['owner-reader', 403, 403, 403, 403, 403, 403, 403, 200, 200],
    ['lessee-admin', 403, 403, 403, 204, 202, 403, 403, 200, 200],
    ['lessee-member', 403, 403, 403, 204, 202, 403, 403, 200, 200],
    ['lessee-reader', 403, 403, 403, 403, 403, 403, 403, 200, 200],
    ['stranger-admin', 404, 404, 404, 404, 404, 404, 404, 404, 404],
  ] as const)('%s', async (who, ...statuses) => {
    const calls = [
      bootDevice,
      nmi,
      light,
      attach,
      bootMode,
      ['PUT', 'states/raid', {}] as Call,
      getDevice,
      getLights,
      getMedia,
    ];
    const got = [];
    for (const call of calls) got.push((await ask(call, { who })).status);
    expect(got).toEqual(statuses);
    expect(answers.called).toHaveLength(
      statuses.filter((status) => Number(status) < 300).length - (statuses[5] === 204 ? 1 : 0),
    );
  });
});

describe('RAID', () => {
  const wanted = { logical_disks: [{ size_gb: 100, raid_level: '1', is_root_volume: true }] };
  const stored = async () => (await api.as('operator', 'GET', '/v1/nodes/n1/states')).body.target_raid_config;

  test('the configuration to come is kept with the node, with its record, and cleared by an empty one', async () => {
    const reply = await ask(['PUT', 'states/raid', wanted]);
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(await stored()).toEqual(wanted);
    const [audit] = await api.sql`select rule, data from audit where action = 'node.raid' order by seq desc limit 1`;
    expect(audit).toEqual({ rule: 'baremetal:node:set_raid_state', data: { target_raid_config: wanted } });
    await ask(['PUT', 'states/raid', {}]);
    expect(await stored()).toEqual({});
    expect(answers.called).toEqual([]);
  });

  test('it does not change while a run holds the node', async () => {
    await set({ reservation: run });
    expect((await ask(['PUT', 'states/raid', wanted])).status).toBe(409);
    expect(await stored()).toEqual({});
  });
});
