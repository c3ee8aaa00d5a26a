/** Looks for callers who wait, and what verify brings along: boot devices, BIOS, firmware, virtual drives, lights. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Client } from 'undici';
import { profileNames } from '../../emulator/rack';
import { createDrivers } from '../../src/bmc';
import { System } from '../../src/bmc/redfish/discovery/resources';
import type { BiosSetting } from '../../src/model/runs/runs';
import { contextWith, intentsOf, nodeWith, quiet } from './support/context';
import { changed, link, members, root, startHost, system } from './support/host';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
const closing: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  racks = await startRackBench({ bmcs: profileNames.length * 10 });
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
});
afterAll(() => racks.close());

const host = async (...given: Parameters<typeof startHost>) => {
  const started = await startHost(...given);
  closing.push(started);
  return started;
};

describe('a look at power', () => {
  const power = { only: 'power' };

  test('takes nothing else of the system apart', async () => {
    const { run } = await host();
    const whole = jest.spyOn(System, 'safeParse');
    expect(await run('verify', {}, power)).toEqual({ is: 'done', seen: { power_state: 'power on' } });
    expect(whole).not.toHaveBeenCalled();
    await run('verify');
    expect(whole).toHaveBeenCalled();
    whole.mockRestore();
  });

  test('is refused by another system than the operator named', async () => {
    const { failure } = await host();
    const named = { driver_info: { redfish_system_uuid: '11111111-cdaf-9455-926a-d65c16db1809' } };
    expect((await failure('verify', named, power)).code).toBe('BmcWrongSystem');
  });

  test('leaves no socket where the BMC would keep it open, and destroys no client whose socket is closed', async () => {
    const destroyed = jest.spyOn(Client.prototype, 'destroy');
    const ended = new Promise<void>((resolve) => {
      const answer = (socket: Socket) => {
        const body = '{"PowerState":"On"}';
        socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`));
        socket.once('close', () => resolve()).resume();
      };
      const server = createServer({ allowHalfOpen: false }, answer).listen(0, '127.0.0.1');
      closing.push({ close: async () => server.close() });
      listening = once(server, 'listening').then(() => (server.address() as AddressInfo).port);
    });
    const drivers = createDrivers({ log: quiet, networks: ['127.0.0.0/8'] });
    const address = `http://127.0.0.1:${await listening}`;
    const node = nodeWith('redfish', { redfish_address: address, redfish_system_id: '/redfish/v1/Systems/1' });
    const look = drivers.get('redfish').acts.verify!;
    expect(await look(node, power, contextWith(intentsOf('verify')))).toMatchObject({ is: 'done' });
    await ended;
    expect(destroyed).not.toHaveBeenCalled();
    destroyed.mockRestore();
    await drivers.close();
  });
  let listening: Promise<number>;
});

describe('boot device', () => {
  test.each(profileNames)('%s reports what was set, and what can be set', async (profile) => {
    const { run } = racks.bench(profile);
    await run('set_boot_device', { boot_device: 'cdrom' });
    expect((await run('read_boot_device')).value).toEqual({ boot_device: 'cdrom', persistent: false });
    expect((await run('list_boot_devices')).value).toEqual({
      supported_boot_devices: ['pxe', 'disk', 'cdrom', 'bios', 'uefihttp'],
    });
  });

  test('a persistent device is reported as such', async () => {
    const { run } = racks.bench('openbmc');
    await run('set_boot_device', { boot_device: 'pxe', persistent: true });
    expect((await run('read_boot_device')).value).toEqual({ boot_device: 'pxe', persistent: true });
  });

  const boot = (more: object) =>
    changed(system, { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once', ...more } });

  test.each([
    ['an override that is switched off', { BootSourceOverrideEnabled: 'Disabled' }],
    ['a device that has no name on the wire', { BootSourceOverrideTarget: 'Diags' }],
    ['no device at all', { BootSourceOverrideTarget: null }],
    ['nonsense', { BootSourceOverrideTarget: 7, BootSourceOverrideEnabled: {} }],
  ])('%s is reported as none', async (_, more) => {
    const { run } = await host(boot(more));
    expect((await run('read_boot_device')).value).toEqual({ boot_device: null, persistent: null });
  });

  test('only devices that the BMC lists are offered; all of them where it lists none', async () => {
    const listed = await host();
    expect((await listed.run('list_boot_devices')).value).toEqual({ supported_boot_devices: ['pxe', 'disk', 'cdrom'] });
    const silent = await host(boot({}));
    expect((await silent.run('list_boot_devices')).value).toMatchObject({
      supported_boot_devices: ['pxe', 'disk', 'cdrom', 'bios', 'uefihttp'],
    });
  });
});

describe('BIOS', () => {
  test('every setting comes with its value as text and what the registry says of it', async () => {
    const { run } = racks.bench('openbmc');
    const { seen, value } = await run('read_bios');
    const bios = seen?.bios as readonly BiosSetting[];
    const named = (name: string) => bios.find((setting) => setting.name === name);
    expect(named('SRIOV')).toMatchObject({
      value: 'Disabled',
      attribute_type: 'Enumeration',
      allowable_values: ['Enabled', 'Disabled'],
      read_only: false,
    });
    expect(named('SetupPromptTimeout')).toMatchObject({ value: '1', lower_bound: 1, upper_bound: 60 });
    expect(named('QuietBoot')).toMatchObject({ value: 'true', attribute_type: 'Boolean' });
    expect(bios.map(({ name }) => name)).toEqual(bios.map(({ name }) => name).sort());
    expect((value as { bios: object[] }).bios).toContainEqual({ name: 'SRIOV', value: 'Disabled' });
  });

  const bios = (Attributes: object, more: object = {}) => ({
    ...changed(system, { Bios: link(`${system}/Bios`) }),
    [`${system}/Bios`]: { Attributes, ...more },
  });
  const settings = async (resources: Parameters<typeof startHost>[0]) =>
    (await (await host(resources)).run('read_bios')).seen?.bios;

  test('without a registry there are values and nothing more', async () => {
    expect(await settings(bios({ A: 'x', B: 3, C: false, D: null }))).toEqual([
      expect.objectContaining({ name: 'A', value: 'x', attribute_type: null, read_only: null }),
      expect.objectContaining({ name: 'B', value: '3' }),
      expect.objectContaining({ name: 'C', value: 'false' }),
      expect.objectContaining({ name: 'D', value: null }),
    ]);
  });

  test('a setting that makes no sense does not hide the others', async () => {
    expect(await settings(bios({ A: 'x', B: { odd: true }, C: ['x'] }))).toEqual([
      expect.objectContaining({ name: 'A', value: 'x' }),
      expect.objectContaining({ name: 'B', value: null }),
      expect.objectContaining({ name: 'C', value: null }),
    ]);
  });

  test('a password is never read, whatever the BMC shows in its place', async () => {
    const { run } = await host({
      ...changed(`${root}/`, { Registries: link(`${root}/Registries`) }),
      ...bios({ AdminPassword: 'hunter2' }, { AttributeRegistry: 'Reg' }),
      [`${root}/Registries`]: members(`${root}/Registries/Reg`),
      [`${root}/Registries/Reg`]: { Location: [{ Language: 'en', Uri: `${root}/reg.json` }] },
      [`${root}/reg.json`]: {
        RegistryEntries: { Attributes: [{ AttributeName: 'AdminPassword', Type: 'Password' }] },
      },
    });
    const outcome = await run('read_bios');
    expect(outcome.seen?.bios).toMatchObject([{ name: 'AdminPassword', value: null, attribute_type: 'Password' }]);
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });

  test('a BMC without BIOS settings says so', async () => {
    const { failure } = await host();
    expect(await failure('read_bios')).toMatchObject({ code: 'BmcUnsupported' });
  });
});

describe('firmware', () => {
  test.each(profileNames)('%s reports the versions of BIOS, BMC and network adapter', async (profile) => {
    const { run, state } = racks.bench(profile);
    const { firmware } = state();
    await run('power_on');
    const { seen } = await run('read_firmware');
    expect(seen?.firmware).toEqual([
      { component: 'bios', current_version: firmware.bios },
      { component: 'bmc', current_version: firmware.bmc },
      { component: expect.stringMatching(/^nic:./), current_version: firmware.nic },
    ]);
  });

  test('adapters that the BMC refuses to show until the host runs are left out', async () => {
    const adapters = `${root}/Chassis/one/NetworkAdapters`;
    const { run } = await host({
      ...changed(`${root}/Chassis/one`, { NetworkAdapters: link(adapters) }),
      [adapters]: { status: 400 },
    });
    expect((await run('read_firmware')).seen?.firmware).toEqual([
      { component: 'bios', current_version: null },
      { component: 'bmc', current_version: '1.00' },
    ]);
  });
});

describe('verify', () => {
  const inRun = { kind: 'verify' };

  test.each(profileNames)('%s: BIOS settings and firmware come along in a run', async (profile) => {
    const { run, accepted } = racks.bench(profile);
    await run('power_on');
    const sent = accepted().length;
    const { seen } = await run('verify', {}, inRun);
    expect(seen?.bios?.length).toBeGreaterThan(4);
    expect(seen?.firmware).toHaveLength(3);
    expect(accepted()).toHaveLength(sent);
  });

  test('a look at power alone, as power sync does many, reads the system and nothing else', async () => {
    const { run, double } = await host();
    const node = { driver_info: { redfish_system_id: system } };
    expect(await run('verify', node, { only: 'power' })).toEqual({ is: 'done', seen: { power_state: 'power on' } });
    const read = () => double.requests.filter(({ method }) => method === 'GET').map(({ url }) => url);
    const first = read().length;
    await run('verify', node, { only: 'power' });
    expect(read().slice(first)).toEqual([system]);
  });

  test('a look without a run asks for no settings and no firmware', async () => {
    const { run, double } = await host(changed(system, { Bios: link(`${system}/Bios`) }));
    const { seen } = await run('verify');
    expect(seen).not.toHaveProperty('bios');
    expect(double.requests.map(({ url }) => url)).not.toContain(`${system}/Bios`);
  });

  test.each([
    ['missing', { status: 404 }],
    ['not offered', { status: 501 }],
    ['erring', { status: 500 }],
    ['busy', { status: 503 }],
    ['half JSON', { status: 200, raw: '{"Attri' }],
    ['HTML', { status: 200, raw: '<html></html>' }],
    ['far too large', { status: 200, raw: `"${'x'.repeat(9 * 1024 * 1024)}"` }],
    ['elsewhere', { status: 302, headers: { location: 'https://192.0.2.1/redfish/v1/x' } }],
    ['of another type', { status: 200, body: { Attributes: [1, 2] } }],
  ])('it does not fail for BIOS settings and firmware that are %s', async (_, answer) => {
    const { run } = await host({
      ...changed(system, { Bios: link(`${system}/Bios`) }),
      [`${system}/Bios`]: answer,
      [`${root}/Managers/one`]: answer,
    });
    expect(await run('verify', {}, {}, inRun)).toMatchObject({ is: 'done', seen: { power_state: 'power on' } });
  });

  test('it stops at once when its activity must stop, also in the middle of the extras', async () => {
    const worker = new AbortController();
    const { run, double } = await host(changed(system, { Bios: link(`${system}/Bios`) }));
    const log = { info: () => worker.abort(new Error('stop')), warn: () => undefined };
    await expect(run('verify', {}, {}, { ...inRun, signal: worker.signal, log })).rejects.toThrow('stop');
    expect(double.requests.map(({ url }) => url)).not.toContain(`${root}/Managers/one`);
  });
});

describe('virtual drives', () => {
  const image_url = 'http://images.example.org/boot.iso';

  test.each(profileNames)('%s: an inserted image shows, and each drive once', async (profile) => {
    const { run } = racks.bench(profile);
    await run('insert_media', { image_url });
    const drives = (await run('read_media')).value as { media_types: string[]; inserted: boolean; image: string }[];
    expect(drives).toHaveLength(2);
    expect(drives.filter(({ inserted }) => inserted)).toEqual([
      { media_types: expect.arrayContaining(['CD']), inserted: true, image: image_url },
    ]);
    expect(drives.find(({ inserted }) => !inserted)).toMatchObject({ inserted: false, image: null });
  });

  test('what may be secret in an image address is not shown', async () => {
    const drive = `${root}/Managers/one/VirtualMedia/Cd`;
    const { run } = await host(
      changed(drive, { Inserted: true, Image: 'http://me:hunter2@x.org/a.iso?token=hunter3#h' }),
    );
    expect((await run('read_media')).value).toEqual([
      { media_types: ['CD', 'DVD'], inserted: true, image: 'http://x.org/a.iso' },
    ]);
  });
});

describe('lights', () => {
  type Shown = { component: string; name: string; state: string; readonly: boolean; states: string[] };
  const lights = async (run: (act: 'read_indicators') => Promise<{ value?: unknown }>) =>
    (await run('read_indicators')).value as Shown[];

  test('chassis, system and drives are reported, with the states they can have', async () => {
    const { run, bmc } = racks.bench('ilo5');
    await run('set_indicator', { state: 'blinking' });
    const found = await lights(run);
    expect(found.filter(({ component }) => component !== 'disk')).toEqual(
      ['chassis', 'system'].map((component) => ({
        component,
        name: '1',
        state: 'blinking',
        readonly: false,
        states: ['on', 'off', 'blinking'],
      })),
    );
    const disks = found.filter(({ component }) => component === 'disk');
    expect(disks.map(({ name }) => name)).toEqual(expect.arrayContaining(['DE00A000:Disk.0', 'Direct1:Disk.1']));
    expect(disks).toHaveLength(6);
    expect(disks.every(({ readonly, state }) => readonly && state === 'off')).toBe(true);
    expect(bmc.profile).toBe('ilo5');
  });

  test('the newer property distinguishes lit from dark and nothing else', async () => {
    const { run } = racks.bench('openbmc');
    const isSystem = ({ component }: Shown) => component === 'system';
    expect((await lights(run)).find(isSystem)).toMatchObject({ state: 'off', states: ['on', 'off'] });
    await run('set_indicator', { state: 'on' });
    expect((await lights(run)).find(isSystem)).toMatchObject({ state: 'on' });
  });

  test('a word that is none of the known is reported as unknown', async () => {
    const { run } = await host(changed(system, { IndicatorLED: 'Disco' }));
    expect((await run('read_indicators')).value).toContainEqual(
      expect.objectContaining({ component: 'system', name: 'host', state: 'unknown' }),
    );
  });

  test('a BMC without lights says so', async () => {
    const { failure } = await host({
      ...changed(system, { IndicatorLED: null }),
      [`${root}/Chassis/one`]: { Id: 'one' },
    });
    expect(await failure('read_indicators')).toMatchObject({ code: 'BmcUnsupported' });
  });

  test('the light of a named component is set, and no other', async () => {
    const { run, rack, bmc } = { ...racks.bench('ilo5'), rack: racks.rack };
    await run('set_indicator', { state: 'on', component: 'chassis', name: '1' });
    const writes = rack.journal({ bmc: bmc.index, accepted: true, session: false });
    expect(writes.map(({ path }) => path)).toEqual(['/redfish/v1/Chassis/1']);
  });

  test.each([
    [{ component: 'disk', name: 'Nowhere:0' }, 'BmcUnsupported', /disk Nowhere:0/],
    [{ component: 'disk' }, 'StepRejected', /name one of DE00A000:Disk\.0/],
    [{ component: 'toaster' }, 'StepRejected', /chassis, system, disk/],
    [{ name: '1' }, 'StepRejected', /component must be one of/],
  ])('the light of %p is refused before anything is sent', async (args, code, says) => {
    const { failure, accepted } = racks.bench('ilo5');
    expect(await failure('set_indicator', { state: 'on', ...args })).toMatchObject({
      code,
      message: expect.stringMatching(says),
    });
    expect(accepted()).toHaveLength(0);
  });

  test('the emulator of others shows its lights', async () => {
    const { run } = await host();
    expect((await run('read_indicators')).value).toEqual([
      expect.objectContaining({ component: 'chassis', name: 'one', state: 'off' }),
      expect.objectContaining({ component: 'system', name: 'host', state: 'on' }),
    ]);
  });
});
