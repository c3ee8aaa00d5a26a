/** Firmware, the BMC's clock and the interrupt: what is sent once, how it is followed, and when it counts as done. */
import type { IncomingMessage } from 'node:http';
import { plainUrls } from '../../src/bmc/redfish/transport/plain-urls';
import { intentsOf, quickTiming } from './support/context';
import { plainBmc, startDouble } from './support/double';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
beforeAll(async () => {
  racks = await startRackBench({ bmcs: 8 * 14, timing: { firmwareTaskMs: 60 } });
});
afterAll(() => racks.close());

const courtesy = { spacingMs: 0, afterWriteMs: 0, loginSpacingMs: 0, reads: 2 };
const timing = { ...quickTiming, pollMs: 3 };
const short = { ...timing, softPowerTimeoutMs: 150, settleMs: 50 };

const benchOf = (profile: string) => {
  const bench = racks.bench(profile, {}, { limits: { courtesy } });
  return {
    ...bench,
    run: ((act, args, more) => bench.run(act, args, { timing, ...more })) as typeof bench.run,
    failure: ((act, args, more) => bench.failure(act, args, { timing, ...more })) as typeof bench.failure,
    /** Updates that the BMC has taken. */
    updates: () => bench.accepted().filter(({ subject }) => subject === 'firmware'),
    firmware: () => bench.state().firmware,
    boots: () => bench.state().boot.boots,
  };
};

const image = (file: string) => `http://images.example.org/${file}`;
const bios = { settings: [{ component: 'bios', url: image('bios-9.8.7.bin') }] };
const bmc = { settings: [{ component: 'bmc', url: image('bmc-7.6.5.bin') }] };

describe('updates', () => {
  test.concurrent.each(['idrac9', 'ilo5', 'xcc', 'supermicro-x12', 'ami', 'openbmc', 'ilo6', 'xcc-new'])(
    'the BIOS of %s gets its version by one command and one restart',
    async (profile) => {
      const { run, firmware, boots, updates } = benchOf(profile);
      await run('power_on');
      const outcome = await run('update_firmware', bios);
      expect(outcome).toMatchObject({ is: 'done', note: 'bios 9.8.7' });
      expect(outcome.seen?.firmware).toContainEqual({
        component: 'bios',
        current_version: '9.8.7',
        last_version_flashed: '9.8.7',
      });
      expect([firmware().bios, boots(), updates().length]).toEqual(['9.8.7', 2, 1]);
      expect(updates()[0]!.content).toEqual({ ImageURI: bios.settings[0]!.url, TransferProtocol: 'HTTP' });
    },
  );

  test.concurrent.each(['idrac9', 'openbmc'])(
    'the BMC of %s is waited for while it restarts, the host is left alone',
    async (profile) => {
      const { run, firmware, boots, state } = benchOf(profile);
      await run('power_on');
      await expect(run('update_firmware', bmc)).resolves.toMatchObject({ note: 'bmc 7.6.5' });
      expect([firmware().bmc, boots(), state().power.shows]).toEqual(['7.6.5', 1, 'On']);
    },
  );

  test.concurrent('several components are updated one after the other, each by its own command', async () => {
    const { bmc: seen, run, firmware, updates } = benchOf('ilo6');
    await run('power_on');
    const nic = { component: `nic:${seen.serial}N1`, url: image('nic-4.5.6.bin') };
    await run('update_firmware', { settings: [...bmc.settings, nic, ...bios.settings] });
    expect(firmware()).toEqual({ bios: '9.8.7', bmc: '7.6.5', nic: '4.5.6' });
    expect(updates()).toHaveLength(3);
  });

  test.concurrent('an image that is named after the version that runs is flashed again', async () => {
    const { run, firmware, updates } = benchOf('ami');
    const settings = [{ component: 'bios', url: image(`bios-${firmware().bios}.bin`) }];
    await expect(run('update_firmware', { settings })).resolves.toMatchObject({ is: 'done' });
    expect(updates()).toHaveLength(1);
  });

  test.concurrent.each([
    ['a component that the node lacks', { component: 'nic:none', url: image('x') }, 'it has: bios, bmc, nic:'],
    ['a component of no known kind', { component: 'psu', url: image('x') }, 'psu is not known'],
    ['an address that is not http', { component: 'bios', url: 'ftp://images.example.org/x' }, 'http:// or https://'],
  ])('%s is refused before anything is sent', async (_, item, reason) => {
    const { failure, accepted } = benchOf('ami');
    const error = await failure('update_firmware', { settings: [item] });
    expect(error).toMatchObject({ code: 'InvalidStepArgs', retry: false });
    expect(error.message).toContain(reason);
    expect(accepted()).toHaveLength(0);
  });

  test.concurrent('a BMC without an update service does not offer it', async () => {
    const root = {
      status: 200,
      body: { Systems: { '@odata.id': '/redfish/v1/Systems' }, Managers: { '@odata.id': '/m' } },
    };
    const double = await startDouble(
      plainBmc({
        'GET /redfish/v1/': root,
        'GET /m': { status: 200, body: { Members: [{ '@odata.id': '/m/1' }] } },
        'GET /m/1': { status: 200, body: { FirmwareVersion: '1' } },
      }),
    );
    const { failure } = racks.bench('ami', { redfish_address: double.url, redfish_auth_type: 'basic' });
    expect(await failure('update_firmware', bios)).toMatchObject({ code: 'BmcUnsupported' });
    await double.close();
  });
});

describe('BMCs that lie about updates', () => {
  test.concurrent('a version that shows long after its task is waited for', async () => {
    const { run, fault, updates } = benchOf('xcc');
    fault({ kind: 'version-late', ms: 400, seconds: 60 });
    await expect(run('update_firmware', bmc)).resolves.toMatchObject({ note: 'bmc 7.6.5' });
    expect(updates()).toHaveLength(1);
  });

  test.concurrent('a BIOS whose task ends with a reboot pending is restarted once', async () => {
    const { run, fault, boots, updates } = benchOf('xcc');
    await run('power_on');
    fault({ kind: 'work-at-boot', seconds: 60 });
    const outcome = await run('update_firmware', bios);
    expect(outcome).toMatchObject({ note: 'bios 9.8.7', seen: { power_state: 'power on' } });
    expect([boots(), updates().length]).toEqual([2, 1]);
  });

  test.concurrent.each([
    ['task-fails', 'nothing was changed'],
    ['task-critical', 'Critical'],
    ['work-lost', 'its task ended well, but the BMC shows version'],
  ] as const)('%s is a failure, and the engine’s next attempt sends nothing', async (kind, reason) => {
    const { failure, fault, updates } = benchOf('supermicro-x12');
    fault({ kind, seconds: 60 });
    const intents = intentsOf('update_firmware');
    const error = await failure('update_firmware', bmc, { intents, timing: short });
    expect(error).toMatchObject({ code: 'BmcJobFailed', retry: false });
    expect(error.message).toContain(reason);
    expect((await failure('update_firmware', bmc, { intents, attempt: 2 })).message).toBe(error.message);
    expect(updates()).toHaveLength(1);
  });

  test.concurrent('a task that is forgotten with the restart of the BMC is made up for by the version', async () => {
    const { run, fault, updates } = benchOf('openbmc');
    fault({ kind: 'task-forgotten', seconds: 60 });
    await expect(run('update_firmware', bmc)).resolves.toMatchObject({ note: 'bmc 7.6.5' });
    expect(updates()).toHaveLength(1);
  });

  test.concurrent('a task that never ends is given up with advice', async () => {
    const { failure, fault, updates } = benchOf('openbmc');
    fault({ kind: 'task-stuck', seconds: 60 });
    const timing = { ...short, limits: { once: { startToCloseMs: 200 } } };
    expect(await failure('update_firmware', bmc, { timing })).toMatchObject({ code: 'BmcJobEndless', retry: false });
    expect(updates()).toHaveLength(1);
  });

  test.concurrent('a task that vanishes without effect is an outcome that cannot be known', async () => {
    const { failure, fault, updates } = benchOf('openbmc');
    fault({ kind: 'task-vanishes', seconds: 60 });
    fault({ kind: 'task-stuck', seconds: 60 });
    const intents = intentsOf('update_firmware');
    expect((await failure('update_firmware', bmc, { intents, timing: short })).code).toBe('StepOutcomeUnknown');
    expect((await failure('update_firmware', bmc, { intents, attempt: 2 })).code).toBe('StepOutcomeUnknown');
    expect(updates()).toHaveLength(1);
  });
});

describe('a worker killed in the middle of an update', () => {
  test.concurrent.each(['accepted', 'waiting', 'waiting for the BMC to settle'])(
    'while %s leaves nothing to send',
    async (doing) => {
      const { run, firmware, updates } = benchOf('ilo5');
      const intents = intentsOf('update_firmware');
      const worker = new AbortController();
      const beat = (details?: Readonly<Record<string, unknown>>) => {
        if (details?.doing === doing) worker.abort(new Error('killed'));
      };
      await expect(run('update_firmware', bmc, { intents, beat, signal: worker.signal })).rejects.toThrow('killed');
      await expect(run('update_firmware', bmc, { intents, attempt: 2 })).resolves.toMatchObject({ note: 'bmc 7.6.5' });
      expect([firmware().bmc, updates().length]).toEqual(['7.6.5', 1]);
    },
  );

  test.concurrent('the next attempt may begin while the BMC is away', async () => {
    const { run, state, updates } = benchOf('openbmc');
    const intents = intentsOf('update_firmware');
    const worker = new AbortController();
    const beat = () => {
      if (state().manager.downUntil !== null) worker.abort(new Error('killed'));
    };
    await expect(run('update_firmware', bmc, { intents, beat, signal: worker.signal })).rejects.toThrow('killed');
    await expect(run('update_firmware', bmc, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
    expect(updates()).toHaveLength(1);
  });

  test.concurrent('an update whose answer was lost is found by its task', async () => {
    const { run, fault, updates } = benchOf('ami');
    fault({ kind: 'drop-after-write', path: 'SimpleUpdate' });
    await expect(run('update_firmware', bios)).resolves.toMatchObject({ note: 'bios 9.8.7' });
    expect(updates()).toHaveLength(1);
  });
});

test('the address of an image is not kept in intents, shown to operators or named in errors', async () => {
  const { run, failure, fault } = benchOf('ami');
  const settings = [{ component: 'bios', url: 'https://images.example.org/bios-1.2.3.bin?token=not-for-logs' }];
  const shown: unknown[] = [];
  const intents = intentsOf('update_firmware');
  fault({ kind: 'task-fails', remaining: 1 });
  const more = { intents, beat: (details: unknown) => void shown.push(details) };
  const error = await failure('update_firmware', { settings }, more);
  await run('update_firmware', { settings }, more);
  expect(intents.kept.length).toBeGreaterThan(3);
  expect(JSON.stringify([intents.kept, shown, error.message, error.facts])).not.toContain('not-for-logs');
});

test.each([
  ['GET https://me:not-for-logs@h.example.org/x.bin failed', 'GET https://h.example.org/x.bin failed'],
  ["cannot read 'http://h/x.bin?token=not-for-logs'", "cannot read 'http://h/x.bin"],
  ['http://h/x.bin#not-for-logs and http://h/y', 'http://h/x.bin and http://h/y'],
])('what a BMC says of an address is repeated without its secrets: %s', (said, told) => {
  expect(plainUrls(said)).toBe(told);
});

test('a BMC that quotes the address of the image in its refusal does not get its token into the error', async () => {
  const quoting = (req: IncomingMessage) =>
    req.url === '/up'
      ? { status: 400, body: { error: { message: 'cannot fetch https://h.example.org/b.bin?token=not-for-logs' } } }
      : updatable(req);
  const link = (path: string) => ({ '@odata.id': path });
  const updatable = plainBmc({
    'GET /redfish/v1/': {
      status: 200,
      body: { Systems: link('/redfish/v1/Systems'), Managers: link('/m'), UpdateService: link('/u') },
    },
    'GET /m': { status: 200, body: { Members: [link('/m/1')] } },
    'GET /m/1': { status: 200, body: { FirmwareVersion: '1' } },
    'GET /u': { status: 200, body: { Actions: { '#UpdateService.SimpleUpdate': { target: '/up' } } } },
  });
  const double = await startDouble(quoting);
  const { failure } = racks.bench('ami', { redfish_address: double.url, redfish_auth_type: 'basic' });
  const settings = [{ component: 'bmc', url: 'https://h.example.org/b.bin?token=not-for-logs' }];
  const intents = intentsOf('update_firmware');
  const error = await failure('update_firmware', { settings }, { intents });
  expect(error.code).toBe('BmcRejected');
  expect(JSON.stringify([error.message, error.facts, intents.kept])).not.toContain('not-for-logs');
  await double.close();
});

describe('the clock of the BMC', () => {
  const clockOf = (bench: ReturnType<typeof benchOf>) => bench.state().manager;
  const clocks = (bench: ReturnType<typeof benchOf>) => bench.accepted().filter(({ subject }) => subject === 'clock');

  test.concurrent.each(['idrac9', 'xcc', 'xcc-new', 'ami'])(
    'is set to now after it fell back to 1970 on %s',
    async (profile) => {
      const bench = benchOf(profile);
      bench.fault({ kind: 'clock-lost', remaining: 1 });
      await bench.run('reset_bmc');
      expect(clockOf(bench).clockOffsetMs).toBeLessThan(-1e12);
      await bench.run('set_bmc_clock');
      expect(Math.abs(clockOf(bench).clockOffsetMs)).toBeLessThan(60_000);
      expect(clocks(bench)).toHaveLength(1);
    },
  );

  test.concurrent('a BMC that is slow to take the time over is behind by as much, and not asked again', async () => {
    const bench = benchOf('openbmc');
    bench.fault({ kind: 'clock-lost', remaining: 1 });
    await bench.run('reset_bmc');
    bench.fault({ kind: 'latency', method: 'PATCH', ms: 4_000 });
    await expect(bench.run('set_bmc_clock')).resolves.toMatchObject({ is: 'done' });
    expect(clocks(bench)).toHaveLength(1);
  });

  test.concurrent('a clock that is right is left alone', async () => {
    const bench = benchOf('openbmc');
    await expect(bench.run('set_bmc_clock')).resolves.toMatchObject({ note: 'the clock was right' });
    expect(clocks(bench)).toHaveLength(0);
  });

  test.concurrent('a given time and offset are set, and a later attempt finds them though time has gone on', async () => {
    const bench = benchOf('openbmc');
    const args = { target_datetime: '2031-05-06T07:08:09Z', datetime_local_offset: '+02:00' };
    const intents = intentsOf('set_bmc_clock');
    await bench.run('set_bmc_clock', args, { intents });
    await bench.run('set_bmc_clock', args, { intents, attempt: 2 });
    expect(clocks(bench).map(({ content }) => content)).toEqual([
      { DateTime: '2031-05-06T09:08:09+02:00', DateTimeLocalOffset: '+02:00' },
    ]);
    const shows = Date.now() + clockOf(bench).clockOffsetMs;
    expect(shows - Date.parse(args.target_datetime)).toBeLessThan(60_000);
  });

  test.concurrent.each([
    [{ target_datetime: 'noon' }, 'ISO 8601'],
    [{ datetime_local_offset: '2 hours' }, 'like +02:00'],
  ])('%p is refused before anything is sent', async (args, reason) => {
    const bench = benchOf('openbmc');
    const error = await bench.failure('set_bmc_clock', args);
    expect(error.code).toBe('InvalidStepArgs');
    expect(error.message).toContain(reason);
    expect(bench.accepted()).toHaveLength(0);
  });
});

describe('a non-maskable interrupt', () => {
  const interrupts = (bench: ReturnType<typeof benchOf>) =>
    bench.accepted().filter(({ content }) => (content as { ResetType?: string } | null)?.ResetType === 'Nmi');

  test.concurrent('is sent once, also when its act is tried again', async () => {
    const bench = benchOf('openbmc');
    await bench.run('power_on');
    const intents = intentsOf('inject_nmi');
    await bench.run('inject_nmi', {}, { intents });
    await bench.run('inject_nmi', {}, { intents, attempt: 2 });
    expect(interrupts(bench)).toHaveLength(1);
  });

  test.concurrent('whose answer was lost is not sent again: its effect is unknown', async () => {
    const bench = benchOf('openbmc');
    await bench.run('power_on');
    const intents = intentsOf('inject_nmi');
    bench.fault({ kind: 'drop-after-write', path: 'Reset' });
    expect((await bench.failure('inject_nmi', {}, { intents })).code).toBe('StepOutcomeUnknown');
    expect((await bench.failure('inject_nmi', {}, { intents, attempt: 2 })).code).toBe('StepOutcomeUnknown');
    expect(interrupts(bench)).toHaveLength(1);
  });

  test.concurrent('is refused while the node is off', async () => {
    const bench = benchOf('openbmc');
    expect((await bench.failure('inject_nmi')).code).toBe('StepRejected');
    expect(interrupts(bench)).toHaveLength(0);
  });
});
