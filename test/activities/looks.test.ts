/** A look for a waiting caller, by what this worker's drivers can; without servers. */

import { CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { lookActivities } from '../../src/activities/read';
import type { Driver } from '../../src/bmc/contract';
import { TemperError } from '../../src/model/errors';
import type { NodeUuid } from '../../src/model/ids';
import type { ActName } from '../../src/model/lifecycle/steps';
import { quickTiming } from '../support/engine';
import { recordingDriver } from '../support/recording-driver';
import { logOf, storeOf } from '../support/run-doubles';

type Deps = Parameters<typeof lookActivities>[0];

const node = { uuid: 'u1', name: 'n1', driver: 'redfish', driver_info: {}, properties: {} };

const kept = {
  id: '77777777-2222-4333-8444-555555555555',
  holder: 'node',
  holder_id: 'u1',
  path: '/driver_info/redfish_password',
  bound: null,
};
type Over = { readonly withinMs?: number; readonly lanes?: object; readonly password?: string };

const looked = (driver: Driver | undefined, act: ActName, { withinMs = 60_000, lanes, password }: Over = {}) => {
  const driver_info = password === undefined ? {} : { redfish_password: { $secret: kept.id } };
  const { inventory } = storeOf({
    'calls.node': { ...node, driver_info },
    'calls.keep': undefined,
    'secrets.read': password === undefined ? [] : [kept],
  });
  const deps = {
    inventory,
    vault: { open: () => password },
    driverOf: () => driver,
    lanes: lanes ?? { run: (_lane: null, _signal: AbortSignal, work: () => unknown) => work() },
    log: logOf().log,
  } as unknown as Deps;
  const input = { node_uuid: 'u1' as NodeUuid, act, args: {}, withinMs, timing: quickTiming };
  return new MockActivityEnvironment().run(lookActivities(deps).look, input);
};

const withActs = (acts: Driver['acts']): Driver => {
  const { driver } = recordingDriver({});
  return { ...driver, acts, laneKey: () => null };
};

test.each<[string, Driver | undefined, ActName, RegExp?]>([
  ['whose driver this worker does not have', undefined, 'read_boot_device', /anything here: no such driver/],
  ['whose driver has no such look', withActs({}), 'read_boot_device'],
  ['by an act that writes', withActs({ power_on: async () => ({ is: 'done' }) }), 'power_on'],
  ['by an act of the ramdisk', withActs({ agent_steps: async () => ({ is: 'done' }) }), 'agent_steps'],
])('a look at a node %s is refused by name', async (_, driver, act, lacks = /to /) => {
  await expect(looked(driver, act)).rejects.toMatchObject({
    type: 'DriverUnsupported',
    message: expect.stringMatching(new RegExp(`^Driver redfish does not support ${lacks.source}`)),
  });
});

test('a look answers what the driver saw', async () => {
  const driver = withActs({ read_boot_device: async () => ({ is: 'done', value: { boot_device: 'disk' } }) });
  expect(await looked(driver, 'read_boot_device')).toEqual({ boot_device: 'disk' });
});

/** Waits until time is up, and ends with what the signal says. */
const untilTimeIsUp = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('a look whose BMC takes too long says that time was up', async () => {
  const driver = withActs({ read_boot_device: async (_node, _args, { signal }) => untilTimeIsUp(signal) });
  await expect(looked(driver, 'read_boot_device', { withinMs: 1 })).rejects.toMatchObject({
    type: 'Unexpected',
    message: expect.stringContaining('due to timeout'),
  });
});

test('a look that never had its turn says that the BMC is busy with another', async () => {
  const { driver } = recordingDriver({});
  const busy: Driver = {
    ...driver,
    acts: { read_boot_device: async () => ({ is: 'done', value: {} }) },
    laneKey: () => 'bmc-1',
  };
  const lanes = { run: (_lane: string, signal: AbortSignal) => untilTimeIsUp(signal) };
  await expect(looked(busy, 'read_boot_device', { withinMs: 1, lanes })).rejects.toMatchObject({
    type: 'BmcLeaseHeld',
    message: expect.stringContaining('bmc-1'),
  });
});

const says = (thrown: Error, password: string): Promise<string> => {
  const driver = withActs({
    read_boot_device: async () => {
      throw thrown;
    },
  });
  return looked(driver, 'read_boot_device', { password }).then(
    () => 'it did not fail',
    (failure: Error) => failure.message,
  );
};

test('what a look failed with says no secret of its node, whatever threw it', async () => {
  const away = new TemperError('BmcUnreachable', { node: 'n1', bmc: 'b', reason: 'user admin:hunter22 is locked' });
  for (const thrown of [new Error('refused: hunter22 of admin'), away]) {
    const text = await says(thrown, 'hunter22');
    expect(text).toMatch(/refused|locked/);
    expect(text).not.toContain('hunter22');
  }
});

test('the end of a look that is cancelled is left as the engine made it', async () => {
  expect(await says(new CancelledFailure('CANCELLED by hunter22'), 'hunter22')).toBe('CANCELLED by hunter22');
});
