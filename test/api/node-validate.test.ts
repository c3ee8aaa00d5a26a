/** Node validation: what each interface lacks, in words, from the store alone. */
import { deployable, type Provisioning, startProvisioning } from '../support/provisioning';

let at: Provisioning;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at.api.close());

type Results = Readonly<Record<string, { result: boolean | null; reason?: string }>>;
const validate = async (): Promise<Results> => (await at.api.as('operator', 'GET', '/v1/nodes/n1/validate')).body;
const json = (value: unknown) => at.api.sql.json(value as never);
/** Names of interfaces by result, each as one text. */
const by = (results: Results, result: boolean | null) =>
  Object.keys(results)
    .filter((name) => results[name]!.result === result)
    .join(' ');

const bare = { redfish_address: 'https://192.0.2.7' };

test('a node that has all it needs is fit, and what is switched off is neither', async () => {
  await at.fresh('manageable');
  const results = await validate();
  expect(by(results, true)).toBe('bios boot deploy firmware inspect management network power raid rescue storage');
  expect(results.console).toEqual({ result: null, reason: 'not supported: console_interface is no-console' });
  expect(Object.values(results).filter(({ result, reason }) => (result === true) === (reason !== undefined))).toEqual(
    [],
  );
});

test.each([
  // columns                                                    unfit, and why
  [{ driver_info: {} }, 'bios boot firmware inspect management power raid', 'power', /redfish_address is missing/],
  [{ instance_info: {} }, 'deploy', 'deploy', /instance_info image_source is missing/],
  [{ instance_info: { image_source: 'https://a.example.org/x' } }, 'deploy', 'deploy', /not written unchecked/],
  [{ driver_info: bare }, 'boot deploy rescue', 'boot', /deploy_iso is missing/],
  [
    { driver_info: { ...bare, rescue_iso: 'https://a.example.org/r' } },
    'boot deploy',
    'deploy',
    /deploy_iso is missing/,
  ],
  [{ driver_info: bare, inspect_interface: 'agent' }, 'boot deploy inspect rescue', 'inspect', /deploy_iso is missing/],
  [{ driver_info: bare, raid_interface: 'agent' }, 'boot deploy raid rescue', 'raid', /deploy_iso is missing/],
  [{ raid_interface: 'agent', deploy_interface: 'noop' }, 'raid', 'raid', /which deploy interface noop does not boot/],
  [{ driver_info: bare, boot_interface: 'pxe' }, '', null, null],
  [{ driver_info: bare, deploy_interface: 'noop', rescue_interface: 'no-rescue' }, '', null, null],
  [{ deploy_interface: 'ramdisk' }, 'deploy', 'deploy', /boot_iso is missing/],
] as const)('with %j these are unfit: %s', async (columns, unfit, name, why) => {
  await at.fresh('manageable');
  const written = Object.entries(columns).map(([key, value]) => [key, typeof value === 'string' ? value : json(value)]);
  await at.set(Object.fromEntries(written));
  const results = await validate();
  if (columns && 'driver_info' in columns && Object.keys(columns.driver_info).length === 0)
    expect(by(results, false).split(' ')).toEqual(expect.arrayContaining(unfit.split(' ')));
  else expect(by(results, false)).toBe(unfit);
  if (name) expect(results[name]!.reason).toMatch(why);
});

test('an image outside the allowed origins is reported before a deployment', async () => {
  await at.fresh('manageable', {
    driver_info: { ...deployable.driver_info, deploy_iso: 'https://user:hunter2@elsewhere.example.org/r.iso' },
    instance_info: { ...deployable.instance_info, image_source: 'https://elsewhere.example.org/os.img' },
  });
  const { settings } = at.api.rooms;
  Object.assign(settings, { imageOrigins: ['https://images.example.org'] });
  try {
    const results = await validate();
    expect(results.deploy!.reason).toContain('Nothing is fetched from https://elsewhere.example.org');
    expect(results.boot!.reason).toContain('a URL with a password in it');
    expect(JSON.stringify(results)).not.toContain('hunter2');
  } finally {
    Object.assign(settings, { imageOrigins: [] });
  }
});

test('a node of fake hardware lacks nothing', async () => {
  await at.fresh('manageable', { driver: 'fake-hardware', driver_info: {}, instance_info: {} });
  expect(by(await validate(), false)).toBe('');
});

describe('records that a node names', () => {
  const record = { iso_sha256: 'a'.repeat(64), iso_bytes: 2_048 };
  const area = { arguments_at: 0, arguments_bytes: 1_024, files_at: 1_024, files_bytes: 1_024 };
  const image = { sha256: 'b'.repeat(64), bytes: 2 ** 30, disk_format: 'raw' };
  beforeAll(async () => {
    const add = async (path: string, body: object) => {
      const made = await at.api.as('operator', 'POST', path, { body });
      expect([made.status, made.body]).toEqual([201, expect.anything()]);
    };
    for (const [name, arch] of [
      ['x86', 'x86_64'],
      ['arm', 'aarch64'],
    ])
      await add('/temper/v1/ramdisks', { ...record, ...area, name, arch, args: 'quiet' });
    await add('/temper/v1/images', { ...image, name: 'debian', url: 'https://images.example.org/debian.raw' });
  });

  const x86 = { cpu_arch: 'x86_64' };
  const booted = (deploy_iso: string, more: object = {}) => ({
    driver_info: { ...bare, deploy_iso, ...more },
    properties: x86,
  });
  const long = `%default% ${'a'.repeat(1_019)}`;
  test.each([
    // unfit, columns, and where why is said
    ['', { instance_info: { image_source: 'image:debian' } }, null, null],
    ['', booted('ramdisk:x86'), null, null],
    ['deploy', { instance_info: { image_source: 'image:none' } }, 'deploy', 'names image none, which is not on record'],
    [
      'deploy',
      { instance_info: { image_source: 'image:debian', image_checksum: 'c'.repeat(64) } },
      'deploy',
      'image_checksum is not the SHA-256 digest of image debian',
    ],
    ['boot deploy rescue', booted('ramdisk:none'), 'boot', 'names ramdisk none, which is not on record'],
    ['boot deploy rescue', booted('ramdisk:arm'), 'boot', 'is for aarch64, and the node’s cpu_arch is x86_64'],
    [
      'boot deploy rescue',
      booted('ramdisk:x86', { kernel_append_params: 'a;reboot' }),
      'deploy',
      'kernel_append_params must not hold ;',
    ],
    [
      'boot deploy rescue',
      booted('ramdisk:x86', { kernel_append_params: long }),
      'deploy',
      'kernel_append_params has 1025 characters, and there is room for 1024',
    ],
    [
      'boot deploy inspect rescue',
      { ...booted('ramdisk:arm'), inspect_interface: 'agent' },
      'inspect',
      'is for aarch64',
    ],
  ] as const)('a node that names records: unfit are %s', async (unfit, columns, name, why) => {
    await at.fresh('manageable');
    const written = Object.entries(columns).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : json(value),
    ]);
    await at.set(Object.fromEntries(written));
    const results = await validate();
    expect(by(results, false)).toBe(unfit);
    if (name) expect(results[name]!.reason).toContain(why);
  });

  test('an origin that images may no longer come from is said, and not where the image is', async () => {
    await at.fresh('available', { instance_info: { image_source: 'image:debian' } });
    const { settings } = at.api.rooms;
    Object.assign(settings, { imageOrigins: ['https://images.example.org.elsewhere.example.org'] });
    await at.set({ driver_info: json(booted('ramdisk:x86').driver_info) });
    try {
      const { deploy } = await validate();
      expect(deploy!.reason).toContain('image debian, whose origin is none that images may come from');
      expect(deploy!.reason).not.toContain('images.example.org');
      const refused = await at.ask({ target: 'active' });
      expect([refused.status, at.api.runs.started]).toEqual([400, []]);
    } finally {
      Object.assign(settings, { imageOrigins: [] });
    }
  });
});
