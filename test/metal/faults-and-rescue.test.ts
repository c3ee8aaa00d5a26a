/** A machine that is deployed although its ramdisk's image, its power and its media fail on the way; then served, rescued and torn down. */
import { suiteOf } from '../support/found';
import { metalGiven, metalMissing } from './support/given';
import { type Impostor, startImpostor, successes } from './support/impostor';
import { type Lab, openLab } from './support/lab';
import { acts, configDrive, enrol, hasRoot, hasTable, imaged, marker, rests, rootMagicAt, wait } from './support/life';
import { until } from './support/shell';
import { onceIn } from './support/ssh';
import { note, stepsOf, withinMs } from './support/steps';

jest.setTimeout(4 * withinMs);

const onMetal = suiteOf('a machine that is deployed through faults', metalMissing);

onMetal('a machine that is deployed through faults', () => {
  let lab: Lab;
  let impostor: Impostor;
  const step = stepsOf(() => lab.explain());
  beforeAll(async () => {
    lab = await openLab(metalGiven(), { firmware: 'uefi' });
    impostor = startImpostor({
      api: lab.ramdiskApi,
      boots: lab.bootUrl,
      mac: lab.machine.mac,
      bmc: new URL(lab.bmc.redfish_address!).hostname,
      callback: 'https://10.77.0.1:9999',
    });
    note('the lab of faults is up');
  });
  afterAll(async () => {
    await impostor?.stop();
    await lab?.close();
  });

  let key: string;
  const login = () => ({ user: 'debian', address: lab.address, key });
  // Written out, for this system has no journal, and is powered off as it runs.
  const asked = 'sync; echo $(cat /etc/marker) $(hostname)';
  const starts = (mark: number) => lab.machine.says(/deployed system started: /, withinMs, mark);

  step('it is enrolled, and made available without cleaning', async () => {
    // A burn-in of seconds, for the service.
    await enrol(lab, { agent_burnin_cpu_timeout: '10', agent_burnin_cpu_cpu: '1', rescue_iso: 'ramdisk:debian' });
    impostor.knows((await lab.baremetal('node', 'show', 'metal-1', '-f', 'value', '-c', 'uuid')).trim());
    await lab.baremetal('node', 'set', 'metal-1', '--no-automated-clean');
    await acts(lab, 'manage', 'manageable');
    // Its ramdisk is known by the port that this makes.
    await acts(lab, 'inspect', 'manageable');
    await acts(lab, 'provide', 'available');
  });

  step(
    'the boot service dies as the image is read, the machine is reset in the image write, and its BMC ejects the media: it is deployed',
    async () => {
      await imaged(lab);
      const mark = lab.machine.mark();
      const killed = lab.relay.at(40_000_000, async () => {
        note('the image of the ramdisk is being read; the boot service is killed');
        await lab.system.back('boot', lab.system.kill('boot'));
      });
      const given = configDrive(lab);
      key = given.key;
      const deploying = lab.baremetal('node', 'deploy', 'metal-1', ...given.drive, ...wait);
      let isOver = false;
      const over = deploying
        .catch(() => undefined)
        .then(() => {
          isOver = true;
        });
      const inTheWrite = async (download: number) => {
        const written = () => lab.image.requests() === download && lab.image.sent() > lab.image.bytes / 4;
        await until('the image to be written', withinMs, () => isOver || written());
        // Throws why the deployment has ended before.
        if (isOver) await deploying;
      };
      await Promise.race([killed, over]);
      await inTheWrite(1);
      note('the image is being written; the machine is reset');
      await lab.tools.run('virsh', 'reset', 'metal-1');
      await inTheWrite(2);
      note('the image is being written again; the BMC ejects the media');
      await lab.atBmc.eject();
      await deploying;
      await rests(lab, 'active');
      expect(lab.image.requests()).toBe(2);
      expect(await starts(mark)).toContain(marker);
      expect(await onceIn(lab.tools, login(), withinMs, asked)).toBe(`${marker} metal-one`);
      note('ssh answers');
    },
  );

  step('a runbook serves it from within, and its system starts again', async () => {
    const steps = JSON.stringify([{ interface: 'deploy', step: 'burnin_cpu', order: 1, args: {} }]);
    await lab.baremetal('runbook', 'create', '--name', 'CUSTOM_BURN', '--public', 'True', '--steps', steps);
    await lab.baremetal('node', 'add', 'trait', 'metal-1', 'CUSTOM_BURN');
    const mark = lab.machine.mark();
    await acts(lab, 'service', 'active', '--runbook', 'CUSTOM_BURN');
    await lab.machine.says(/ramdisk started: firmware uefi/, withinMs, mark);
    expect(await starts(mark)).toContain(marker);
  });

  step('a rescue lets its password in, and nothing of the system has changed after it', async () => {
    const password = 'a-password-of-this-test';
    await acts(lab, 'rescue', 'rescue', '--rescue-password', password);
    const rescue = { user: 'rescue', address: lab.address, password };
    expect(await onceIn(lab.tools, rescue, withinMs, 'hostname')).toBe('ramdisk');
    note('the rescue lets in');
    const mark = lab.machine.mark();
    await acts(lab, 'unrescue', 'active');
    await starts(mark);
    expect(await onceIn(lab.tools, login(), withinMs, asked)).toBe(`${marker} metal-one`);
  });

  step('it is torn down, and its disk has no system any more', async () => {
    await lab.baremetal('node', 'set', 'metal-1', '--automated-clean');
    const root = rootMagicAt(lab);
    expect([hasTable(lab), hasRoot(lab, root)]).toEqual([true, true]);
    await acts(lab, 'undeploy', 'available');
    expect([hasTable(lab), hasRoot(lab, root)]).toEqual([false, false]);
  });

  step('a machine that played its ramdisk through all of it, resets and second boots too, got nothing', async () => {
    const { beats, inspections, scripts } = impostor.tried;
    expect(successes(impostor.tried)).toEqual([]);
    expect([beats.size, inspections.size, scripts.size].map((size) => size > 0)).toEqual([true, true, true]);
  });
});
