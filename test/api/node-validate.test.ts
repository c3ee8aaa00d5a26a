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
