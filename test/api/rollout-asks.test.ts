/** What a rollout may be asked to do: verbs, power, baselines of firmware; and what is no plan. */
import { type RolloutWorld, startRolloutWorld } from '../support/rollout-world';
import { owner, type Persona, stranger } from '../support/world';

const url = 'https://images.example.org/x.bin';
let world: RolloutWorld;
beforeAll(async () => {
  world = await startRolloutWorld({ settings: { imageOrigins: ['https://images.example.org'] } });
  await world.runbook('CUSTOM_RESTART');
});
afterAll(() => world?.close());
beforeEach(() => world.setPolicy({ set: 'temper' }));

const asks = (body: object, who: Persona = 'owner-manager') =>
  world.api.as(who, 'POST', '/temper/v1/rollouts', { body });
const power = (target: string, more: object = {}) => ({ verb: 'power', runbook: null, power: { target, ...more } });
const runsOf = (rollout: { uuid: string }) =>
  world.api.sql`
    select r.verb, r.input, n.target_power_state from runs r join nodes n on n.uuid = r.node_uuid where r.batch = ${rollout.uuid}`;

describe('verb power', () => {
  test.each([
    ['power on', 0, 'power on'],
    ['power off', 1, 'power off'],
    ['rebooting', 1, 'power on'],
    ['soft power off', 1, 'power off'],
    ['soft rebooting', 1, 'power on'],
  ])('%s', async (target, interrupted, ends) => {
    const rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) }, ...power(target) });
    expect(rollout).toMatchObject({
      verb: 'power',
      runbook: null,
      summary: { will_run: 1, restarts: interrupted, erased: 0 },
    });
    await world.start(rollout);
    await world.tend(rollout);
    expect(await runsOf(rollout)).toMatchObject([
      { verb: 'power', target_power_state: ends, input: { power: { target } } },
    ]);
    await world.endRuns(rollout);
    await world.tend(rollout);
    expect((await world.show(rollout)).state).toBe('succeeded');
  });

  test('waits for the operating system as long as it says', async () => {
    const rollout = await world.plan({
      select: { nodes: await world.nodes(['r1']) },
      ...power('soft power off', { timeout: '2m' }),
    });
    await world.start(rollout);
    await world.tend(rollout);
    const [run] = await runsOf(rollout);
    expect(run!.input).toMatchObject({ timing: { softPowerTimeoutMs: 120_000 } });
  });

  test('asks the rule of a single power request, at the plan and at each admission', async () => {
    const nodes = await world.nodes(['r1']);
    world.setPolicy({ set: 'temper', overrides: { 'baremetal:node:set_power_state': '!' } });
    const reply = await asks({ select: { nodes }, ...power('rebooting') });
    expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('baremetal:node:set_power_state')]);
    world.setPolicy({ set: 'temper' });
    const rollout = await world.plan({ select: { nodes }, ...power('rebooting') });
    await world.start(rollout);
    world.setPolicy({ set: 'temper', overrides: { 'baremetal:node:set_power_state': '!' } });
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'skipped', rule: 'baremetal:node:set_power_state' }]);
  });

  test('needs the word of the project that uses the node where it interrupts its power', async () => {
    const nodes = await world.nodes(['r1'], { lessee: stranger });
    expect((await world.plan({ select: { nodes }, ...power('rebooting') }, 'operator')).summary).toMatchObject({
      need_consent: 1,
    });
    expect((await world.plan({ select: { nodes }, ...power('power on') }, 'operator')).summary).toMatchObject({
      need_consent: 0,
    });
  });

  test('of a parent is refused where it takes the power from a node of another project', async () => {
    const [own, others] = await world.nodes(['r1', 'r1']);
    await world.nodes(['r1'], { parent_node: own });
    await world.nodes(['r1'], { parent_node: others, lessee: stranger });
    const body = { select: { nodes: [own, others] }, ...power('power off') };
    const rollout = await world.plan(body, 'operator');
    expect(await world.targets(rollout)).toMatchObject([
      { node_uuid: own, state: 'pending', code: 'leased' },
      { node_uuid: others, state: 'refused', code: 'leased' },
    ]);
    world.setPolicy({ set: 'temper', overrides: { 'temper:rollout:without_consent': 'role:admin' } });
    expect((await world.plan(body, 'operator')).summary).toMatchObject({ will_run: 2, need_consent: 0 });
  });

  test.each([
    [{ verb: 'power' }, 'says which change'],
    [{ verb: 'power', power: { target: 'up' } }, 'power'],
    [{ verb: 'power', power: { target: 'rebooting' }, runbook: 'CUSTOM_RESTART' }, 'does not come with verb power'],
    [{ verb: 'inspect', power: { target: 'rebooting' } }, 'comes with verb power alone'],
  ])('%j is no plan', async (body, text) => {
    const reply = await asks({ select: { nodes: await world.nodes(['r1']) }, ...body });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(text)]);
  });
});

describe('a baseline of firmware', () => {
  const baseline = [{ vendor: 'dell inc.', components: { bios: { version: '2.2', url } } }];
  const withVersion = async (version: string) => {
    const properties = world.api.sql.json({ vendor: 'Dell Inc.', model: 'R760' });
    const [node] = await world.nodes(['r'], { properties, provision_state: 'manageable' });
    await world.api.inventory.details.write(node!, { firmware: [{ component: 'bios', current_version: version }] });
    return node!;
  };
  const work = { verb: 'clean', runbook: null, baseline };

  test('is brought to nodes that differ, and leaves the others alone', async () => {
    const [old, current] = [await withVersion('2.1'), await withVersion('2.2')];
    const rollout = await world.plan({ select: { nodes: [old, current] }, ...work }, 'operator');
    expect(await world.targets(rollout)).toMatchObject([
      { node_uuid: old, state: 'pending' },
      { node_uuid: current, state: 'refused', code: 'firmware_current' },
    ]);
  });

  test('is begun with the steps of what differs', async () => {
    const node = await withVersion('2.1');
    const consent = { 'temper:rollout:without_consent': 'role:admin' };
    world.setPolicy({ set: 'temper', overrides: consent });
    const rollout = await world.plan({ select: { nodes: [node] }, ...work }, 'operator');
    await world.start(rollout, {}, 'operator');
    await world.tend(rollout);
    const [run] = await runsOf(rollout);
    expect(run).toMatchObject({
      verb: 'clean',
      input: { steps: [{ interface: 'firmware', step: 'update', args: { settings: [{ component: 'bios', url }] } }] },
    });
  });

  test('that all nodes have is nothing to do', async () => {
    const reply = await asks({ select: { nodes: [await withVersion('2.2')] }, ...work }, 'operator');
    expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('firmware_current')]);
  });

  test.each([
    [{ verb: 'inspect', runbook: null }, 'comes with verb service or clean'],
    [{ runbook: 'CUSTOM_RESTART' }, 'comes without a runbook'],
  ])('%j is no plan', async (more, text) => {
    const reply = await asks({ select: { nodes: [await withVersion('2.1')] }, ...work, ...more }, 'operator');
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(text)]);
  });
});

describe('parameters of a runbook', () => {
  const device = { name: 'device', schema: { type: 'string', enum: ['pxe', 'disk'] } };
  const note = { name: 'note', schema: { type: 'string' }, secret: true };
  beforeAll(async () => {
    const args = { boot_device: { $param: 'device' } };
    const steps = [{ interface: 'management', step: 'set_boot_device', order: 1, args }];
    await world.posted('operator', '/v1/runbooks', { name: 'CUSTOM_BOOT', public: true, steps });
    await world.posted('operator', '/v1/runbooks', { name: 'CUSTOM_NOTE', public: true, steps });
    for (const [name, parameters] of [
      ['CUSTOM_BOOT', [device]],
      ['CUSTOM_NOTE', [device, note]],
    ] as const) {
      const path = `/temper/v1/runbooks/${name}/parameters`;
      expect((await world.api.as('operator', 'PUT', path, { body: { parameters } })).status).toBe(200);
    }
  });
  const work = async (runbook = 'CUSTOM_BOOT') => ({
    runbook,
    select: { nodes: await world.nodes(['r1'], { traits: [runbook] }) },
  });

  test('are given with the plan, and are in the steps of each run', async () => {
    const rollout = await world.plan({ ...(await work()), parameters: { device: 'disk' } });
    await world.start(rollout);
    await world.tend(rollout);
    const [run] = await runsOf(rollout);
    expect(run!.input.steps).toMatchObject([{ step: 'set_boot_device', args: { boot_device: 'disk' } }]);
  });

  test.each([
    [{}, 409, 'is missing, and has no default'],
    [{ parameters: { device: 'floppy' } }, 409, 'device'],
    [{ parameters: { devise: 'disk' } }, 409, 'Did you mean device?'],
    [{ parameters: { device: 'disk' }, runbook: null, verb: 'inspect' }, 400, 'come with a runbook'],
    [{ parameters: 'disk' }, 400, 'parameters'],
  ])('%j is no plan', async (more, status, text) => {
    const reply = await asks({ ...(await work()), ...more });
    expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(text)]);
  });

  test('that are secret are refused, for a plan is shown as it was asked for', async () => {
    const reply = await asks({ ...(await work('CUSTOM_NOTE')), parameters: { device: 'disk', note: 'my word' } });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('note is secret')]);
    expect(reply.text).not.toContain('my word');
  });
});

describe('what is no plan', () => {
  test('for want of nodes that may run, says what refuses the others', async () => {
    const [one, other] = await world.nodes(['r1', 'r1']);
    await world.api.sql`update nodes set provision_state = 'manageable' where uuid = ${other!}`;
    const reply = await asks({
      runbook: 'CUSTOM_RESTART',
      select: { nodes: [one, other] },
      waves: [{ size: 1 }, { size: 1 }, { rest: true }],
    });
    expect([reply.status, reply.text]).toEqual([
      400,
      expect.stringMatching(
        /wave 2 would be empty: 1 node would run, and 1 is in waves before it\. Of 2 selected nodes are refused: 1 \w+: /,
      ),
    ]);
  });

  const plain = async (over: object) => ({
    runbook: 'CUSTOM_RESTART',
    select: { nodes: await world.nodes(['r1', 'r1']) },
    ...over,
  });

  test.each([
    ['an empty wave', { waves: [{ size: 1 }, { size: 1 }, { rest: true }] }, 400, 'wave 3 would be empty'],
    ['nodes in no wave', { waves: [{ size: 1 }] }, 400, 'are in no wave'],
    ['a wave of 0', { waves: [{ size: 0 }] }, 400, 'waves'],
    ['a budget of 0', { budget: { total: 0 } }, 400, 'must be a whole number from 1 on'],
    ['a budget of 0%', { budget: { total: '0%' } }, 400, 'must be a whole number from 1 on'],
    ['an unknown key', { wavess: [] }, 400, 'Unexpected arguments: wavess (did you mean waves?).'],
    ['a key that is near none', { nonsense_of_mine: [] }, 400, 'Unexpected arguments: nonsense_of_mine.'],
    [
      'an unknown key of a wave',
      { waves: [{ rest: true, soack: '1m' }] },
      400,
      'waves.0: has no field soack (did you mean soak?)',
    ],
    [
      'an unknown key of the budget',
      { budget: { totall: 1 } },
      400,
      'budget: has no field totall (did you mean total?)',
    ],
    [
      'a wave that has a wrong size',
      { waves: [{ size: 'big' }, { rest: true }] },
      400,
      'waves.0.size: must be a whole number from 1 on',
    ],
    [
      'a soak of more than a week',
      { waves: [{ rest: true, soak: '169h' }] },
      400,
      'waves.0.soak: must be at most 168h',
    ],
    [
      'a soak without its unit',
      { waves: [{ rest: true, soak: '30' }] },
      400,
      'waves.0.soak: must be a duration such as 90s, 30m or 4h',
    ],
    ['a text for a list', { waves: 'all' }, 400, 'waves: must be a list, not a string'],
    [
      'a gate that is none',
      { waves: [{ rest: true, gate: { metric: { query: 'up' } } }] },
      400,
      'waves.0.gate.metric: needs at_least, at_most or both',
    ],
    ['domains that tenants write', { spread: [{ by: 'extra.rack', max: 1 }] }, 400, 'written by tenants'],
  ])('%s', async (_, over, status, text) => {
    const reply = await asks(await plain(over));
    expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(text)]);
  });

  test('an empty effect: every node refused, with the reasons', async () => {
    const reply = await asks({
      runbook: 'CUSTOM_RESTART',
      select: { nodes: await world.nodes(['r1'], { traits: [] }) },
    });
    expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('1 trait')]);
  });

  test('an empty selection', async () => {
    const reply = await asks({ runbook: 'CUSTOM_RESTART', select: { query: { 'properties.rack': ['no such rack'] } } });
    expect(reply.status).toBe(409);
  });

  test.each([
    'driver_info.redfish_address',
    'driver_internal_info.x',
    'extra.secret',
    'instance_info',
    'last_error',
    'reservation',
    'nonsense',
  ])('a query by %s, which is not shown to all who see the node', async (key) => {
    const reply = await asks({ runbook: 'CUSTOM_RESTART', select: { query: { [key]: ['x'] } } }, 'operator');
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('is nothing to choose nodes by')]);
  });

  test('a withdrawn revision, named as what keeps each node from it', async () => {
    await world.runbook('CUSTOM_GONE');
    const nodes = await world.nodes(['r1'], { traits: ['CUSTOM_GONE'] });
    await world.posted('operator', '/temper/v1/runbooks/CUSTOM_GONE/revisions/1/withdraw', { reason: 'bricks' });
    const reply = await asks({ runbook: 'CUSTOM_GONE', select: { nodes } });
    expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('withdrawn')]);
  });

  test('more than 100,000 nodes', async () => {
    await world.api.sql`
      insert into nodes (driver, owner, properties)
      select 'fake-hardware', ${owner}, '{"rack": "crowd"}' from generate_series(1, 100001)`;
    const reply = await asks({ verb: 'inspect', select: { query: { 'properties.rack': ['crowd'] } } });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('more than 100000 nodes')]);
    const named = Array.from({ length: 100_001 }, (_, index) => `n${index}`);
    expect((await asks({ verb: 'inspect', select: { nodes: named } })).status).toBe(400);
    await world.api.sql`delete from nodes where properties ->> 'rack' = 'crowd'`;
  });
});

describe('nodes that the caller does not see', () => {
  const hidden = () => world.nodes(['attic', 'attic'], { owner: stranger, traits: ['CUSTOM_RESTART'] });
  const plainOf = (reply: { text: string }, node: string) => reply.text.replaceAll(node, 'N');

  test('are as if they were not there, by name, by query, in counts and in domains', async () => {
    const nodes = await hidden();
    const missing = '00000000-0000-4000-8000-000000000000';
    const [one, none] = [
      await asks({ runbook: 'CUSTOM_RESTART', select: { nodes: [nodes[0]] } }),
      await asks({ runbook: 'CUSTOM_RESTART', select: { nodes: [missing] } }),
    ];
    expect([one.status, plainOf(one, nodes[0]!)]).toEqual([none.status, plainOf(none, missing)]);
    const queried = (select: object) => asks({ runbook: 'CUSTOM_RESTART', select });
    const [byRack, byNothing] = [
      await queried({ query: { 'properties.rack': ['attic'] } }),
      await queried({ query: { 'properties.rack': ['no such rack'] } }),
    ];
    expect([byRack.status, byRack.text]).toEqual([byNothing.status, byNothing.text]);
    const own = await world.nodes(['attic']);
    const rollout = await world.plan({
      select: { query: { 'properties.rack': ['attic'] } },
      spread: [{ by: 'properties.rack', max: '50%' }],
    });
    expect(rollout.summary).toMatchObject({ selected: 1, worst: [{ nodes: 1 }] });
    expect((await world.targets(rollout)).map((one: { node_uuid: string }) => one.node_uuid)).toEqual(own);
    expect(rollout.counters.find((one: { scope: string }) => one.scope === 'properties.rack')).toMatchObject({
      most: 1,
    });
  });
});
