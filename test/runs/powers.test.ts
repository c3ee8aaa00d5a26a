/** What a recovery says of nodes' power, by what their BMCs answer; without servers. */
import { call } from '../../src/runs/call';
import { type PowerDeps, powerLines } from '../../src/runs/powers';

// What a call is and throws has tests of its own.
jest.mock('../../src/runs/call', () => ({ call: jest.fn() }));
const asked = jest.mocked(call);
beforeEach(() => void asked.mockReset());

const ids = (count: number) =>
  Array.from({ length: count }, (_, nth) => `u${nth}`) as unknown as Parameters<typeof powerLines>[0];
const deps = (node: object | undefined, worker: object | undefined = {}): PowerDeps =>
  ({
    inventory: { nodes: { find: async () => node }, workers: { find: async () => worker } },
  }) as unknown as PowerDeps;
const on = { uuid: 'u0', name: 'n1', driver: 'redfish', conductor_group: '', power_state: 'power on' };

test.each([
  ['the same', 'power on', on, []],
  ['otherwise', 'power off', on, ['node n1: its BMC says power off, the record says power on']],
  [
    'of a node without a name',
    'power off',
    { ...on, name: null },
    ['node u0: its BMC says power off, the record says power on'],
  ],
  [
    'where the record has none',
    'power on',
    { ...on, power_state: null },
    ['node n1: its BMC says power on, the record says nothing of it'],
  ],
  ['nothing', null, on, ['node n1: its BMC does not say whether it is on; the record says power on']],
])('a BMC that says %s', async (_, seen, node, lines) => {
  asked.mockResolvedValue(seen);
  expect(await powerLines(ids(1), deps(node))).toEqual(lines);
});

test('a BMC that cannot be asked is named with why', async () => {
  const unread = 'node n1: its power could not be read from its BMC (the record says power on):';
  asked.mockRejectedValueOnce(new Error('no answer')).mockRejectedValueOnce('odd');
  expect(await powerLines(ids(1), deps(on))).toEqual([`${unread} no answer`]);
  expect(await powerLines(ids(1), deps(on))).toEqual([`${unread} odd`]);
  const alone = {
    ...deps(on),
    inventory: { nodes: { find: async () => on }, workers: { find: async () => undefined } },
  };
  expect(await powerLines(ids(1), alone as unknown as PowerDeps)).toEqual([
    `${unread} no worker of its group is there`,
  ]);
  expect(asked).toHaveBeenCalledTimes(2);
});

test('a node is asked about once, read only and by the system, and one that is gone is not', async () => {
  asked.mockResolvedValue('power on');
  await powerLines([...ids(1), ...ids(1)], deps(on));
  const [[order, { callTimeoutMs }]] = asked.mock.calls as unknown as [
    [Parameters<typeof call>[0], { callTimeoutMs: number }],
  ];
  expect(order).toMatchObject({ node: on, act: 'verify', args: {}, asked: { requester: { system_scope: 'all' } } });
  expect(callTimeoutMs).toBe(15_000);
  expect(await powerLines(ids(1), deps(undefined))).toEqual([]);
  expect(asked).toHaveBeenCalledTimes(1);
});

test('once the time for all is over, the others are named and not asked', async () => {
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  asked.mockImplementation(async () => {
    now = 45_001;
    return 'power on';
  });
  try {
    const lines = await powerLines(ids(30), deps(on));
    expect(asked).toHaveBeenCalledTimes(20);
    expect(lines).toHaveLength(10);
    expect(lines[0]).toMatch(/^node u20: its BMC was not asked/);
  } finally {
    clock.mockRestore();
  }
});
