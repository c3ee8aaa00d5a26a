/** A machine that no node stands for boots by the network, reports itself, is enrolled in one step, and is a node like any other. */
import { suiteOf } from '../support/found';
import { documented } from './support/documented';
import { metalGiven, metalMissing } from './support/given';
import { discoveredRange, type Lab, openLab } from './support/lab';
import { acts, rests } from './support/life';
import { until } from './support/shell';
import { note, stepsOf, withinMs } from './support/steps';

jest.setTimeout(4 * withinMs);

const onMetal = suiteOf('a machine without a node', metalMissing);

type Found = { readonly uuid: string; readonly macs: string[]; readonly boot_mac: string; readonly sender: string };

onMetal('a machine without a node, booted by the network', () => {
  let lab: Lab;
  const step = stepsOf(() => lab.explain());
  const found = async (): Promise<Found[]> =>
    JSON.parse(await lab.temper('--json', 'discovered', 'list')).discovered_machines;
  const scriptNow = async () => (await fetch(`${lab.bootUrl}/boot/network/${lab.machine.mac}/boot.ipxe`)).text();
  const lastPart = (address: string) => Number(address.split('.')[3]);

  beforeAll(async () => {
    lab = await openLab(metalGiven(), { firmware: 'bios', byNetwork: true, discovery: true });
    note('the lab with a machine without a node is up');
  });
  afterAll(async () => {
    await lab?.close();
  });

  let machine: Found;
  step('powered on by hand, it starts the ramdisk, and its report is recorded; there is no node yet', async () => {
    const mark = lab.machine.mark();
    await lab.atBmc.bootByNetwork();
    await lab.machine.says(/ramdisk started: firmware bios/, withinMs, mark);
    note('its ramdisk runs');
    await until('the machine to be recorded', withinMs, async () => (await found()).length > 0);
    const [first, ...others] = await found();
    expect(others).toEqual([]);
    machine = first!;
    expect(machine).toMatchObject({ macs: [lab.machine.mac], boot_mac: lab.machine.mac, state: 'waiting' });
    const [low, high] = discoveredRange.map(lastPart);
    expect(lastPart(machine.sender)).toBeGreaterThanOrEqual(low!);
    expect(lastPart(machine.sender)).toBeLessThanOrEqual(high!);
    expect(JSON.parse(await lab.baremetal('node', 'list', '-f', 'json'))).toEqual([]);
    note('recorded');
  });

  step('it is enrolled by the command of docs/boot.md, and is sent no script of a machine without a node', async () => {
    expect(await scriptNow()).toContain('/boot/discovery/');
    const enrolling = documented('temper discovered enroll', {
      enroll: machine.uuid,
      '--name': 'metal-1',
    });
    const named = enrolling.slice(0, enrolling.indexOf('--driver-info'));
    const info = Object.entries(lab.bmc).flatMap(([key, value]) => ['--driver-info', `${key}=${value}`]);
    await lab.temper(...named, ...info);
    expect(await found()).toEqual([]);
    expect(await scriptNow()).not.toContain('/boot/discovery/');
    const ports = await lab.baremetal('port', 'list', '--fields', 'address', 'pxe_enabled', '-f', 'value');
    expect(ports.trim()).toBe(`${lab.machine.mac} True`);
  });

  step('it is managed, and boots the ramdisk of its own run by the network', async () => {
    await acts(lab, 'manage', 'manageable');
    const set = ['--boot-interface', 'ipxe', '--inspect-interface', 'agent'];
    await lab.baremetal('node', 'set', 'metal-1', ...set);
    const mark = lab.machine.mark();
    await acts(lab, 'inspect', 'manageable');
    await lab.machine.says(/ramdisk started: firmware bios/, withinMs, mark);
    const { inventory } = JSON.parse(await lab.baremetal('node', 'inventory', 'save', 'metal-1'));
    expect(inventory.disks).toHaveLength(2);
    // An address of nodes: the last that it was given.
    expect(lastPart(lab.address())).toBeLessThanOrEqual(200);
    await rests(lab, 'manageable');
  });
});
