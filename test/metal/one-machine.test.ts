/** The life of one machine: real firmware, the real ramdisk from the boot service, an operating system on a disk that was really written. */
import { readFileSync } from 'node:fs';
import { suiteOf } from '../support/found';
import { metalGiven, metalMissing } from './support/given';
import { type Impostor, startImpostor, successes } from './support/impostor';
import { type Lab, openLab } from './support/lab';
import { acts, configDrive, enrol, hasRoot, hasTable, imaged, marker, rests, rootMagicAt, wait } from './support/life';
import { until } from './support/shell';
import { onceIn } from './support/ssh';
import { isShort, note, stepsOf, withinMs } from './support/steps';

jest.setTimeout(4 * withinMs);

const onMetal = suiteOf('a machine with real firmware', metalMissing);

onMetal('a machine with real firmware', () => {
  let lab: Lab;
  let impostor: Impostor;
  const step = stepsOf(() => lab.explain());
  const starts = (mark: number) => lab.machine.says(/deployed system started: /, withinMs, mark);

  beforeAll(async () => {
    lab = await openLab(metalGiven(), { firmware: 'uefi' });
    impostor = startImpostor({
      api: lab.ramdiskApi,
      boots: lab.bootUrl,
      mac: lab.machine.mac,
      bmc: new URL(lab.bmc.redfish_address!).hostname,
      callback: 'https://10.77.0.1:9999',
    });
    note('the lab is up');
  });
  afterAll(async () => {
    await impostor?.stop();
    await lab?.close();
    note('the lab is gone');
  });

  step('it is enrolled by the address of its BMC, and its hardware is read from there', async () => {
    await enrol(lab);
    impostor.knows((await lab.baremetal('node', 'show', 'metal-1', '-f', 'value', '-c', 'uuid')).trim());
    await acts(lab, 'manage', 'manageable');
    await acts(lab, 'inspect', 'manageable');
    const addresses = await lab.baremetal('port', 'list', '--fields', 'address', '-f', 'value');
    expect(addresses.trim()).toBe(lab.machine.mac);
  });

  if (isShort)
    step('it is made available without cleaning', async () => {
      await lab.baremetal('node', 'set', 'metal-1', '--no-automated-clean');
      await acts(lab, 'provide', 'available');
    });
  else {
    step('its ramdisk sends what it finds, as an inspection asks for it', async () => {
      await lab.baremetal('node', 'set', 'metal-1', '--inspect-interface', 'agent');
      await acts(lab, 'inspect', 'manageable');
      const { inventory } = JSON.parse(await lab.baremetal('node', 'inventory', 'save', 'metal-1'));
      expect(inventory.interfaces).toContainEqual(expect.objectContaining({ mac_address: lab.machine.mac }));
      expect(inventory.disks).toHaveLength(2);
      expect(inventory.boot.current_boot_mode).toBe('uefi');
    });

    step('it is cleaned by its ramdisk, which it booted from the boot service', async () => {
      const mark = lab.machine.mark();
      await acts(lab, 'provide', 'available');
      await lab.machine.says(/ramdisk started: firmware uefi/, withinMs, mark);
    });
  }

  let key: string;
  const login = () => ({ user: 'debian', address: lab.address, key });
  const asked = 'echo $(cat /etc/marker) $(hostname)';

  step(
    'it is deployed, with both workers killed in the image write: one download, user data has run, and its key opens ssh',
    async () => {
      await imaged(lab);
      const given = configDrive(lab);
      key = given.key;
      const mark = lab.machine.mark();
      const deploying = lab.baremetal('node', 'deploy', 'metal-1', ...given.drive, ...wait);
      const over = deploying.then(
        () => true,
        () => true,
      );
      await Promise.race([until('the image to be fetched', withinMs, () => lab.image.requests() > 0), over]);
      note('the image is being written; both workers are killed');
      await Promise.all(
        ['worker-control', 'worker-bmc-default'].map((name) => lab.system.back(name, lab.system.kill(name))),
      );
      await deploying;
      await rests(lab, 'active');
      expect(lab.image.requests()).toBe(1);
      const line = await starts(mark);
      note(line);
      expect(line).toContain(`hostname metal-one, firmware uefi, marker ${marker}`);
      expect(await onceIn(lab.tools, login(), withinMs, asked)).toBe(`${marker} metal-one`);
      note('ssh answers');
    },
  );

  // A system without a journal may not come up after a reset: what counts is that the node's act is over, and its machine boots.
  step('reset, it boots again, and a machine that plays its ramdisk meanwhile gets nothing', async () => {
    const before = impostor.rounds();
    const mark = lab.machine.mark();
    await lab.baremetal('node', 'reboot', 'metal-1');
    await lab.machine.says(/BdsDxe: starting Boot/, withinMs, mark);
    // From before the reset, through the boot, until after it.
    await until('the impostor to have tried again', withinMs, () => impostor.rounds() > before + 2);
    await rests(lab, 'active');
    expect(successes(impostor.tried)).toEqual([]);
  });

  if (isShort)
    step('it is torn down, and powered off', async () => {
      await acts(lab, 'undeploy', 'available');
      expect((await lab.tools.run('virsh', 'domstate', 'metal-1')).trim()).toBe('shut off');
    });
  else {
    step('it is torn down, and its disk has no system any more', async () => {
      expect(hasTable(lab)).toBe(true);
      const root = rootMagicAt(lab);
      expect(hasRoot(lab, root)).toBe(true);
      await acts(lab, 'undeploy', 'available');
      expect(hasTable(lab)).toBe(false);
      expect(hasRoot(lab, root)).toBe(false);
    });
  }

  step(
    'a machine that played its ramdisk all the while got no token and no script, and none of its requests was taken',
    async () => {
      const { beats, inspections, scripts } = impostor.tried;
      expect(impostor.rounds()).toBeGreaterThan(10);
      expect(successes(impostor.tried)).toEqual([]);
      // It was answered, each of what it tried.
      expect([beats.size, inspections.size, scripts.size].map((size) => size > 0)).toEqual([true, true, true]);
    },
  );

  step('no token of a boot stands on its serial console', async () => {
    const text = readFileSync(lab.machine.console, 'latin1');
    expect(text).toContain('ironic-python-agent version');
    expect(text).not.toMatch(/agent[_-]token=[\w-]/);
  });
});
