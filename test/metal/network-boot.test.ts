/** The life of a machine with BIOS firmware that boots by the network: DHCP as Temper configures it, iPXE, the ramdisk from the boot service. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suiteOf } from '../support/found';
import { documented, documentUnder, typedUnder } from './support/documented';
import { metalGiven, metalMissing } from './support/given';
import { type Lab, openLab } from './support/lab';
import { acts, addCleaning, hasRoot, hasTable, marker, rests, rootMagicAt, wait } from './support/life';
import { onceIn, sshKey } from './support/ssh';
import { note, stepsOf, withinMs } from './support/steps';

jest.setTimeout(4 * withinMs);

/** Of docs/boot.md. */
const heading = 'Deploy a first node';

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

  let key: string;
  /** Types the commands of docs/boot.md up to the inspection, or those after it. */
  const types = async (part: 'first' | 'second'): Promise<void> => {
    const typed = typedUnder(heading, {
      'https://images.example.org/debian-12.raw': lab.image.url,
      'sha256:...': `sha256:${lab.image.sha256}`,
      'https://192.0.2.10': lab.bmc.redfish_address!,
      '/redfish/v1/Systems/1': lab.bmc.redfish_system_id!,
      '--wait': wait.join(' '),
    });
    const second = typed.findIndex((line) => line.includes(' inspect ')) + 1;
    for (const line of part === 'first' ? typed.slice(0, second) : typed.slice(second)) await lab.type(line);
  };

  step('it is enrolled by the commands of docs/boot.md, to boot by the network', async () => {
    const pair = sshKey(lab.folder);
    key = pair.privateKey;
    const drive = documentUnder(heading, { 'ssh-ed25519 AAAA... you@example.org': pair.publicKey });
    writeFileSync(join(lab.folder, 'drive.json'), drive);
    await types('first');
    await lab.baremetal(...documented('baremetal node set metal-1 --boot-interface', {}));
    await rests(lab, 'manageable');
  });

  step('its ramdisk from the network sends what it finds, as an inspection asks for it', async () => {
    await lab.baremetal('node', 'set', 'metal-1', '--inspect-interface', 'agent');
    const mark = lab.machine.mark();
    await acts(lab, 'inspect', 'manageable');
    await lab.machine.says(/ramdisk started: firmware bios/, withinMs, mark);
    const { inventory } = JSON.parse(await lab.baremetal('node', 'inventory', 'save', 'metal-1'));
    expect(inventory.interfaces).toContainEqual(expect.objectContaining({ mac_address: lab.machine.mac }));
    expect(inventory.disks).toHaveLength(2);
    expect(inventory.boot.current_boot_mode).toBe('bios');
  });

  step('it is deployed with an image of a record, and its system starts', async () => {
    const mark = lab.machine.mark();
    await types('second');
    await rests(lab, 'active');
    // The boot service fetched it, and sent it on.
    expect(lab.image.requests()).toBe(1);
    await lab.machine.says(/ramdisk started: firmware bios/, withinMs, mark);
    const line = await lab.machine.says(/deployed system started: /, withinMs, mark);
    note(line);
    expect(line).toContain(`hostname metal-one, firmware bios, marker ${marker}`);
    await lab.machine.says(/metal-one login:/, withinMs, mark);
    const login = { user: 'debian', address: lab.address, key };
    expect(await onceIn(lab.tools, login, withinMs, 'cat /etc/marker')).toBe(marker);
  });

  step('it is torn down by a ramdisk from the network, and its disk has no system any more', async () => {
    await addCleaning(lab);
    await lab.baremetal('node', 'set', 'metal-1', '--automated-clean');
    expect(hasTable(lab)).toBe(true);
    const root = rootMagicAt(lab);
    expect(hasRoot(lab, root)).toBe(true);
    const mark = lab.machine.mark();
    await acts(lab, 'undeploy', 'available');
    await lab.machine.says(/ramdisk started: firmware bios/, withinMs, mark);
    expect(hasTable(lab)).toBe(false);
    expect(hasRoot(lab, root)).toBe(false);
  });
});
