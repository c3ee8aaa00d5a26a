/** Which image a plan boots its ramdisk from: the node's own, a ramdisk record, or the installation's. */
import { fetchedBy } from '../../src/model/access/origins';
import { ramdiskNamed, ramdiskNamePattern } from '../../src/model/boot/ramdisks';
import { planFor } from '../../src/model/lifecycle/plans';

const plan = (
  driver_info: Record<string, unknown>,
  more: object = {},
  kind: 'clean' | 'rescue' | 'inspect' = 'clean',
) =>
  planFor(kind, {
    node: {
      uuid: 'u',
      name: 'n',
      driver: 'redfish',
      boot_interface: 'redfish-virtual-media',
      inspect_interface: 'agent',
      driver_info,
      instance_info: {},
      ...more,
    },
    steps: [],
    automatic: true,
    args: {},
  });
const imageOf = (...given: Parameters<typeof plan>) => plan(...given).boot?.args.image_url;

test.each([
  [{ deploy_iso: 'https://images.example.org/r.iso' }, {}, 'https://images.example.org/r.iso'],
  [{ deploy_iso: 'ramdisk:debian' }, {}, 'ramdisk:debian'],
  [{ deploy_iso: 'ramdisk:debian' }, { default_ramdisk: 'other' }, 'ramdisk:debian'],
  [{}, { default_ramdisk: 'other' }, 'ramdisk:other'],
  [{ deploy_iso: null }, { default_ramdisk: 'other' }, 'ramdisk:other'],
])('%j with %j boots from %s', (driver_info, more, image) => expect(imageOf(driver_info, more)).toBe(image));

test('without an image and without a ramdisk of the installation there is no plan', () => {
  expect(() => plan({})).toThrow(/deploy_iso is missing/);
});

test('a plan that boots from a record has the same steps and acts as one that boots from a URL', () => {
  const shape = (driver_info: Record<string, unknown>) =>
    plan(driver_info).steps.map(({ interface: of, step, acts }) => [of, step, acts.map(({ act }) => act)]);
  expect(shape({ deploy_iso: 'ramdisk:debian' })).toEqual(shape({ deploy_iso: 'https://images.example.org/r.iso' }));
});

test('a record is fetched from no origin, in a step that waits for its ramdisk alone', () => {
  const args = { image_url: 'ramdisk:debian' };
  const step = { interface: 'deploy', step: 'boot_ramdisk' };
  expect(fetchedBy('insert_media', { ...step, awaits: 'heartbeat' }, args, {})).toEqual([]);
  expect(fetchedBy('insert_media', step, args, {})).toEqual([{ value: 'ramdisk:debian', as: 'http' }]);
});

test.each(['debian', 'Debian-12.5_x', 'a'])('%s is a name', (name) => {
  expect(ramdiskNamePattern.test(name)).toBe(true);
  expect(ramdiskNamed(`ramdisk:${name}`)).toBe(name);
});
test.each(['', '-x', 'a b', 'a/b', '../x', 'a'.repeat(64)])('"%s" is none', (name) => {
  expect(ramdiskNamePattern.test(name)).toBe(false);
});

const loaded = (boot_interface: string, driver_info: Record<string, unknown>, more: object = {}) => {
  const { args, acts } = plan(driver_info, { boot_interface, ...more }).boot!;
  return { image: args.network_image, device: args.boot_device, acts: acts.map(({ act }) => act) };
};
test.each([
  ['ipxe', { deploy_iso: 'ramdisk:debian' }, {}, 'ramdisk:debian', 'pxe'],
  ['pxe', { deploy_iso: 'ramdisk:debian' }, { default_ramdisk: 'other' }, 'ramdisk:debian', 'pxe'],
  ['http-ipxe', {}, { default_ramdisk: 'other' }, 'ramdisk:other', 'uefihttp'],
  // These boot from a server of the operator's, as before.
  ['ipxe', {}, {}, undefined, 'pxe'],
  ['ipxe', { deploy_iso: 'https://images.example.org/r.iso' }, { default_ramdisk: 'other' }, undefined, 'pxe'],
  ['ipxe', { deploy_kernel: 'http://192.0.2.9/kernel' }, { default_ramdisk: 'other' }, undefined, 'pxe'],
])('by %s, %j with %j loads %s by device %s', (boot_interface, driver_info, more, image, device) =>
  expect(loaded(boot_interface, driver_info, more)).toEqual({
    image,
    device,
    acts: ['power_off', 'set_boot_device', 'power_on'],
  }),
);
