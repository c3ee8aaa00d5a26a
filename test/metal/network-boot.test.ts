/** The life of a machine with BIOS firmware that boots by the network: DHCP as Temper configures it, iPXE, the ramdisk from the boot service. */
import { suiteOf } from '../support/found';
import { metalGiven, metalMissing } from './support/given';
import { type Lab, openLab } from './support/lab';
import { acts, configDrive, enrol, hasTable, imaged, marker } from './support/life';
import { onceIn } from './support/ssh';
import { note, stepsOf, withinMs } from './support/steps';

jest.setTimeout(4 * withinMs);

const onMetal = suiteOf('a machine with BIOS firmware', metalMissing);

onMetal('a machine with BIOS firmware, booted by the network', () => {
  let lab: Lab;
  const step = stepsOf(() => lab.explain());

  beforeAll(async () => {
    lab = await openLab(metalGiven(), { firmware: 'bios', byNetwork: true });
    note('the lab with a BIOS machine is up');
  });
  afterAll(async () => {
    await lab?.close();
  });

  step('it is enrolled, and made available without cleaning', async () => {
    await enrol(lab);
    await lab.baremetal('node', 'set', 'metal-1', '--boot-interface', 'ipxe', '--no-automated-clean');
    await lab.baremetal('node', 'set', 'metal-1', '--property', 'capabilities=boot_mode:bios');
    await acts(lab, 'manage', 'manageable');
    await acts(lab, 'inspect', 'manageable');
    await acts(lab, 'provide', 'available');
  });

  step('it loads its ramdisk by the network, is deployed, and its system starts', async () => {
    await imaged(lab);
    const { drive, key } = configDrive(lab);
    const mark = lab.machine.mark();
    await acts(lab, 'deploy', 'active', ...drive);
    await lab.machine.says(/ramdisk started: firmware bios/, withinMs, mark);
    const line = await lab.machine.says(/deployed system started: /, withinMs, mark);
    note(line);
    expect(line).toContain(`hostname metal-one, firmware bios, marker ${marker}`);
    await lab.machine.says(/metal-one login:/, withinMs, mark);
    const login = { user: 'debian', address: lab.address, key };
    expect(await onceIn(lab.tools, login, withinMs, 'cat /etc/marker')).toBe(marker);
  });

  step('it is torn down by a ramdisk from the network, and its disk has no system any more', async () => {
    await lab.baremetal('node', 'set', 'metal-1', '--automated-clean');
    expect(hasTable(lab)).toBe(true);
    const mark = lab.machine.mark();
    await acts(lab, 'undeploy', 'available');
    await lab.machine.says(/ramdisk started: firmware bios/, withinMs, mark);
    expect(hasTable(lab)).toBe(false);
  });
});
