/** A ramdisk that takes a command and is never heard of again: looked for through its BMC, and not waited for until the act's limit. */
import { ask, rests, set } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { ended, manageable, newestOf, patient, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';

jest.setTimeout(400_000);

let system: System;
let operator: Person;
let nodes: string[];

beforeAll(async () => {
  system = await startSystem(2, {
    TEMPER_RACK_SPEED: '5',
    // Longer than a rack on busy processors keeps an answer.
    TEMPER_AGENT_SILENCE_MS: '12000',
    // How long an attempt looks for what became of a command that got no answer.
    TEMPER_POWER_TIMEOUT_MS: '30000',
  });
  operator = patient(await system.person('operator'));
  nodes = await manageable(system, operator, 0, 1);
  for (const node of nodes) {
    await set(operator, node, {
      automated_clean: false,
      instance_info: {
        image_source: 'http://images.example.org/debian.raw',
        image_os_hash_algo: 'sha256',
        image_os_hash_value: 'b'.repeat(64),
      },
    });
    await ask(operator, node, 'provide');
  }
  await Promise.all(nodes.map((node) => rests(operator, node, 'available', withinMs)));
});
afterAll(() => system?.stop());

/** Deploys a node whose ramdisks fall silent so many times when they are asked to write the image. @returns its run, ended */
const deployed = async (index: number, remaining: number) => {
  await system.rack.ramdiskFault(index, { kind: 'gone', match: 'prepare_image', remaining });
  await ask(operator, nodes[index]!, 'active');
  return ended(operator, await newestOf(operator, nodes[index]!));
};

test('the image is written in another ramdisk, once; when that falls silent too the run says why it failed', async () => {
  const [once, twice] = await Promise.all([deployed(0, 1), deployed(1, 2)]);
  expect(once).toMatchObject({ state: 'succeeded', last_error: null });
  expect(twice).toMatchObject({
    state: 'failed',
    last_error: expect.stringMatching(
      /^The ramdisk of node \S+ is gone in the middle of deploy\.write_image: it has sent neither an answer nor a heartbeat for .* min, and the BMC shows that /,
    ),
  });
  const uuids = await Promise.all(nodes.map(async (node) => (await operator.must('GET', `/v1/nodes/${node}`)).uuid));
  const commands = await system.rack.ramdiskCommands();
  const written = uuids.map((uuid) =>
    commands.filter(({ node_uuid, command }) => node_uuid === uuid && command === 'standby.prepare_image'),
  );
  expect(written.map((all) => all.length)).toEqual([2, 2]);
  await rests(operator, nodes[0]!, 'active', withinMs);
  expect(await operator.must('GET', `/v1/nodes/${nodes[1]}`)).toMatchObject({
    provision_state: 'deploy failed',
    power_state: 'power off', // what it had booted is taken off the node
  });
});
