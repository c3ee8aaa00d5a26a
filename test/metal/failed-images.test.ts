/** Images that a machine cannot be deployed with: each deployment ends soon, with the reason, and the node is free again. */
import { suiteOf } from '../support/found';
import { metalGiven, metalMissing } from './support/given';
import { type Lab, openLab } from './support/lab';
import { acts, enrol, imaged, wait } from './support/life';
import { note, stepsOf, withinMs } from './support/steps';

jest.setTimeout(4 * withinMs);

const onMetal = suiteOf('a machine whose image is at fault', metalMissing);

onMetal('a machine whose image is at fault', () => {
  let lab: Lab;
  const step = stepsOf(() => lab.explain());
  const nodeOf = async () =>
    JSON.parse(
      await lab.baremetal('node', 'show', 'metal-1', '-f', 'json', '--fields', 'provision_state', 'last_error'),
    );

  /** Deploys, and expects a failure with a reason; afterwards the node is available again. */
  const failsWith = async (reason: RegExp) => {
    await expect(lab.baremetal('node', 'deploy', 'metal-1', ...wait)).rejects.toThrow('deploy failed');
    const { provision_state, last_error } = await nodeOf();
    note(`${provision_state}: ${last_error}`);
    expect(provision_state).toBe('deploy failed');
    expect(last_error).toMatch(reason);
    await acts(lab, 'undeploy', 'available');
  };

  beforeAll(async () => {
    lab = await openLab(metalGiven(), { firmware: 'uefi' });
    note('the lab of images at fault is up');
  });
  afterAll(async () => {
    await lab?.close();
  });

  step('it is enrolled, and made available without cleaning', async () => {
    await enrol(lab);
    await lab.baremetal('node', 'set', 'metal-1', '--no-automated-clean');
    await acts(lab, 'manage', 'manageable');
    // Its ramdisk is known by the port that this makes.
    await acts(lab, 'inspect', 'manageable');
    await acts(lab, 'provide', 'available');
  });

  step('an image that has changed under its checksum is refused, and the reason says so', async () => {
    await imaged(lab);
    lab.image.change(true);
    await failsWith(/checksum|digest/i);
    lab.image.change(false);
  });

  step('an image that the ramdisk has no room for is refused, and the reason says so', async () => {
    await imaged(lab, { image_source: lab.image.hugeUrl, image_disk_format: 'qcow2' });
    await failsWith(/No space left|ENOSPC|insufficient|memory/i);
  });
});
