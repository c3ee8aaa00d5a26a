/** Nodes with a parent: what a request to one of them does to the others, and that it needs their rights too. */
import { faultOf } from '../support/api';
import { holder, type Provisioning, startProvisioning } from '../support/provisioning';
import { lessee, owner, type Persona, stranger } from '../support/world';

let at: Provisioning;
let parent: string;
let child: string;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at.api.close());
beforeEach(async () => {
  parent = await at.fresh('active');
  await at.set({ power_state: 'power on' });
  const made = await at.api.as('operator', 'POST', '/v1/nodes', {
    body: {
      name: 'dpu',
      driver: 'redfish',
      owner,
      parent_node: parent,
      driver_info: { redfish_address: 'https://192.0.2.8' },
    },
  });
  expect(made.status).toBe(201);
  child = made.body.uuid;
  await setChild({ provision_state: 'active', power_state: 'power on', owner, lessee });
});

const setChild = (columns: Record<string, unknown>) =>
  at.api.sql`update nodes set ${at.api.sql(columns)} where uuid = ${child}`;
const power = (target: string, { who = 'lessee-member', of = 'n1' }: { who?: Persona; of?: string } = {}) =>
  at.api.as(who, 'PUT', `/v1/nodes/${of}/states/power`, { body: { target } });
const planned = () => at.api.runs.started.map(({ steps }) => steps.map(({ step, on }) => [step, on?.name]));

describe('powering a parent off', () => {
  test('powers its children off first', async () => {
    expect((await power('power off')).status).toBe(202);
    expect(planned()).toEqual([
      [
        ['power off', 'dpu'],
        ['power off', undefined],
      ],
    ]);
  });

  test.each([
    [{ power_state: 'power off' }],
    [{ driver_info: { redfish_address: 'https://192.0.2.8', has_dedicated_power_supply: true } }],
  ])('leaves a child alone that is not concerned, whichever project has it: %j', async (columns) => {
    const { driver_info, ...plain } = { driver_info: undefined, ...columns };
    await setChild({
      lessee: stranger,
      owner: stranger,
      ...plain,
      ...(driver_info && { driver_info: at.api.sql.json(driver_info) }),
    });
    expect((await power('power off')).status).toBe(202);
    expect(planned()).toEqual([[['power off', undefined]]]);
  });

  test.each([
    // whose the child is               who              says
    [{ owner: stranger, lessee: null }, 'lessee-member', /power of a related node that you may not switch/],
    [{ owner, lessee: stranger }, 'lessee-admin', /power of a related node that you may not switch/],
    [{ owner: stranger, lessee: null }, 'owner-admin', /power of a related node that you may not switch/],
  ] as const)('needs the right to switch the child: %j as %s', async (columns, who, says) => {
    await setChild({ ...columns, reservation: holder });
    const reply = await power('power off', { who });
    expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringMatching(says)]);
    expect(faultOf(reply)).not.toMatch(/dpu|busy/);
    expect(faultOf(reply)).not.toContain(child);
    expect(at.asked()).toBe(0);
  });

  test('names the child to who may see it', async () => {
    at.api.setPolicy({ set: 'temper', overrides: { 'baremetal:node:set_power_state': 'project_id:%(node.lessee)s' } });
    try {
      await setChild({ lessee: stranger });
      await at.set({ lessee: owner });
      const reply = await power('power off', { who: 'owner-member' });
      expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('(dpu)')]);
    } finally {
      at.api.setPolicy({ set: 'temper' });
    }
  });

  test.each([
    [{ disable_power_off: true }, 409, /Powering off node dpu is disabled/],
    [{ reservation: holder }, 409, /dpu is busy/],
    [{ provision_state: 'cleaning' }, 400, /"dpu" while it is in state "cleaning"/],
    [{ conductor_group: 'nowhere' }, 503, /No worker/],
  ])('is refused as for the child itself: %j', async (columns, status, says) => {
    await setChild(columns);
    const reply = await power('power off');
    expect([reply.status, faultOf(reply)]).toEqual([status, expect.stringMatching(says)]);
    expect(at.asked()).toBe(0);
  });

  test('waits for the end of a freeze of the child', async () => {
    await at.api.as('operator', 'POST', `/temper/v1/nodes/${child}/freezes`, { body: { reason: 'fan swap' } });
    const reply = await power('power off');
    expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringMatching(/dpu.*fan swap/)]);
    expect(at.asked()).toBe(0);
  });
});

describe('powering a child on', () => {
  beforeEach(async () => {
    await at.set({ power_state: 'power off' });
    await setChild({ power_state: 'power off' });
  });

  test('powers its parent on first', async () => {
    expect((await power('power on', { of: 'dpu' })).status).toBe(202);
    expect(planned()).toEqual([
      [
        ['power on', 'n1'],
        ['power on', undefined],
      ],
    ]);
  });

  test('needs the right to switch the parent', async () => {
    await at.set({ lessee: stranger });
    const reply = await power('power on', { of: 'dpu' });
    expect([reply.status, faultOf(reply)]).toEqual([403, expect.not.stringContaining('n1')]);
    expect((await power('power on', { of: 'dpu', who: 'owner-member' })).status).toBe(202);
  });

  test.each([
    [{ provision_state: 'cleaning' }, 400],
    [{ reservation: holder }, 409],
  ])('is refused as for the parent itself: %j', async (columns, status) => {
    await at.set(columns);
    expect((await power('power on', { of: 'dpu' })).status).toBe(status);
    expect(at.asked()).toBe(0);
  });
});

describe('steps on child nodes', () => {
  const step = { interface: 'bios', step: 'factory_reset', execute_on_child_nodes: true };
  const service = (who: Persona = 'operator') => at.ask({ target: 'service', service_steps: [step] }, { who });

  test('run on each child', async () => {
    expect((await service()).status).toBe(202);
    expect(planned()).toEqual([[['factory_reset', 'dpu']]]);
  });

  test('need the right to free steps on the child as well', async () => {
    expect((await service('owner-manager')).status).toBe(202);
    await at.set({ provision_state: 'active', owner: lessee, lessee: null });
    await setChild({ owner: stranger, lessee });
    const before = at.asked();
    expect((await service('lessee-admin')).status).toBe(403);
    expect(at.asked()).toBe(before);
  });

  test('are bound by the rules of single steps on the child', async () => {
    const overrides = { 'baremetal:step:execute:bios.factory_reset': 'project_id:%(node.lessee)s' };
    at.api.setPolicy({ set: 'temper', overrides });
    try {
      await at.set({ owner, lessee: owner });
      await setChild({ owner, lessee });
      expect((await service('owner-admin')).status).toBe(403);
      await setChild({ lessee: owner });
      expect((await service('owner-admin')).status).toBe(202);
    } finally {
      at.api.setPolicy({ set: 'temper' });
    }
  });

  test('are refused while the child is in maintenance', async () => {
    await setChild({ maintenance: true });
    const reply = await service();
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(/dpu.*maintenance/)]);
    expect(at.asked()).toBe(0);
  });

  test('are counted before they are put together: arguments times children, and steps times children', async () => {
    const rows = Array.from({ length: 60 }, (_, nth) => ({
      name: `dpu-${nth}`,
      driver: 'redfish',
      owner,
      parent_node: parent,
      provision_state: 'active',
      driver_info: at.api.sql.json({ redfish_address: 'https://192.0.2.9' }),
    }));
    await at.api.sql`insert into nodes ${at.api.sql(rows as never)}`;
    const ask = (steps: object[]) => at.ask({ target: 'service', service_steps: steps }, { who: 'operator' });
    const settings = [{ name: 'Banner', value: 'x'.repeat(2_000) }];
    const large = await ask([{ ...step, step: 'apply_configuration', args: { settings } }]);
    expect([large.status, faultOf(large)]).toEqual([400, expect.stringContaining('more bytes than a run carries')]);
    const many = await ask([step, step]);
    expect([many.status, faultOf(many)]).toEqual([400, expect.stringContaining('A run has at most 100 steps')]);
    expect(at.asked()).toBe(0);
  });

  test('of which one is named twice run on it once', async () => {
    const steps = [{ ...step, limit_child_node_execution: [child, child] }];
    expect((await at.ask({ target: 'service', service_steps: steps }, { who: 'operator' })).status).toBe(202);
    expect(planned()).toEqual([[['factory_reset', 'dpu']]]);
  });
});
