/** A ramdisk that is lost as it takes a command: it falls silent, or its machine is reset. It is not waited for until the act's limit. */
import { ask, rests, set } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { acceptedSince, ended, journalNow, manageable, newestOf, patient, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';

jest.setTimeout(400_000);

let system: System;
let operator: Person;
let nodes: string[];

beforeAll(async () => {
  system = await startSystem(3, {
    TEMPER_RACK_SPEED: '5',
    // Longer than a rack on busy processors keeps an answer.
    TEMPER_AGENT_SILENCE_MS: '12000',
    // How long an attempt looks for what became of a command that got no answer.
    TEMPER_POWER_TIMEOUT_MS: '30000',
  });
  operator = patient(await system.person('operator'));
  nodes = await manageable(system, operator, 0, 1, 2);
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

/** Deploys a node whose ramdisks are lost so many times when they are asked to write the image. @returns its run, ended */
const deployed = async (index: number, remaining: number, kind: 'gone' | 'reset' = 'gone') => {
  await system.rack.ramdiskFault(index, { kind, match: 'prepare_image', remaining });
  await ask(operator, nodes[index]!, 'active');
  return ended(operator, await newestOf(operator, nodes[index]!));
};

test('the image is written in another ramdisk, once; when that falls silent too the run says why it failed', async () => {
  const [once, twice] = await Promise.all([deployed(0, 1), deployed(1, 2)]);
  expect(once).toMatchObject({ state: 'succeeded', last_error: null });
  expect(twice).toMatchObject({
    state: 'failed',
    last_error: expect.stringMatching(
      /^The ramdisk of node \S+ disappeared during deploy\.write_image: it has sent neither an answer nor a heartbeat for .* min, and the BMC shows that /,
    ),
  });
  const uuids = await Promise.all(
    nodes.slice(0, 2).map(async (node) => (await operator.must('GET', `/v1/nodes/${node}`)).uuid),
  );
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

test('a machine that is reset in the image write is booted again, and its image written once more', async () => {
  const since = await journalNow(system, nodes[2]!);
  expect(await deployed(2, 1, 'reset')).toMatchObject({ state: 'succeeded', last_error: null });
  const { uuid } = await operator.must('GET', `/v1/nodes/${nodes[2]}`);
  const written = (await system.rack.ramdiskCommands()).filter(
    ({ node_uuid, command }) => node_uuid === uuid && command === 'standby.prepare_image',
  );
  expect(written.length).toBe(2);
  const images = (await acceptedSince(system, nodes[2]!, since)).flatMap(({ content }) => {
    const { Image: image } = (content ?? {}) as { Image?: unknown };
    return typeof image === 'string' ? [image] : [];
  });
  // Each boot has a token of its own: what the machine that was reset still had is worth nothing.
  expect(new Set(images).size).toBeGreaterThan(1);
  await rests(operator, nodes[2]!, 'active', withinMs);
});
