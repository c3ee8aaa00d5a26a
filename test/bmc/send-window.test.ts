/** A pause between an intent and the wire: what was announced too long ago does not leave, whatever the transport. */
import type { buildConnector } from 'undici';
import { createDrivers } from '../../src/bmc';
import { createSendWindow, whileOpen } from '../../src/bmc/send-window';
import { isTemperError } from '../../src/model/errors';
import { startStandIn } from '../support/ipmi-stand-in';
import { cases, trialOf } from './support/agent-trials';
import { contextWith, hasty, intentsOf, nodeWith, quiet } from './support/context';
import { type RackBench, startRackBench } from './support/rack';
import { startRamdiskBench } from './support/ramdisk';

describe('the window', () => {
  const at = (ms: number) => {
    let now = ms;
    const window = createSendWindow({ settleMs: 20_000 }, () => now);
    return { window, pass: (more: number) => (now += more) };
  };

  test('closes before the settle time is over, after which the next attempt may send', () => {
    const { window, pass } = at(1_000);
    window.open();
    pass(14_999);
    expect(window.isOpen()).toBe(true);
    pass(1);
    expect(window.isOpen()).toBe(false);
  });

  test('is opened anew by every announcement, and does not concern what was not announced', () => {
    const { window, pass } = at(0);
    expect(window.isOpen()).toBe(true);
    window.open();
    pass(60_000);
    window.open();
    expect(window.isOpen()).toBe(true);
    pass(60_000);
    window.drop();
    expect(window.isOpen()).toBe(true);
  });
});

describe('the last look before the wire', () => {
  const connected = (mayStillSend: () => boolean) => {
    const socket = { destroy: jest.fn() };
    const connect = ((_options, callback) => callback(null, socket as never)) as buildConnector.connector;
    const callback = jest.fn();
    whileOpen(connect, mayStillSend, () => new Error('late'))({} as never, callback);
    return { socket, callback };
  };

  test('closes a connection that was made too late, before anything is written', () => {
    const { socket, callback } = connected(() => false);
    expect(socket.destroy).toHaveBeenCalled();
    expect(callback).toHaveBeenCalledWith(new Error('late'), null);
  });

  test('is passed by one that was made in time', () => {
    const { socket, callback } = connected(() => true);
    expect(socket.destroy).not.toHaveBeenCalled();
    expect(callback).toHaveBeenCalledWith(null, socket);
  });

  test('is not taken before the connection is there', () => {
    const mayStillSend = jest.fn(() => true);
    let connection: (() => void) | undefined;
    const connect = ((_options, callback) => {
      connection = () => callback(null, {} as never);
    }) as buildConnector.connector;
    whileOpen(connect, mayStillSend, () => new Error('late'))({} as never, jest.fn());
    expect(mayStillSend).not.toHaveBeenCalled();
    connection!();
    expect(mayStillSend).toHaveBeenCalledTimes(1);
  });
});

describe('Redfish', () => {
  let racks: RackBench;
  beforeAll(async () => {
    racks = await startRackBench({ bmcs: 8 * 2 });
  });
  afterAll(() => racks.close());

  test('a command whose window has closed reaches no BMC, is withdrawn, and leaves with the next attempt', async () => {
    const { run, failure, accepted, state } = racks.bench('openbmc');
    const intents = intentsOf('power_on');
    const error = await failure('power_on', {}, { intents, mayStillSend: () => false });
    expect(error).toMatchObject({ code: 'CommandLate', retry: true });
    expect(error.message).toMatch(/TEMPER_SETTLE_MS/);
    expect(accepted()).toEqual([]);
    expect(state().power.shows).toBe('Off');
    expect(intents.kept.at(-1)?.detail.withdrawn).toBe(true);
    await expect(run('power_on', {}, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
    expect(accepted()).toHaveLength(1);
  });

  test('reads and logins are not held back', async () => {
    const { run } = racks.bench('openbmc');
    await expect(run('verify', {}, { mayStillSend: () => false })).resolves.toMatchObject({ is: 'done' });
  });

  test('each rung of the ladder of preconditions is announced anew: the BMC refused the one before', async () => {
    const { run } = racks.bench('ami');
    const renew = jest.fn(async () => undefined);
    const intents = { ...intentsOf('set_boot_device'), renew };
    await run('set_boot_device', { boot_device: 'pxe' }, { intents });
    expect(renew).toHaveBeenCalled();
  });
});

test('IPMI: a command whose window has closed is not given to ipmitool', async () => {
  const tool = await startStandIn({
    'power status': [{ out: 'Chassis Power is off\n' }],
    'power on': [{ out: 'ok\n' }],
  });
  const drivers = createDrivers({ log: quiet, networks: [], ipmitool: tool.program, limits: hasty });
  const node = nodeWith('ipmi', { ipmi_address: '192.0.2.7', ipmi_username: 'root', ipmi_password: 'a-long-secret' });
  const intents = intentsOf('power_on');
  const thrown: unknown = await drivers.get('ipmi').acts.power_on!(
    node,
    {},
    contextWith(intents, { mayStillSend: () => false }),
  ).catch((error: unknown) => error);
  expect(isTemperError(thrown, 'CommandLate')).toBe(true);
  expect(tool.commands()).toEqual(['power status']);
  expect(intents.kept.at(-1)?.detail.withdrawn).toBe(true);
  await Promise.all([tool.close(), drivers.close()]);
});

test('the ramdisk: a command whose window has closed is not posted, and its questions are asked all the same', async () => {
  const ramdisks = await startRamdiskBench(true);
  const late = { mayStillSend: () => false };
  const step = await trialOf(ramdisks, 'agent_step', cases.agent_step!);
  expect(await step.failure(late)).toMatchObject({ code: 'CommandLate', retry: true });
  expect(step.sent()).toBe(0);
  expect(step.intents.kept.at(-1)?.detail.withdrawn).toBe(true);
  await expect(step.run()).resolves.toMatchObject({ is: 'done' });
  expect(step.sent()).toBe(1);
  const question = await trialOf(ramdisks, 'agent_steps', cases.agent_steps!);
  await expect(question.run(late)).resolves.toMatchObject({ is: 'done' });
  await ramdisks.close();
});
