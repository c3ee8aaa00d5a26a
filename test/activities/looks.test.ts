/** A look for a waiting caller, by what this worker's drivers can; without servers. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { lookActivities } from '../../src/activities/read';
import type { Driver } from '../../src/bmc/contract';
import type { NodeUuid } from '../../src/model/ids';
import type { ActName } from '../../src/model/lifecycle/steps';
import { quickTiming } from '../support/engine';
import { recordingDriver } from '../support/recording-driver';
import { logOf, storeOf } from '../support/run-doubles';

type Hands = Parameters<typeof lookActivities>[0];

const node = { uuid: 'u1', name: 'n1', driver: 'redfish', driver_info: {}, properties: {} };

const looked = (driver: Driver | undefined, act: ActName) => {
  const { inventory } = storeOf({ 'calls.node': node, 'calls.keep': undefined, 'secrets.read': [] });
  const hands = {
    inventory,
    vault: {},
    driverOf: () => driver,
    lanes: { run: (_lane: null, _signal: AbortSignal, work: () => unknown) => work() },
    log: logOf().log,
  } as unknown as Hands;
  const input = { node_uuid: 'u1' as NodeUuid, act, args: {}, withinMs: 60_000, timing: quickTiming };
  return new MockActivityEnvironment().run(lookActivities(hands).look, input);
};

const withActs = (acts: Driver['acts']): Driver => {
  const { driver } = recordingDriver({});
  return { ...driver, acts, laneKey: () => null };
};

test.each<[string, Driver | undefined, ActName]>([
  ['whose driver this worker does not have', undefined, 'read_boot_device'],
  ['whose driver has no such look', withActs({}), 'read_boot_device'],
  ['by an act that writes', withActs({ power_on: async () => ({ is: 'done' }) }), 'power_on'],
])('a look at a node %s is refused by name', async (_, driver, act) => {
  await expect(looked(driver, act)).rejects.toMatchObject({
    type: 'DriverUnsupported',
    message: expect.stringMatching(/^Driver redfish does not support to /),
  });
});

test('a look answers what the driver saw', async () => {
  const driver = withActs({ read_boot_device: async () => ({ is: 'done', value: { boot_device: 'disk' } }) });
  expect(await looked(driver, 'read_boot_device')).toEqual({ boot_device: 'disk' });
});
