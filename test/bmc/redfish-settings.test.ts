/** What acts make of settings: BIOS values and their types, boot devices of several vendors, secure boot, media, lights. */
import { intentsOf, quickTiming } from './support/context';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
beforeAll(async () => {
  racks = await startRackBench({ bmcs: 8 * 16 });
});
afterAll(() => racks.close());

const settings = (...pairs: [string, unknown][]) => ({ settings: pairs.map(([name, value]) => ({ name, value })) });

describe('BIOS settings', () => {
  test.each([
    ['NoSuchSetting', 'x', 'not known'],
    ['SystemServiceTag', 'x', 'read-only'],
    ['MemTest', 'Perhaps', 'Enabled, Disabled'],
    ['AcPwrRcvryUserDelay', 59, 'between 60 and 240'],
    ['AcPwrRcvryUserDelay', 'soon', 'whole number'],
    ['AssetTag', 'x'.repeat(64), '63 characters'],
  ])('%s = %p is refused before anything is sent', async (name, value, reason) => {
    const { failure, accepted } = racks.bench('idrac9');
    const error = await failure('stage_bios', settings(['LogicalProc', 'Disabled'], [name, value]));
    expect(error).toMatchObject({ code: 'InvalidStepArgs', retry: false });
    expect(error.message).toContain(reason);
    expect(error.message).toContain(name);
    expect(accepted()).toHaveLength(0);
  });

  test('values are sent in the types that the registry gives them, and only those that change', async () => {
    const { run, accepted, state } = racks.bench('ami');
    const given = settings(['QuietBoot', 'false'], ['SetupPromptTimeout', '30'], ['SRIOV', 'Disabled']);
    await run('stage_bios', given);
    expect(accepted().map(({ content }) => content)).toMatchObject([
      { Attributes: { QuietBoot: false, SetupPromptTimeout: 30 } },
    ]);
    await run('power_on');
    await expect(run('confirm_bios', given)).resolves.toMatchObject({ is: 'done' });
    expect(state().bios.attributes).toMatchObject({ QuietBoot: false, SetupPromptTimeout: 30, SRIOV: 'Disabled' });
  });

  test('settings that are in force already need neither a command nor a restart', async () => {
    const { run, accepted } = racks.bench('idrac9');
    const outcome = await run('stage_bios', settings(['MemTest', 'Disabled'], ['AcPwrRcvryUserDelay', '60']));
    expect(outcome).toMatchObject({ is: 'done', rest: 'skip' });
    expect(accepted()).toHaveLength(0);
  });

  test.each(['idrac9', 'ilo6'])('settings that are staged already are not sent again on %s', async (profile) => {
    const { run, accepted } = racks.bench(profile);
    const given = settings(['ProcVirtualization', 'Disabled']);
    await run('stage_bios', given);
    expect(await run('stage_bios', given)).toEqual({ is: 'done', note: 'staged ProcVirtualization' });
    expect(accepted()).toHaveLength(1);
  });

  test('a pending change against what is in force is undone rather than skipped', async () => {
    const { run, state } = racks.bench('ami');
    await run('stage_bios', settings(['SRIOV', 'Enabled']));
    await run('stage_bios', settings(['SRIOV', 'Disabled']));
    expect(state().bios.pending).toEqual({});
  });

  test('settings that a boot does not apply end as a timeout that names them', async () => {
    const { run, failure, fault } = racks.bench('ami');
    const given = settings(['SRIOV', 'Enabled']);
    await run('stage_bios', given);
    fault({ kind: 'bios-not-applied', seconds: 60 });
    await run('power_on');
    const timing = { ...quickTiming, powerTimeoutMs: 100, softPowerTimeoutMs: 100 };
    expect(await failure('confirm_bios', given, { timing })).toMatchObject({
      code: 'BmcTimeout',
      facts: { seen: 'not yet: SRIOV' },
    });
  });

  test('settings that the BMC refuses fail at once, and are taken once it has been mended', async () => {
    const { run, failure, fault, accepted, mend } = racks.bench('ilo5');
    const given = settings(['Sriov', 'Disabled']);
    fault({ kind: 'bios-refused', seconds: 600 });
    const error = await failure('stage_bios', given);
    expect(error).toMatchObject({ code: 'BmcRejected', retry: false });
    expect(error.message).toContain('setup password');
    expect(accepted()).toHaveLength(0);
    mend();
    expect(await run('stage_bios', given)).toMatchObject({ is: 'done' });
  });

  test('a reset of defaults is skipped where everything is at its default', async () => {
    const { run, accepted } = racks.bench('xcc');
    expect(await run('stage_bios_reset')).toMatchObject({ rest: 'skip' });
    expect(accepted()).toHaveLength(0);
  });

  test('what callers read of the BIOS is as it is after a change, and where nothing had to be changed', async () => {
    const { run } = racks.bench('ami');
    const given = settings(['QuietBoot', 'false']);
    const shows = {
      seen: { bios: expect.arrayContaining([expect.objectContaining({ name: 'QuietBoot', value: 'false' })]) },
    };
    await run('stage_bios', given);
    await run('power_on');
    expect(await run('confirm_bios', given)).toMatchObject(shows);
    expect(await run('stage_bios', given)).toMatchObject({ rest: 'skip', ...shows });
  });

  test.each(['idrac9', 'openbmc'])('a reset brings the defaults back with the next boot on %s', async (profile) => {
    const { run, state } = racks.bench(profile);
    const given = settings(['BootMode', profile === 'idrac9' ? 'Bios' : 'Legacy']);
    await run('stage_bios', given);
    await run('power_on');
    await run('confirm_bios', given);
    expect((await run('stage_bios_reset')).rest).toBeUndefined();
    await run('power_off');
    await run('power_on');
    await expect(run('confirm_bios_reset')).resolves.toMatchObject({ is: 'done' });
    expect(state().bios.attributes.BootMode).toMatch(/uefi/i);
  });
});

describe('boot', () => {
  test.each([
    ['openbmc', 'Cd'],
    ['supermicro-x12', 'UsbCd'],
  ])('the virtual CD on %s is called %s', async (profile, target) => {
    const { run, state } = racks.bench(profile);
    await run('set_boot_device', { boot_device: 'cdrom' });
    expect(state().boot).toMatchObject({ target, enabled: 'Once', mode: 'UEFI' });
  });

  test.each(['idrac9', 'ilo5', 'xcc', 'supermicro-x12', 'ami', 'openbmc', 'ilo6'])(
    'a persistent device stays on %s, and so does the mode',
    async (profile) => {
      const { run, state } = racks.bench(profile);
      await run('set_boot_device', { boot_device: 'disk', persistent: true });
      expect(state().boot).toMatchObject({ target: 'Hdd', enabled: 'Continuous', mode: 'UEFI' });
    },
  );

  test('UEFI HTTP boot is given where to fetch from, once', async () => {
    const { run, accepted, state } = racks.bench('idrac9');
    const image_url = 'http://images.example.org/ramdisk.iso';
    const args = { boot_device: 'uefihttp', image_url };
    await expect(run('set_boot_device', args)).resolves.toMatchObject({ is: 'done' });
    await run('set_boot_device', args);
    expect(state().boot).toMatchObject({ target: 'UefiHttp', httpBootUri: image_url });
    expect(accepted()).toHaveLength(1);
  });

  test('where only one-time devices exist, a persistent one is set for the next boot and the note says so', async () => {
    const { run, state } = racks.bench('xcc-new');
    const outcome = await run('set_boot_device', { boot_device: 'pxe', persistent: true });
    expect(outcome.note).toBe('pxe, for the next boot');
    expect(state().boot).toMatchObject({ target: 'Pxe', enabled: 'Once' });
  });

  test('a device that is set already needs no command', async () => {
    const { run, accepted } = racks.bench('ami');
    await run('set_boot_device', { boot_device: 'pxe' });
    await run('set_boot_device', { boot_device: 'pxe' });
    expect(accepted()).toHaveLength(1);
  });

  test('a mode that takes effect at the next boot is reported as it is now', async () => {
    const { run, state } = racks.bench('idrac9');
    const outcome = await run('set_boot_mode', { boot_mode: 'bios' });
    expect(outcome).toMatchObject({ note: 'takes effect at the next boot', seen: { boot_mode: 'uefi' } });
    await run('power_on');
    expect(state().boot.mode).toBe('Legacy');
    expect((await run('verify')).seen).toMatchObject({ boot_mode: 'bios' });
  });
});

describe('secure boot', () => {
  test('it is refused while the node boots in BIOS mode', async () => {
    const { run, failure, accepted } = racks.bench('openbmc');
    await run('set_boot_mode', { boot_mode: 'bios' });
    expect(await failure('set_secure_boot', { enabled: true })).toMatchObject({ code: 'StepRejected', retry: false });
    expect(accepted()).toHaveLength(1);
  });

  test('what is set shows as in force after the next boot', async () => {
    const { run } = racks.bench('openbmc');
    expect((await run('set_secure_boot', { enabled: true })).seen).toEqual({ secure_boot: false });
    await run('power_on');
    expect((await run('verify')).seen).toMatchObject({ secure_boot: true });
  });

  test('keys are cleared and brought back', async () => {
    const { run, state } = racks.bench('ilo6');
    await run('clear_secure_boot_keys');
    expect(state().secureBoot.mode).toBe('SetupMode');
    await run('reset_secure_boot_keys');
    expect(state().secureBoot.mode).toBe('UserMode');
  });
});

describe('virtual media', () => {
  const first = { image_url: 'http://images.example.org/one.iso' };
  const second = { image_url: 'https://images.example.org/two.iso?token=not-for-logs' };

  test.each(['idrac9', 'ilo5', 'xcc', 'supermicro-x12', 'ami', 'openbmc', 'ilo6', 'xcc-new'])(
    'another image replaces the one in the drive on %s, and ejecting empties it',
    async (profile) => {
      const { run, state } = racks.bench(profile);
      const inserted = () => Object.values(state().media).flatMap((slot) => (slot.inserted ? [slot.image] : []));
      await run('insert_media', first);
      await run('insert_media', second);
      expect(inserted()).toEqual([second.image_url]);
      await run('eject_media');
      expect(inserted()).toEqual([]);
    },
  );

  test('ejecting empty drives sends nothing', async () => {
    const { run, accepted } = racks.bench('openbmc');
    expect(await run('eject_media')).toMatchObject({ note: 'nothing was inserted' });
    expect(accepted()).toHaveLength(0);
  });

  test('an image address is not kept in intents or shown to operators', async () => {
    const { run } = racks.bench('openbmc');
    const shown: unknown[] = [];
    const intents = intentsOf('insert_media');
    await run('insert_media', second, { intents, beat: (details) => shown.push(details) });
    expect(intents.kept.length).toBeGreaterThan(0);
    expect(JSON.stringify([intents.kept, shown])).not.toContain('not-for-logs');
  });

  test('a kind of drive that the BMC lacks is not offered', async () => {
    const { failure } = racks.bench('xcc');
    expect(await failure('insert_media', { ...first, device_type: 'floppy' })).toMatchObject({
      code: 'BmcUnsupported',
    });
  });
});

test.each(['openbmc', 'ilo5'])('the light is switched on and off on %s', async (profile) => {
  const { run, state } = racks.bench(profile);
  await run('set_indicator', { state: 'on' });
  expect(state().indicator.led).not.toBe('Off');
  await run('set_indicator', { state: 'off' });
  expect(state().indicator.led).toBe('Off');
});

test('verify reports vendor, health and how far the machine has booted', async () => {
  const { run } = racks.bench('idrac9');
  expect((await run('verify')).seen).toEqual({
    power_state: 'power off',
    boot_progress: 'None',
    boot_mode: 'uefi',
    secure_boot: false,
    vendor: 'Dell',
    health: 'OK',
  });
});

test('after its reset a BMC is waited for, and then lets itself be used', async () => {
  const { run, state } = racks.bench('idrac9');
  await run('reset_bmc');
  expect(state().manager.lastResetAt).not.toBeNull();
  await expect(run('power_on')).resolves.toMatchObject({ seen: { power_state: 'power on' } });
});
