/** Orders that boot a node from a ramdisk record: accepted where the record is there, refused with the reason where not. */
import { faultOf } from '../support/api';
import { type Provisioning, startProvisioning } from '../support/provisioning';

let at: Provisioning;
beforeAll(async () => {
  at = await startProvisioning();
  const area = { arguments_at: 0, arguments_bytes: 1_024, files_at: 1_024, files_bytes: 1_024 };
  for (const name of ['debian', 'other'])
    await at.api.as('operator', 'POST', '/temper/v1/ramdisks', {
      body: { name, iso_sha256: 'a'.repeat(64), iso_bytes: 2_048, ...area },
    });
});
afterAll(() => at.api.close());
/** The node enrolled anew, through the API, with this driver_info beside its BMC's address. */
const enrolled = (driver_info: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  at.fresh('available', { driver_info: { redfish_address: 'https://192.0.2.7', ...driver_info }, ...more });
const bootedFrom = () => at.api.runs.started[0]?.ramdisk?.boot?.args.image_url;

test('a node that names a ramdisk record boots from it, whatever origins images may come from', async () => {
  await enrolled({ deploy_iso: 'ramdisk:debian' });
  const before = at.api.rooms.settings.imageOrigins;
  Object.assign(at.api.rooms.settings, { imageOrigins: ['https://images.example.org'] });
  expect((await at.ask({ target: 'active' })).status).toBe(202);
  Object.assign(at.api.rooms.settings, { imageOrigins: before });
  expect(bootedFrom()).toBe('ramdisk:debian');
});

test('a node that names none boots from the installation’s', async () => {
  await enrolled({});
  const refused = await at.ask({ target: 'active' });
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining('deploy_iso')]);
  Object.assign(at.api.rooms.settings, { defaultRamdisk: 'other' });
  expect((await at.ask({ target: 'active' })).status).toBe(202);
  Object.assign(at.api.rooms.settings, { defaultRamdisk: undefined });
  expect(bootedFrom()).toBe('ramdisk:other');
});

test.each([
  [{ deploy_iso: 'ramdisk:none' }, /names ramdisk none, which is not on record/],
  [
    { deploy_iso: 'ramdisk:debian', kernel_append_params: '%default% a;reboot' },
    /kernel_append_params must not hold ;/,
  ],
  [{ deploy_iso: 'ramdisk:debian', kernel_append_params: 'ipa-api-url=http://x' }, /must not set ipa-api-url/],
])('%j is refused before a run begins', async (change, says) => {
  await enrolled(change);
  const refused = await at.ask({ target: 'active' });
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringMatching(says)]);
  expect(at.api.runs.started).toEqual([]);
});

test.each([
  ['aarch64', 400],
  ['arm64', 400],
  ['ppc64le', 400],
  ['x86_64', 202],
  ['amd64', 202],
  ['', 202],
])('a node whose processor is %j is answered %i: the record is for x86_64', async (cpu_arch, status) => {
  await enrolled({ deploy_iso: 'ramdisk:debian' }, { properties: { cpu_arch } });
  const answer = await at.ask({ target: 'active' });
  expect(answer.status).toBe(status);
  if (status === 400)
    expect(faultOf(answer)).toContain(`ramdisk debian, which is for x86_64, and the node’s cpu_arch is ${cpu_arch}`);
});

test('nothing else may name a ramdisk record: not an instance’s image, not a drive that a caller fills', async () => {
  await enrolled({ deploy_iso: 'ramdisk:debian' });
  const drive = await at.api.as('operator', 'POST', `/v1/nodes/n1/vmedia`, {
    body: { device_type: 'cdrom', image_url: 'ramdisk:debian' },
  });
  expect(drive.status).toBe(400);
  await enrolled(
    { deploy_iso: 'ramdisk:debian' },
    { deploy_interface: 'ramdisk', instance_info: { boot_iso: 'ramdisk:debian' } },
  );
  expect((await at.ask({ target: 'active' })).status).toBe(400);
});

test('a node that boots by the network loads a record that has a kernel, and no other', async () => {
  const digests = { kernel_sha256: 'b'.repeat(64), initrd_sha256: 'c'.repeat(64), iso_sha256: 'a'.repeat(64) };
  const area = { arguments_at: 0, arguments_bytes: 1_024, files_at: 1_024, files_bytes: 1_024 };
  const body = { name: 'loadable', iso_bytes: 2_048, ...digests, ...area };
  expect((await at.api.as('operator', 'POST', '/temper/v1/ramdisks', { body })).status).toBe(201);
  await enrolled({ deploy_iso: 'ramdisk:loadable' }, { boot_interface: 'ipxe' });
  expect((await at.ask({ target: 'active' })).status).toBe(202);
  expect(at.api.runs.started[0]?.ramdisk?.boot?.args).toMatchObject({
    network_image: 'ramdisk:loadable',
    boot_device: 'pxe',
  });
  await enrolled({ deploy_iso: 'ramdisk:debian' }, { boot_interface: 'ipxe' });
  const refused = await at.ask({ target: 'active' });
  expect([refused.status, faultOf(refused)]).toEqual([
    400,
    expect.stringMatching(/debian, which was added as an image/),
  ]);
});
