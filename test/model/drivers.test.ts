/** Hardware types: what a vendor's shares with the driver that it speaks, and how each boot interface starts a ramdisk. */
import { parseBmcAddress } from '../../src/model/access/bmc-addresses';
import { keyRules, ruleOfKey } from '../../src/model/access/guarded-keys';
import {
  type DriverName,
  driverNames,
  driverRow,
  drivers,
  interfaceOf,
  ownKey,
} from '../../src/model/lifecycle/drivers';
import { planDeploySteps } from '../../src/model/lifecycle/plan-deploy';
import { planFor } from '../../src/model/lifecycle/plans';
import { nameOf, stepsOf } from '../../src/model/lifecycle/steps';
import { vendorMethodsOf } from '../../src/model/lifecycle/vendor-methods';

const iso = 'http://images.example.org/ramdisk.iso';
const nodeOf = (driver: string, more: Record<string, unknown> = {}) => ({
  uuid: 'u',
  name: 'n1',
  driver,
  driver_info: { deploy_iso: iso },
  instance_info: {},
  deploy_interface: 'direct',
  ...more,
});
const wanted = (node: ReturnType<typeof nodeOf>) => ({ node, steps: [], automatic: true, args: {} });

const bootOf = (driver: string, boot_interface: string) => {
  const { boot } = planFor('clean', wanted(nodeOf(driver, { boot_interface })));
  return { acts: boot!.acts.map(({ act }) => act), args: boot!.args };
};

const media = {
  acts: ['power_off', 'insert_media', 'set_boot_device', 'power_on'],
  args: { image_url: iso, device_type: 'cdrom', boot_device: 'cdrom', persistent: false },
};
const from = (boot_device: string, more = {}) => ({
  acts: ['power_off', 'set_boot_device', 'power_on'],
  args: { boot_device, persistent: false, ...more },
});

test.each([
  ['redfish', 'redfish-virtual-media', media],
  ['redfish', 'ipxe', from('pxe')],
  ['redfish', 'pxe', from('pxe')],
  ['redfish', 'http', from('uefihttp')],
  ['redfish', 'http-ipxe', from('uefihttp')],
  ['redfish', 'redfish-https', from('uefihttp', { image_url: iso })],
  ['idrac', 'idrac-redfish-virtual-media', media],
  ['idrac', 'ipxe', from('pxe')],
  ['ilo', 'ilo-virtual-media', media],
  ['ilo', 'ilo-ipxe', from('pxe')],
  ['ilo5', 'ilo-pxe', from('pxe')],
  ['ipmi', 'ipxe', from('pxe')],
  // IPMI has no boot device of that name.
  ['ipmi', 'http', from('pxe')],
  ['ipmi', 'http-ipxe', from('pxe')],
  ['fake-hardware', 'fake', { acts: ['power_off', 'power_on'], args: {} }],
  ['fake-hardware', 'ipxe', from('pxe')],
])('%s starts the ramdisk by boot interface %s', (driver, boot, expected) => {
  expect(bootOf(driver, boot)).toEqual(expected);
});

test('every boot interface of every driver is in the table above, or its default', () => {
  for (const driver of driverNames)
    for (const boot of driverRow(driver).interfaces.boot) expect(() => bootOf(driver, boot)).not.toThrow();
});

test('network boot is offered in the order of the original, and is the default where nothing better is', () => {
  expect(drivers.ipmi.interfaces.boot).toEqual(['ipxe', 'pxe', 'http-ipxe', 'http']);
  expect(interfaceOf({ driver: 'ipmi' }, 'boot')).toBe('ipxe');
  expect(interfaceOf({ driver: 'redfish' }, 'boot')).toBe('redfish-virtual-media');
});

const offered = (driver: string, more = {}) => stepsOf({ driver, deploy_interface: 'direct', ...more }).map(nameOf);

test('a vendor’s hardware type offers what the driver does that it speaks', () => {
  expect(offered('idrac')).toEqual(offered('redfish'));
  expect(offered('ilo5')).toEqual(offered('redfish'));
  expect(offered('ilo', { raid_interface: 'no-raid' })).toEqual(offered('redfish', { raid_interface: 'no-raid' }));
  expect(Object.keys(vendorMethodsOf({ driver: 'idrac' }))).toEqual(
    Object.keys(vendorMethodsOf({ driver: 'redfish' })),
  );
});

test('a driver that this release lacks offers nothing, whatever it is called', () => {
  for (const driver of ['irmc', 'constructor', '__proto__']) expect(offered(driver)).toEqual([]);
});

test.each([
  [{ ilo_address: 'ilo.example.org' }, 'https://ilo.example.org'],
  [{ ilo_address: 'ilo.example.org', client_port: '8443' }, 'https://ilo.example.org:8443'],
  [{ ilo_address: '2001:db8::1', client_port: 443 }, 'https://[2001:db8::1]'],
])('an iLO at %j is spoken to at %s', (info, origin) => {
  expect(parseBmcAddress(info, { driver: 'ilo' })).toMatchObject({ origin, prefix: '' });
});

test.each([
  { ilo_address: 'user@evil.example.org' },
  { ilo_address: 'ilo.example.org/redfish' },
  { ilo_address: 'ilo.example.org', client_port: 'x' },
  { ilo_address: 'ilo.example.org', client_port: '0' },
  {},
])('an iLO is not spoken to at %j', (info) => {
  expect(() => parseBmcAddress(info, { driver: 'ilo' })).toThrow(/ilo_address/);
});

test('the key of trust is the hardware type’s own', () => {
  const key = (driver: DriverName) => ownKey(driver, 'redfish_verify_ca');
  expect([key('redfish'), key('idrac'), key('ilo')]).toEqual([
    'redfish_verify_ca',
    'redfish_verify_ca',
    'ilo_verify_ca',
  ]);
});

describe('custom-agent', () => {
  const node = nodeOf('redfish', {
    deploy_interface: 'custom-agent',
    boot_interface: 'ipxe',
    reported_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 0 }],
  });

  test('boots the ramdisk, runs the deployment’s own step and starts the instance; nothing writes an image', () => {
    const steps = planDeploySteps([{ interface: 'deploy', step: 'install_coreos', priority: 80 }], node);
    const plan = planFor('deploy', { ...wanted(node), steps });
    expect(plan.steps.map(({ step }) => step)).toEqual([
      'deploy',
      'list_steps',
      'install_coreos',
      'tear_down_agent',
      'boot_instance',
    ]);
  });

  test('cleans in the ramdisk as direct does', () => {
    expect(planFor('clean', wanted(node)).steps.map(({ step }) => step)).toEqual([
      'boot_ramdisk',
      'list_steps',
      'remove_ramdisk',
    ]);
  });
});

describe('keys by which a hardware type calls what another has', () => {
  const rule = (key: string) => ruleOfKey('driver_info', key);

  test('are guarded as those are', () => {
    for (const driver of driverNames)
      for (const [own, key] of Object.entries(driverRow(driver).keys ?? {}))
        expect([driver, own, rule(own)]).toEqual([driver, own, rule(key)]);
    expect(rule('client_port')).toBe(keyRules.bmcAddress);
  });

  test('no property of any driver that leads to a BMC, or into it, is left to the field’s own rule', () => {
    const free = ['has_dedicated_power_supply', 'fake_delay_ms', 'fake_fails'];
    const unguarded = driverNames.flatMap((driver) =>
      Object.keys(driverRow(driver).properties).filter((key) => rule(key) === undefined && !free.includes(key)),
    );
    expect(unguarded).toEqual([]);
    for (const driver of driverNames) {
      const { addressKey, properties } = driverRow(driver);
      if (addressKey !== null) expect([driver, rule(addressKey)]).toEqual([driver, keyRules.bmcAddress]);
      for (const [key, { secret }] of Object.entries(properties) as [string, { secret?: true }][])
        if (secret) expect([key, rule(key)]).toEqual([key, keyRules.bmcCredentials]);
    }
  });
});
