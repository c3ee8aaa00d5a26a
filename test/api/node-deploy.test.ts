/** Deploying, cleaning by itself and rescuing: what the request may carry, what the node must say, and what the run is given. */

import { faultOf } from '../support/api';
import { deployable, holder, image, type Provisioning, startProvisioning } from '../support/provisioning';
import { defaultSettings } from '../support/settings';
import { lessee, owner, stranger } from '../support/world';

let at: Provisioning;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at.api.close());

/** Does something with settings that differ from the defaults. */
const withSettings = async (settings: object, work: () => Promise<void>): Promise<void> => {
  const before = { ...at.api.rooms.settings };
  Object.assign(at.api.rooms.settings, settings);
  try {
    await work();
  } finally {
    Object.assign(at.api.rooms.settings, before);
  }
};

const order = () => at.api.runs.started[0]!;
const names = () => order().steps.map(({ step }) => step);
const json = (value: unknown) => at.api.sql.json(value as never);

describe('a deployment', () => {
  const settings = [{ component: 'bmc', url: 'https://images.example.org/bmc.bin' }];
  const step = { interface: 'firmware', step: 'update', args: { settings }, priority: 70 };

  beforeEach(() => at.fresh('available'));

  test('boots the ramdisk, writes the image, and tidies up if it ends before its time', async () => {
    expect((await at.ask({ target: 'active' }, { who: 'owner-member' })).status).toBe(202);
    expect(order()).toMatchObject({
      verb: 'active',
      kind: 'deploy',
      event: 'deploy',
      ends: 'done',
      target: 'active',
      fault: null,
      limit: { class: 'deploy', max: defaultSettings.concurrency.deploy },
      ramdisk: {
        joins: 'deploy',
        boot: { step: 'deploy', args: { image_url: 'https://images.example.org/ramdisk.iso' }, awaits: 'heartbeat' },
        tidy: { failed: [{ step: 'clean_up' }], aborted: [{ step: 'clean_up' }] },
      },
    });
    expect(names()).toEqual([
      'deploy',
      'list_steps',
      'write_image',
      'prepare_instance_boot',
      'tear_down_agent',
      'boot_instance',
    ]);
    expect(order()).not.toHaveProperty('instance_info');
  });

  test('runs the caller’s steps by priority among its own; 0 leaves one out', async () => {
    const steps = [
      { ...step, priority: '70' },
      { interface: 'deploy', step: 'boot_instance', args: {}, priority: 0 },
      { interface: 'deploy', step: 'tear_down_agent', args: {}, priority: 75 },
    ];
    await at.ask({ target: 'active', deploy_steps: steps });
    const own = ['deploy', 'list_steps', 'write_image', 'tear_down_agent', 'update', 'prepare_instance_boot'];
    expect(names()).toEqual(own);
  });

  const without = (key: keyof typeof step) => Object.fromEntries(Object.entries(step).filter(([name]) => name !== key));

  test.each([
    [[without('interface')], /interface/],
    [[without('step')], /step/],
    [[without('args')], /args/],
    [[without('priority')], /priority/],
    [[{ ...step, order: 1 }], /order/],
    [[{ ...step, execute_on_child_nodes: true }], /execute_on_child_nodes/],
    [[{ ...step, priority: -1 }], /priority/],
    [[step, { ...step, priority: 60 }], /firmware.update is given twice/],
    [[{ ...step, args: { settings: [{ component: 'bmc' }] } }], /item 0 lacks url/],
    [[{ ...step, args: {} }], /argument settings is missing/],
    [[{ interface: 'deploy', step: 'paint', args: {}, priority: 5 }], /has no step deploy.paint/],
    [[{ interface: 'management', step: 'reset_bmc', args: {}, priority: 5 }], /cannot be used with deploy/],
    [[{ interface: 'vendor', step: 'send_raw', args: {}, priority: 5 }], /does not allow vendor.send_raw/],
    [[{ interface: 'deploy', step: 'deploy', args: {}, priority: 0 }], /cannot be left out/],
    [{}, /deploy_steps/],
  ])('with deploy_steps %j is refused with a reason', async (deploy_steps, says) => {
    const reply = await at.ask({ target: 'active', deploy_steps });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(says)]);
    expect(at.asked()).toBe(0);
  });

  test.each([
    ['owner-manager', 202],
    ['owner-admin', 202],
    ['owner-member', 403],
    ['lessee-admin', 403],
  ] as const)('of free choice, asked by %s: %s', async (who, status) => {
    expect((await at.ask({ target: 'active', deploy_steps: [step] }, { who })).status).toBe(status);
    expect(at.asked()).toBe(status === 202 ? 1 : 0);
  });

  test('a lessee who may deploy does so without any, and an empty list is none', async () => {
    await at.set({ provision_state: 'active' });
    expect((await at.ask({ target: 'rebuild', deploy_steps: [step] }, { who: 'lessee-admin' })).status).toBe(403);
    expect((await at.ask({ target: 'rebuild', deploy_steps: [] }, { who: 'lessee-admin' })).status).toBe(202);
  });

  test('steps of the ramdisk need a deploy interface that boots it', async () => {
    await at.set({ deploy_interface: 'noop' });
    const erase = { interface: 'deploy', step: 'erase_devices_metadata', args: {}, priority: 50 };
    expect(faultOf(await at.ask({ target: 'active', deploy_steps: [erase] }))).toContain('runs in the ramdisk');
    expect((await at.ask({ target: 'active' })).status).toBe(202);
    expect(names()).toEqual(['deploy']);
  });

  test.each([
    ['active', 68, 406],
    ['active', 69, 202],
    ['rebuild', 69, 202],
    ['deploy', 73, 202],
    ['deleted', 115, 400],
  ])('deploy_steps with %s at 1.%s: %s', async (target, minor, status) => {
    if (target !== 'active' && target !== 'deploy') await at.set({ provision_state: 'active' });
    expect((await at.ask({ target, deploy_steps: [step] }, { minor })).status).toBe(status);
    expect(at.asked()).toBe(status === 202 ? 1 : 0);
  });

  test('an empty list of steps is none', async () => {
    expect((await at.ask({ target: 'active', deploy_steps: [] })).status).toBe(202);
  });

  test('a rule for one step decides about deploy steps as well', async () => {
    at.api.setPolicy({ set: 'temper', overrides: { 'baremetal:step:execute:firmware.update': '!' } });
    try {
      const reply = await at.ask({ target: 'active', deploy_steps: [step] });
      expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('firmware.update')]);
    } finally {
      at.api.setPolicy({ set: 'temper' });
    }
  });
});

describe('a configuration drive', () => {
  const drive = { meta_data: { hostname: 'a' }, user_data: '#!' };
  test.each([
    // target    minor  configdrive                               status
    ['active', 1, 'aGVsbG8=', 202],
    ['active', 115, 'https://images.example.org/drive', 202],
    ['active', 55, drive, 400],
    ['active', 56, drive, 202],
    ['active', 58, { vendor_data: {} }, 400],
    ['active', 59, { ...drive, vendor_data: {} }, 202],
    ['active', 115, { user_data: [1, 2] }, 202],
    ['active', 115, { user_data: 7 }, 400],
    ['active', 115, { colour: 'red' }, 400],
    ['active', 115, 'not base64!', 400],
    ['active', 115, null, 202],
    ['rebuild', 34, 'aGVsbG8=', 400],
    ['rebuild', 35, 'aGVsbG8=', 202],
    ['deploy', 115, 'aGVsbG8=', 202],
    ['deleted', 115, 'aGVsbG8=', 400],
    ['rescue', 115, 'aGVsbG8=', 400],
  ])('%s at 1.%s with %j: %s', async (target, minor, configdrive, status) => {
    await at.fresh(['active', 'deploy'].includes(target) ? 'available' : 'active');
    const more = target === 'rescue' ? { rescue_password: 'x' } : {};
    const reply = await at.ask({ target, configdrive, ...more }, { minor });
    expect(reply.status).toBe(status);
    if (status === 400) expect(faultOf(reply)).toContain('configdrive');
    expect(at.asked()).toBe(status === 202 ? 1 : 0);
  });

  test('goes to the node’s instance_info with the order, beside what is there', async () => {
    await at.fresh('available');
    await at.ask({ target: 'active', configdrive: drive });
    expect(order().instance_info).toEqual({ ...image, configdrive: drive });
  });
});

describe('what the node must say of its instance', () => {
  const hash = { image_os_hash_algo: 'sha256', image_os_hash_value: 'b'.repeat(64) };
  const { image_source } = image;
  test.each([
    [{}, /image_source is missing/],
    [{ ...image, image_source: '' }, /image_source is missing/],
    [{ image_source }, /image_checksum is missing/],
    [{ image_source, image_os_hash_algo: 'sha256' }, /image_checksum is missing/],
    [{ image_source, ...hash, image_os_hash_algo: 'md5' }, /image_os_hash_algo must be one of sha256, sha512/],
    [{ ...image, image_source: 'file:///etc/passwd' }, /must be an http or https URL/],
    [{ ...image, traits: ['CUSTOM_GPU'] }, /the node lacks CUSTOM_GPU/],
    [
      { image_source, ...hash, image_os_hash_value: '.'.repeat(64) },
      /image_os_hash_value must be 64 hexadecimal digits/,
    ],
    [{ image_source, ...hash, image_os_hash_value: 'b'.repeat(63) }, /63 characters came/],
    [{ image_source, ...hash, image_os_hash_algo: 'constructor' }, /image_os_hash_algo must be one of/],
    [{ ...image, preserve_ephemeral: 'perhaps' }, /preserve_ephemeral must be true or false/],
    [{ ...image, preserve_ephemeral: 'True' }, null],
    [{ image_source, image_checksum: '...' }, /image_checksum must be a hash in hexadecimal digits/],
    [{ image_source, image_checksum: 'https://images.example.org/SHA256SUMS' }, null],
    [{ image_source, ...hash, image_os_hash_algo: 'sha512', image_os_hash_value: 'B'.repeat(128) }, null],
    [{ image_source, ...hash }, null],
    [{ ...image, traits: ['CUSTOM_SSD'] }, null],
  ])('instance_info %j', async (instance_info, says) => {
    await at.fresh('available');
    await at.set({ instance_info: json(instance_info), traits: ['CUSTOM_SSD'] });
    const reply = await at.ask({ target: 'active' });
    expect([reply.status, says && faultOf(reply)]).toEqual([says ? 400 : 202, says && expect.stringMatching(says)]);
    expect(at.asked()).toBe(says ? 0 : 1);
  });

  test('a node that is started from an image every time needs boot_iso, and no image to write', async () => {
    await at.fresh('available');
    await at.set({ deploy_interface: 'ramdisk', instance_info: json({}) });
    expect(faultOf(await at.ask({ target: 'active' }))).toContain('boot_iso is missing');
    await at.set({ instance_info: json({ boot_iso: 'https://images.example.org/live.iso' }) });
    expect((await at.ask({ target: 'active' })).status).toBe(202);
    expect(order().steps[0]!.args).toMatchObject({ image_url: 'https://images.example.org/live.iso' });
  });

  test('what boots no image needs none', async () => {
    await at.fresh('available', { instance_info: {}, driver_info: { redfish_address: 'https://192.0.2.7' } });
    await at.set({ deploy_interface: 'noop' });
    expect((await at.ask({ target: 'active' })).status).toBe(202);
  });

  test('a rebuild and the alias deploy ask the same of it', async () => {
    await at.fresh('active', { instance_info: {} });
    expect((await at.ask({ target: 'rebuild' })).status).toBe(400);
    await at.set({ provision_state: 'available' });
    expect((await at.ask({ target: 'deploy' })).status).toBe(400);
    expect(at.asked()).toBe(0);
  });
});

describe('where images come from', () => {
  const imageOrigins = ['https://images.example.org'];
  const other = 'https://elsewhere.example.org/x.iso';
  const media = (image_url: string) => ({
    target: 'clean',
    clean_steps: [{ interface: 'management', step: 'attach_virtual_media', args: { image_url } }],
  });
  const firmware = (url: string) => ({
    target: 'clean',
    clean_steps: [{ interface: 'firmware', step: 'update', args: { settings: [{ component: 'bmc', url }] } }],
  });

  const nicFirmware = (url: string) => ({
    target: 'clean',
    clean_steps: [{ interface: 'deploy', step: 'update_nvidia_nic_firmware_image', args: { images: [{ url }] } }],
  });

  test.each([
    // state        columns                                                         body
    ['available', { instance_info: { ...image, image_source: other } }, { target: 'active' }],
    ['available', { instance_info: { ...image, image_checksum: other } }, { target: 'active' }],
    ['available', { deploy_interface: 'ramdisk', instance_info: { boot_iso: other } }, { target: 'active' }],
    ['manageable', { driver_info: { ...deployable.driver_info, deploy_iso: other } }, { target: 'provide' }],
    [
      'active',
      { driver_info: { ...deployable.driver_info, rescue_iso: other } },
      { target: 'rescue', rescue_password: 'x' },
    ],
    ['available', { instance_info: { ...image, image_url: other } }, { target: 'active' }],
    ['available', { driver_info: { ...deployable.driver_info, image_http_proxy: other } }, { target: 'active' }],
    ['available', { driver_info: { ...deployable.driver_info, image_https_proxy: other } }, { target: 'active' }],
    ['available', { instance_info: image }, { target: 'active', configdrive: other }],
    ['manageable', {}, media(other)],
    ['manageable', {}, firmware(other)],
    ['manageable', {}, nicFirmware(other)],
  ])('from %s, %j with %j is refused outside the allowed origins', async (state, columns, body) => {
    await at.fresh(state);
    const written = Object.entries(columns).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : json(value),
    ]);
    if (written.length > 0) await at.set(Object.fromEntries(written));
    await withSettings({ imageOrigins }, async () => {
      const reply = await at.ask(body);
      expect([reply.status, faultOf(reply)]).toEqual([
        400,
        expect.stringMatching(/Nothing is fetched from https:\/\/elsewhere\.example\.org:.*TEMPER_IMAGE_ORIGINS/),
      ]);
    });
    expect(at.asked()).toBe(0);
    expect((await at.ask(body)).status).toBe(202);
  });

  test.each([
    ['active', {}],
    ['clean', media('https://images.example.org/a.iso')],
    ['clean', firmware('https://images.example.org/bmc.bin')],
  ])('from an allowed origin %s goes on (%j)', async (target, body) => {
    await at.fresh(target === 'clean' ? 'manageable' : 'available');
    await withSettings({ imageOrigins }, async () => {
      expect((await at.ask({ target, ...body })).status).toBe(202);
    });
  });

  test.each([
    ['generic_container_step', { container_url: 'elsewhere.example.org/tool' }],
    ['generic_container_step', { container_url: 'images.example.org/tool', run_options: [`--env=PROXY=${other}`] }],
    ['update_nvidia_nic_firmware_settings', { settings: [{ where: other }] }],
  ])('%s with %j is refused outside the allowed origins', async (step, args) => {
    await at.fresh('manageable');
    const body = { target: 'clean', clean_steps: [{ interface: 'deploy', step, args }] };
    await withSettings({ imageOrigins }, async () => {
      const reply = await at.ask(body);
      expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(/elsewhere.*TEMPER_IMAGE_ORIGINS/)]);
    });
    expect((await at.ask(body)).status).toBe(202);
  });

  test('a URL with a password is refused where only some origins are allowed: where it points cannot be seen', async () => {
    const sealed = { ...image, image_source: 'https://user:hunter2@images.example.org/os.img' };
    await at.fresh('available', { instance_info: sealed });
    await withSettings({ imageOrigins }, async () => {
      const reply = await at.ask({ target: 'active' });
      expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('a URL with a password in it')]);
      expect(reply.text).not.toContain('hunter2');
    });
    expect((await at.ask({ target: 'active' })).status).toBe(202);
  });
});

describe('who becomes lessee', () => {
  const withProject = { ...image, project_id: stranger };
  test.each([
    // setting    instance_info  lessee   verb       who             becomes
    ['instance', withProject, null, 'active', 'operator', stranger],
    ['instance', image, null, 'active', 'owner-admin', undefined],
    ['request', withProject, null, 'active', 'owner-admin', owner],
    ['request', withProject, null, 'active', 'system-member', undefined],
    ['off', withProject, null, 'active', 'owner-admin', undefined],
    ['instance', withProject, lessee, 'active', 'operator', undefined],
    ['request', withProject, lessee, 'active', 'owner-admin', undefined],
    ['instance', withProject, null, 'rebuild', 'operator', undefined],
  ] as const)('by %s', async (automaticLessee, instance_info, present, target, who, becomes) => {
    await at.fresh(target === 'active' ? 'available' : 'active', { instance_info, lessee: present });
    await withSettings({ automaticLessee }, async () => {
      expect((await at.ask({ target }, { who })).status).toBe(202);
    });
    expect(order().lessee).toBe(becomes);
  });
});

describe('how many work at once', () => {
  test.each([
    ['active', 'available', 'deploy', 3],
    ['rebuild', 'active', 'deploy', 3],
    ['deleted', 'active', 'clean', 2],
    ['provide', 'manageable', 'clean', 2],
    ['inspect', 'manageable', null, 0],
    ['manage', 'enroll', null, 0],
  ] as const)('%s', async (target, state, kind, max) => {
    await at.fresh(state);
    await withSettings({ concurrency: { clean: 2, deploy: 3 } }, async () => {
      expect((await at.ask({ target })).status).toBe(202);
    });
    expect(order().limit).toEqual(kind === null ? undefined : { class: kind, max });
  });

  test('0 is any number', async () => {
    await at.fresh('available');
    await withSettings({ concurrency: { clean: 0, deploy: 0 } }, async () => {
      await at.ask({ target: 'active' });
    });
    expect(order()).not.toHaveProperty('limit');
  });
});

describe('cleaning by itself', () => {
  const bare = { redfish_address: 'https://192.0.2.7' };

  test('needs an image of the ramdisk where the node boots it, and says what to do', async () => {
    await at.fresh('manageable', { driver_info: bare });
    const reply = await at.ask({ target: 'provide' });
    expect([reply.status, faultOf(reply)]).toEqual([
      400,
      expect.stringMatching(
        /^Node n1: driver_info deploy_iso is missing: .*from the network \(ipxe, pxe\), or do without/,
      ),
    ]);
    expect(at.asked()).toBe(0);
  });

  test.each([
    [{ boot_interface: 'pxe' }, ['boot_ramdisk', 'list_steps', 'remove_ramdisk']],
    [{ boot_interface: 'ipxe' }, ['boot_ramdisk', 'list_steps', 'remove_ramdisk']],
    [{ automated_clean: false }, []],
    [{ deploy_interface: 'noop' }, []],
    [{ driver: 'fake-hardware', deploy_interface: 'fake', vendor_interface: 'fake' }, ['log_passthrough']],
  ])('needs none with %j', async (columns, steps) => {
    await at.fresh('manageable', { driver_info: bare });
    await at.set(columns);
    expect((await at.ask({ target: 'provide' })).status).toBe(202);
    expect(names()).toEqual(steps);
  });

  test('follows the installation where the node says nothing, and the node where it does', async () => {
    await at.fresh('manageable', { driver_info: bare });
    await withSettings({ automatedClean: false }, async () => {
      expect((await at.ask({ target: 'provide' })).status).toBe(202);
      await at.set({ automated_clean: true });
      expect((await at.ask({ target: 'provide' })).status).toBe(400);
    });
  });

  test('comes after a tear-down too', async () => {
    await at.fresh('active');
    await at.ask({ target: 'deleted' });
    expect(order().steps.map(({ step, event }) => [step, event])).toEqual([
      ['tear_down', undefined],
      ['boot_ramdisk', 'clean'],
      ['list_steps', undefined],
      ['remove_ramdisk', undefined],
    ]);
    expect(order()).toMatchObject({ fault: 'clean failure', ramdisk: { joins: 'automatic' } });
  });

  describe('by a runbook', () => {
    const add = (name: string, boot_device: string) =>
      at.api.sql`insert into runbooks ${at.api.sql({
        name,
        steps: json([{ interface: 'management', step: 'set_boot_device', args: { boot_device }, order: 1 }]),
        public: false,
      })}`;
    const cleaningRunbooks = { gold: 'CUSTOM_GOLD', '*': 'CUSTOM_ANY' };

    test.each([
      ['gold', 'CUSTOM_GOLD', 'cdrom'],
      ['silver', 'CUSTOM_ANY', 'disk'],
      [null, 'CUSTOM_ANY', 'disk'],
    ])('resource class %s takes %s, and the run says so', async (resource_class, name, boot_device) => {
      await at.fresh('manageable', { resource_class, driver_info: bare });
      await add('CUSTOM_GOLD', 'cdrom');
      await add('CUSTOM_ANY', 'disk');
      await withSettings({ cleaningRunbooks }, async () => {
        expect((await at.ask({ target: 'provide' }, { who: 'owner-member' })).status).toBe(202);
      });
      expect(order().steps).toEqual([expect.objectContaining({ step: 'set_boot_device', args: { boot_device } })]);
      expect(order().runbook).toMatchObject({ name });
      expect(order().ramdisk).toEqual({});
    });

    test('a class without one takes the node’s own list', async () => {
      await at.fresh('manageable', { resource_class: 'silver' });
      await withSettings({ cleaningRunbooks: { gold: 'CUSTOM_GOLD' } }, async () => {
        await at.ask({ target: 'provide' });
      });
      expect(order()).toMatchObject({ runbook: null, ramdisk: { joins: 'automatic' } });
    });

    test('one that does not exist is a conflict that names the setting', async () => {
      await at.fresh('manageable');
      await withSettings({ cleaningRunbooks }, async () => {
        const reply = await at.ask({ target: 'provide' });
        expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringContaining('TEMPER_CLEANING_RUNBOOKS')]);
      });
      expect(at.asked()).toBe(0);
    });
  });
});

describe('without the ramdisk', () => {
  const clean = (name: string) => ({
    target: 'clean',
    clean_steps: [
      name === 'erase_devices'
        ? { interface: 'deploy', step: name }
        : { interface: 'management', step: 'set_boot_device', args: { boot_device: 'disk' } },
    ],
  });

  test('steps that run in it are refused; others go on', async () => {
    await at.fresh('manageable');
    const reply = await at.ask({ ...clean('erase_devices'), disable_ramdisk: true });
    expect([reply.status, faultOf(reply)]).toEqual([
      400,
      expect.stringMatching(/^disable_ramdisk: these steps run in/),
    ]);
    expect(at.asked()).toBe(0);
    expect((await at.ask({ ...clean('set_boot_device'), disable_ramdisk: true })).status).toBe(202);
    expect((await at.ask({ ...clean('erase_devices'), disable_ramdisk: false })).status).toBe(202);
  });

  test.each([
    ['active', 'available'],
    ['deleted', 'active'],
    ['inspect', 'manageable'],
  ])('%s is not asked for', async (target, state) => {
    await at.fresh(state);
    expect(faultOf(await at.ask({ target, disable_ramdisk: true }))).toContain('disable_ramdisk: is not possible');
  });
});

describe('a rescue', () => {
  const password = 'correct horse battery';
  beforeEach(() => at.fresh('active'));

  test.each([
    [{ target: 'rescue' }, /rescue_password: is missing/],
    [{ target: 'rescue', rescue_password: '' }, /must not be blank/],
    [{ target: 'rescue', rescue_password: ' \t' }, /must not be blank/],
    [{ target: 'rescue', rescue_password: 'x'.repeat(513) }, /rescue_password/],
    [{ target: 'rescue', rescue_password: { secret: 'hunter2' } }, /rescue_password/],
    [{ target: 'rebuild', rescue_password: 'hunter2' }, /rescue_password: is not possible with rebuild/],
    [{ target: 'deleted', rescue_password: 'hunter2' }, /rescue_password: is not possible with deleted/],
  ])('%j is refused, and the password is not repeated', async (body, says) => {
    const reply = await at.ask(body);
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(says)]);
    expect(reply.text).not.toContain('hunter2');
    expect(at.asked()).toBe(0);
  });

  test('needs 1.38', async () => {
    expect((await at.ask({ target: 'rescue', rescue_password: password }, { minor: 37 })).status).toBe(406);
  });

  test('hands on the hash of the password alone: the text is in no order, no store, no log and no answer', async () => {
    const replies = [
      await at.ask({ target: 'rescue', rescue_password: password }, { who: 'owner-admin' }),
      await at.api.as(
        'owner-admin',
        'PUT',
        `/v1/nodes/n1/states/provision?target=rescue&rescue_password=${encodeURIComponent(password)}`,
      ),
      await at.api.as('owner-admin', 'GET', '/v1/nodes/n1'),
    ];
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 200]);
    const hash = String(order().steps.find(({ step }) => step === 'finalize_rescue')?.args.rescue_password);
    expect(hash).toMatch(/^\$6\$/);
    const { verify } = await import('unixcrypt');
    expect(verify(password, hash)).toBe(true);
    const tables = await at.api.sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = current_schema()`;
    const rows = await Promise.all(tables.map(({ name }) => at.api.sql`select * from ${at.api.sql(name)}`));
    expect(tables.length).toBeGreaterThan(5);
    const everything = JSON.stringify([at.api.runs, rows, at.api.log, replies.map(({ text }) => text)]);
    for (const form of [password, encodeURIComponent(password), 'correct+horse'])
      expect(everything.includes(form)).toBe(false);
  });

  test('boots the rescue image where the node names one, else that of deployments', async () => {
    await at.ask({ target: 'rescue', rescue_password: password });
    await at.set({ driver_info: json({ ...deployable.driver_info, rescue_iso: 'https://images.example.org/r.iso' }) });
    await at.ask({ target: 'rescue', rescue_password: password });
    expect(at.api.runs.started.map(({ ramdisk }) => ramdisk?.boot?.args.image_url)).toEqual([
      'https://images.example.org/ramdisk.iso',
      'https://images.example.org/r.iso',
    ]);
  });

  test('again does not take over: while a run works it is a conflict', async () => {
    await at.set({ provision_state: 'rescue', reservation: holder });
    expect((await at.ask({ target: 'rescue', rescue_password: password })).status).toBe(409);
  });
});
