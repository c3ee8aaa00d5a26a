/** BMCs that are silent, busy, lying or forgetful: what an act makes of them. */
import { once } from 'node:events';
import { intentsOf, quickTiming } from './support/context';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
beforeAll(async () => {
  racks = await startRackBench({ bmcs: 8 * 20 });
});
afterAll(() => racks.close());

const reset = '/Actions/ComputerSystem.Reset';

test('a reply lost after the command was executed is found by looking, and the command is not sent again', async () => {
  const { run, fault, accepted } = racks.bench('openbmc');
  fault({ kind: 'drop-after-write', path: reset });
  await expect(run('power_on')).resolves.toMatchObject({ seen: { power_state: 'power on' } });
  expect(accepted()).toHaveLength(1);
});

test('a connection that closes before the command is executed leads to one accepted command after the settle window', async () => {
  const { run, fault, accepted, state } = racks.bench('openbmc');
  fault({ kind: 'drop-before', path: reset });
  await expect(run('power_on')).resolves.toMatchObject({ is: 'done' });
  expect(accepted()).toHaveLength(1);
  expect(state().power.shows).toBe('On');
});

test('a BMC that goes on showing the old power state gets no second command', async () => {
  const { run, fault, accepted } = racks.bench('openbmc');
  fault({ kind: 'wrong-power-state', value: 'Off', seconds: 0.6 });
  await expect(run('power_on')).resolves.toMatchObject({ seen: { power_state: 'power on' } });
  expect(accepted()).toHaveLength(1);
});

test('a worker killed while the BMC shows the old state leaves nothing for the next one to send', async () => {
  const { run, fault, accepted, state } = racks.bench('supermicro-x12');
  const intents = intentsOf('power_on');
  const worker = new AbortController();
  fault({ kind: 'wrong-power-state', value: 'Off', seconds: 0.3 });
  const beat = (details?: Readonly<Record<string, unknown>>) => {
    if (details?.doing === 'waiting' && accepted().length > 0) worker.abort(new Error('killed'));
  };
  await expect(run('power_on', {}, { intents, beat, signal: worker.signal })).rejects.toThrow('killed');
  await expect(run('power_on', {}, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
  expect(accepted()).toHaveLength(1);
  expect(state().power.shows).toBe('On');
});

test('a power state that never arrives ends as a timeout that says what was last seen', async () => {
  const { failure, fault } = racks.bench('openbmc');
  fault({ kind: 'power-stuck', seconds: 60 });
  const error = await failure('power_on', {}, { timing: { ...quickTiming, powerTimeoutMs: 300 } });
  expect(error).toMatchObject({ code: 'BmcTimeout', retry: true, facts: { seen: 'PoweringOn' } });
});

test('a power command that the BMC answers with 500 ends with that answer, though all later looks are good', async () => {
  const { failure, fault } = racks.bench('openbmc');
  fault({ kind: 'http-500', method: 'POST', path: reset, seconds: 60 });
  const timing = { ...quickTiming, powerTimeoutMs: 300, settleMs: 60_000 };
  const error = await failure('power_on', {}, { timing });
  expect(error).toMatchObject({ code: 'BmcTimeout', retry: true });
  expect(error.message).toMatch(/was asked for power on but did not reach it in time; last seen: Off; error of the command: .* answered 500/);
}); // biome-ignore format: short lines

test('a power state that still does not arrive after a second attempt is the end, and the command was sent again', async () => {
  const { failure, fault, accepted } = racks.bench('openbmc');
  const intents = intentsOf('power_on');
  const timing = { ...quickTiming, powerTimeoutMs: 1_000 };
  fault({ kind: 'power-stuck', seconds: 600 });
  expect((await failure('power_on', {}, { intents, timing })).code).toBe('BmcTimeout');
  const error = await failure('power_on', {}, { intents, timing, attempt: 2 });
  expect(error).toMatchObject({ code: 'BmcStuck', retry: false, facts: { seen: 'PoweringOn' } });
  expect(accepted()).toHaveLength(2);
});

test('a power state that arrives late is found by the second attempt', async () => {
  const { run, failure, fault, state } = racks.bench('openbmc');
  const intents = intentsOf('power_on');
  fault({ kind: 'power-stuck', seconds: 1 });
  const timing = { ...quickTiming, powerTimeoutMs: 300 };
  expect((await failure('power_on', {}, { intents, timing })).code).toBe('BmcTimeout');
  await expect(run('power_on', {}, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
  expect(state().power.shows).toBe('On');
});

test('a shutdown that the system ignores is not forced', async () => {
  const { run, failure, fault, accepted } = racks.bench('openbmc');
  await run('power_on');
  fault({ kind: 'ignore-graceful', seconds: 60 });
  const error = await failure('soft_power_off', {}, { timing: { ...quickTiming, softPowerTimeoutMs: 300 } });
  expect(error.code).toBe('BmcStuck');
  expect(accepted().map(({ content }) => content)).toEqual([{ ResetType: 'On' }, { ResetType: 'GracefulShutdown' }]);
});

test('a busy BMC is reported with the pause it asks for', async () => {
  const { failure, fault } = racks.bench('openbmc');
  fault({ kind: 'http-503', retryAfter: 7, method: 'GET' });
  expect(await failure('power_on')).toMatchObject({ code: 'BmcBusy', retry: true, facts: { retryAfterMs: 7000 } });
});

test('a pause of more than two minutes is cut to two minutes', async () => {
  const { failure, fault } = racks.bench('openbmc');
  fault({ kind: 'http-503', retryAfter: 86_400, method: 'GET' });
  expect((await failure('verify')).facts.retryAfterMs).toBe(120_000);
});

test('a command refused for being busy does not make the next attempt wait for it', async () => {
  const { run, failure, fault, accepted } = racks.bench('openbmc');
  const intents = intentsOf('power_on');
  fault({ kind: 'http-503', retryAfter: 0, path: reset });
  expect((await failure('power_on', {}, { intents })).code).toBe('BmcBusy');
  const timing = { ...quickTiming, settleMs: 3_600_000 };
  await expect(run('power_on', {}, { intents, timing, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
  expect(accepted()).toHaveLength(1);
});

test('a BMC that does not answer is given up after the limit, and may be tried again', async () => {
  const { failure, fault } = racks.bench('openbmc', {}, { limits: { answerMs: 100 } });
  fault({ kind: 'hang', ms: 3_000, seconds: 60 });
  expect(await failure('verify')).toMatchObject({ code: 'BmcUnreachable', retry: true });
});

test('an act that waits for a silent BMC stops when its activity must stop', async () => {
  const { run, fault, state } = racks.bench('openbmc');
  fault({ kind: 'hang', ms: 3_000, seconds: 60 });
  const worker = new AbortController();
  const running = run('verify', {}, { signal: worker.signal });
  while ((state().requests.GET ?? 0) === 0) await new Promise((resolve) => setImmediate(resolve));
  const stopped = once(worker.signal, 'abort');
  worker.abort(new Error('stop'));
  await expect(running).rejects.toThrow('stop');
  await stopped;
});

test('looks that fail while waiting are only noted', async () => {
  const { run, fault, accepted } = racks.bench('openbmc');
  const worker = { hurt: false };
  const beat = (details?: Readonly<Record<string, unknown>>) => {
    if (details?.doing !== 'waiting' || worker.hurt) return;
    worker.hurt = true;
    fault({ kind: 'html-504', method: 'GET', remaining: 1 });
    fault({ kind: 'truncated-json', method: 'GET', remaining: 1 });
    fault({ kind: 'drop-before', method: 'GET', remaining: 1 });
  };
  await expect(run('power_on', {}, { beat })).resolves.toMatchObject({ is: 'done' });
  expect(worker.hurt).toBe(true);
  expect(accepted()).toHaveLength(1);
});

test('an answer that is not JSON may be tried again', async () => {
  const { failure, fault } = racks.bench('openbmc', { redfish_auth_type: 'basic' });
  fault({ kind: 'truncated-json', method: 'GET' });
  expect(await failure('verify')).toMatchObject({ code: 'BmcServerError', retry: true });
});

test('a command that comes just after another one is offered again until it is taken', async () => {
  const { bmc, run, accepted } = racks.bench('idrac9');
  racks.rack.pressPowerButton(bmc.index);
  await expect(run('power_off')).resolves.toMatchObject({ seen: { power_state: 'power off' } });
  expect(accepted().filter(({ source }) => source === 'client')).toHaveLength(1);
});

test('settings refused during the self-test are offered again until it is over', async () => {
  const { run, fault, accepted } = racks.bench('ilo6');
  fault({ kind: 'post-lock', seconds: 0.3 });
  await expect(run('set_boot_device', { boot_device: 'pxe' })).resolves.toMatchObject({ is: 'done' });
  expect(accepted()).toHaveLength(1);
});

test.each(['openbmc', 'xcc', 'ami', 'xcc-new'])('an ETag that does not match is read again on %s', async (profile) => {
  const { run, fault, accepted } = racks.bench(profile);
  fault({ kind: 'etag-mismatch', method: 'PATCH', remaining: 1 });
  await expect(run('set_boot_device', { boot_device: 'pxe' })).resolves.toMatchObject({ is: 'done' });
  expect(accepted()).toHaveLength(1);
});

test.each(['idrac9', 'xcc', 'ami'])(
  'an ETag that changes under three writes does not stop the next on %s',
  async (profile) => {
    const { run, fault, accepted } = racks.bench(profile);
    fault({ kind: 'etag-mismatch', method: 'PATCH', remaining: 3 });
    await expect(run('set_boot_device', { boot_device: 'pxe' })).resolves.toMatchObject({ is: 'done' });
    expect(accepted()).toHaveLength(1);
  },
);

test('media that still look inserted after an eject are waited for', async () => {
  const { run, fault, state } = racks.bench('idrac9');
  const image_url = 'http://images.example.org/boot.iso';
  await run('insert_media', { image_url });
  fault({ kind: 'media-stale', seconds: 0.3 });
  await expect(run('insert_media', { image_url })).resolves.toMatchObject({ is: 'done' });
  expect(state().media.CD).toMatchObject({ inserted: true, image: image_url });
});

test('a BMC reset whose reply is lost is recognised by its traces and not sent again', async () => {
  const { run, fault, accepted } = racks.bench('ilo6');
  fault({ kind: 'drop-after-write', path: 'Manager.Reset' });
  await expect(run('reset_bmc')).resolves.toMatchObject({ is: 'done' });
  expect(accepted()).toHaveLength(1);
});

test.each(['idrac9', 'ilo6'])(
  'a BMC reset that left no trace on %s is not repeated: its outcome is unknown',
  async (profile) => {
    const { failure, run, fault, accepted } = racks.bench(profile);
    if (profile === 'idrac9') await run('reset_bmc'); // so that the BMC has a time of its last reset to tell
    const before = accepted().length;
    const intents = intentsOf('reset_bmc');
    fault({ kind: 'http-500', path: 'Manager.Reset' });
    expect((await failure('reset_bmc', {}, { intents })).code).toBe('StepOutcomeUnknown');
    expect((await failure('reset_bmc', {}, { intents, attempt: 2 })).code).toBe('StepOutcomeUnknown');
    expect(accepted()).toHaveLength(before);
  },
);
