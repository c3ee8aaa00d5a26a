/** What a fresh `npm start` holds, so that the first commands show something: a verified rack, an owner, a lessee, runbooks. */
import { ask, enrol, powerOn, rests, set } from './nodes';
import { rackOf, readSystem, signIn } from './system';

/** Approves a runbook for whoever may run it. */
const runbook = {
  name: 'CUSTOM_RESTART',
  description: 'Boot from disk and restart, then light the identification LED',
  public: true,
  steps: [
    { interface: 'management', step: 'set_boot_device', args: { boot_device: 'disk' }, order: 1 },
    { interface: 'power', step: 'reboot', order: 2 },
    { interface: 'management', step: 'set_indicator', args: { state: 'blinking' }, order: 3 },
  ],
};

/** @param say told what is done, a line each */
export const seed = async (systemFile: string, say: (line: string) => void): Promise<void> => {
  const system = readSystem(systemFile);
  const [operator, owner, lessee] = await Promise.all(
    ['operator', 'owner', 'lessee'].map((cloud) => signIn(system, cloud)),
  );
  const bmcs = await rackOf(system).bmcs();
  if (bmcs.length === 0) return;
  for (const bmc of bmcs) await enrol(operator!, bmc);
  const names = bmcs.map(({ name }) => name);
  await Promise.all(names.map((name) => ask(operator!, name, 'manage')));
  await Promise.all(names.map((name) => rests(operator!, name, 'manageable')));
  say(`${names.length} nodes enrolled and verified`);
  const owned = names.slice(0, 3);
  for (const name of owned) await set(operator!, name, { owner: owner!.project });
  const [leased] = names;
  await ask(operator!, leased!, 'adopt');
  await rests(operator!, leased!, 'active');
  await powerOn(operator!, leased!);
  await set(operator!, leased!, { lessee: lessee!.project });
  say(`${owned.join(', ')} belong to owner-project; ${leased} is in use by lessee-project`);
  await operator!.must('POST', '/v1/runbooks', runbook);
  await operator!.must('PUT', `/v1/runbooks/${runbook.name}/traits/${runbook.name}`);
  for (const name of owned) await operator!.must('PUT', `/v1/nodes/${name}/traits/${runbook.name}`);
  say(`public runbook ${runbook.name}, approved for ${owned.join(', ')}`);
};
