/** Inspection rules after real inspections, by the ramdisk and by the BMC: what they change, and how they fail one. */
import { matching } from '../../src/activities/inspection-rules';
import type { RuleStep } from '../../src/model/inspection/rule-ops';
import { startEngineWorld, type World } from '../support/engine';
import { found, sendInventory, withRamdisk } from '../support/life-scenarios';
import { bmcWorker } from '../support/recording-driver';

let world: World;
const { withActs } = bmcWorker(() => world);
beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());
beforeEach(async () => {
  await world.sql`delete from inspection_rules`;
  await world.sql`delete from ports`;
});

const rule = (actions: RuleStep[], conditions: RuleStep[] = [], priority = 0) =>
  world.sql`insert into inspection_rules (actions, conditions, priority, description)
    values (${world.sql.json(actions as never)}, ${world.sql.json(conditions as never)}, ${priority}, 'of the test')`;

const nodeOf = async (uuid: string) => (await world.sql`select * from nodes where uuid = ${uuid}`)[0]!;

/** How an inspection of each kind is brought to its end. */
const kinds = {
  'by the ramdisk': async () => {
    await withActs();
    const node = await world.node({ ...withRamdisk });
    const { run } = await world.runs.start(await world.order(node, 'inspect'));
    await world.reaches(run, 'waiting');
    await sendInventory(world, node, found, { logs: 'x' });
    return { node, ended: await world.ended(run) };
  },
  'by the BMC': async () => {
    const properties = { cpu_arch: 'x86_64', memory_mb: 1, local_gb: 1 };
    const seen = { properties, macs: ['52:54:00:aa:bb:cc'], inventory: found };
    await withActs({ inspect: async () => ({ is: 'done', seen }) });
    const node = await world.node({ inspect_interface: 'fake' });
    const { run } = await world.runs.start(await world.order(node, 'inspect'));
    return { node, ended: await world.ended(run) };
  },
};

describe.each(Object.entries(kinds))('an inspection %s', (_kind, inspect) => {
  test('runs the rules whose conditions hold, on what was found and on the ports that were made of it', async () => {
    await rule(
      [{ op: 'set-attribute', args: ['resource_class', 'x{inventory[cpu][count]}'] }],
      [{ op: 'gt', args: ['{inventory[cpu][count]}', 4] }],
    );
    await rule([{ op: 'set-attribute', args: ['resource_class', 'never'] }], [{ op: 'eq', args: [1, 2] }], 9);
    await rule([
      { op: 'set-capability', args: ['rack', 'r7'] },
      { op: 'add-trait', args: ['CUSTOM_SEEN'] },
      { op: 'set-attribute', args: ['/extra/disks', '{inventory[disks]}'] },
      { op: 'set-port-attribute', args: ['52:54:00:aa:bb:cc', 'physical_network', 'lab'] },
      { op: 'set-plugin-data', args: ['by', 'rule'] },
      { op: 'log', args: { msg: 'done' } },
    ]);
    const { node, ended } = await inspect();
    expect(ended).toMatchObject({ state: 'succeeded' });
    const row = await nodeOf(node);
    expect(row).toMatchObject({
      provision_state: 'manageable',
      resource_class: 'x8',
      traits: ['CUSTOM_SEEN'],
      extra: { disks: found.disks },
    });
    expect(row.properties).toMatchObject({ cpu_arch: 'x86_64', capabilities: 'rack:r7' });
    expect(await world.sql`select address, physical_network from ports where node_uuid = ${node}`).toEqual([
      { address: '52:54:00:aa:bb:cc', physical_network: 'lab' },
    ]);
    expect((await world.inventory.details.inventory(node))!.plugin_data).toMatchObject({ by: 'rule' });
  });

  test('fails where a rule says so, in its words, and nothing that was found is taken', async () => {
    await rule([{ op: 'set-attribute', args: ['description', 'written'] }], [], 9);
    await rule([{ op: 'fail', args: { msg: 'only {inventory[cpu][count]} cores' } }]);
    const { node, ended } = await inspect();
    expect(ended).toMatchObject({
      state: 'failed',
      last_error: expect.stringContaining('Inspection rule of the test: only 8 cores'),
    });
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'inspect failed', description: null, properties: {} });
    expect(await world.sql`select 1 from ports where node_uuid = ${node}`).toHaveLength(0);
  });
});

test('a regular expression that would never end is given up, and fails the inspection', async () => {
  expect(matching('^Server \\d$', 'Server 9')).toBe(true);
  expect(() => matching('^(a+)+$', `${'a'.repeat(60)}!`)).toThrow(/takes too long/);
  expect(() => matching('(', 'x')).toThrow(/is no regular expression/);
  await rule([{ op: 'log', args: ['x'] }], [{ op: 'matches', args: [`${'a'.repeat(60)}!`, '(a+)+'] }]);
  expect((await kinds['by the BMC']()).ended).toMatchObject({
    state: 'failed',
    last_error: expect.stringContaining('takes too long'),
  });
});
