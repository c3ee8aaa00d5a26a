/** Inspection out of band: what a node consists of, on every vendor, on an emulator of others, and where a BMC lies. */
import { profileNames } from '../../emulator/rack';
import { startDouble } from './support/double';
import { changed, emulated, link, members, nic, type Resources, root, startHost, system } from './support/host';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
const closing: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  racks = await startRackBench({ bmcs: profileNames.length * 3 });
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
const inspected = async (resources: Resources, node = {}) => (await (await host(resources)).run('inspect', node)).seen!;

describe('what is found', () => {
  test.each(profileNames)('%s: the essential properties, every interface and an inventory', async (profile) => {
    const { run, bmc, accepted } = racks.bench(profile);
    const { seen } = await run('inspect');
    expect(seen?.properties).toMatchObject({ cpu_arch: 'x86_64', cpus: 64, memory_mb: 262_144, local_gb: 893 });
    expect(seen?.macs).toEqual(bmc.macs);
    expect(seen?.inventory).toMatchObject({
      cpu: { architecture: 'x86_64', count: 64, model_name: 'Emulated CPU at 2.4 GHz', frequency: '3600' },
      memory: { physical_mb: 262_144, total: 274_877_906_944 },
      bmc_address: '127.0.0.1',
      system_vendor: { system_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(seen?.inventory?.disks).toHaveLength(6);
    expect(accepted()).toHaveLength(0);
  });

  test('sushy-emulator: disks of SimpleStorage where Storage errs', async () => {
    const seen = await inspected({});
    expect(seen).toMatchObject({
      properties: { cpu_arch: 'x86_64', cpus: 4, memory_mb: 8_192, local_gb: 99, capabilities: 'boot_mode:uefi' },
      macs: ['52:54:00:4e:5d:37'],
      power_state: 'power on',
      boot_mode: 'uefi',
      vendor: 'Sushy Emulator',
      inventory: {
        disks: [{ name: 'vda', size: 107_374_182_400 }],
        interfaces: [{ name: 'nic1', mac_address: '52:54:00:4e:5d:37', speed_mbps: 1000 }],
        boot: { current_boot_mode: 'uefi' },
      },
    });
  });

  test('a Dell is known by its service tag', async () => {
    const more = { Manufacturer: 'Dell Inc.', SerialNumber: 'CNIVC0001', SKU: 'ABC1234' };
    expect(await inspected(changed(system, more))).toMatchObject({
      inventory: { system_vendor: { serial_number: 'ABC1234' } },
    });
    expect(await inspected(changed(system, { ...more, Manufacturer: 'Lenovo' }))).toMatchObject({
      inventory: { system_vendor: { serial_number: 'CNIVC0001' } },
    });
  });

  test.each([
    [{ InstructionSet: 'ARM-A64' }, 'aarch64'],
    [{ InstructionSet: 'IA-64' }, 'ia64'],
    [{ InstructionSet: 'x86' }, 'i686'],
    [{ InstructionSet: null, ProcessorArchitecture: 'ARM' }, 'aarch64'],
    [{ InstructionSet: undefined, ProcessorArchitecture: 'x86' }, 'x86_64'],
  ])('a processor of %p is %s', async (more, cpu_arch) => {
    const cpus = `${system}/Processors/CPU`;
    const seen = await inspected({ ...changed(`${cpus}0`, more), ...changed(`${cpus}1`, more) });
    expect(seen.properties).toMatchObject({ cpu_arch });
  });

  test('accelerators are no processors, and empty sockets count nothing', async () => {
    const cpus = `${system}/Processors/CPU`;
    const seen = await inspected({
      ...changed(`${cpus}0`, { ProcessorType: 'GPU', TotalThreads: 9_999 }),
      ...changed(`${cpus}1`, { Status: { State: 'Absent' } }),
      [`${system}/Processors`]: members(`${cpus}0`, `${cpus}1`, `${cpus}2`),
      [`${cpus}2`]: { ...(emulated[`${cpus}0`] as object), TotalThreads: 8 },
    });
    expect(seen.properties).toMatchObject({ cpus: 8 });
  });

  test('local_gb is one less than the smallest disk of at least 4 GiB', async () => {
    const gib = 1024 ** 3;
    const device = (Name: string, CapacityBytes: number) => ({ Name, CapacityBytes });
    const seen = await inspected({
      [`${system}/SimpleStorage/virtio`]: {
        Devices: [device('card', 2 * gib), device('big', 900 * gib), device('small', 40 * gib + 5), device('none', 0)],
      },
    });
    expect(seen.properties).toMatchObject({ local_gb: 39 });
  });

  test('a node without disks has no space, and that is no failure', async () => {
    const seen = await inspected({
      [`${system}/Storage`]: members(),
      [`${system}/SimpleStorage`]: members(),
    });
    expect(seen.properties).toMatchObject({ local_gb: 0 });
  });

  test.each([
    ['an empty address', nic('')],
    ['none at all', nic(null)],
    ['zeros', nic('00:00:00:00:00:00')],
    ['an address that is no MAC', nic('n/a')],
    ['an interface that is switched off', nic('52:54:00:00:00:01', { Status: { State: 'Disabled' } })],
    ['an interface that is not enabled', nic('52:54:00:00:00:01', { InterfaceEnabled: false })],
  ])('no port is made of %s', async (_, doc) => {
    expect((await inspected({ [`${system}/EthernetInterfaces/nic1`]: doc })).macs).toEqual([]);
  });

  test('a MAC address is found in any spelling, and once', async () => {
    const nics = `${system}/EthernetInterfaces`;
    const seen = await inspected({
      [nics]: members(`${nics}/nic1`, `${nics}/nic2`),
      [`${nics}/nic1`]: nic('52-54-00-AA-BB-CC'),
      [`${nics}/nic2`]: nic('525400aabbcc'),
    });
    expect(seen.macs).toEqual(['52:54:00:aa:bb:cc']);
  });

  test.each([
    ['', 'boot_mode:uefi'],
    [undefined, 'boot_mode:uefi'],
    ['iscsi_boot:True', 'iscsi_boot:True,boot_mode:uefi'],
    ['boot_mode:bios,x:y', undefined],
    [{ boot_mode: 'bios' }, undefined],
  ])('capabilities %p become %p: what the operator chose stays', async (capabilities, wanted) => {
    const seen = await inspected({}, { properties: { capabilities } });
    expect(seen.properties?.capabilities).toBe(wanted);
  });
});

describe('what is missing', () => {
  const noMemory = changed(system, { MemorySummary: { TotalSystemMemoryGiB: 0 } });
  const noCpus = { [`${system}/Processors`]: { status: 501 } };

  test.each([
    ['memory_mb', noMemory],
    ['cpu_arch', noCpus],
  ])('a node whose %s is not given fails inspection, which says so', async (name, resources) => {
    const { failure } = await host({ ...resources, [`${system}/Storage`]: members() });
    expect(await failure('inspect')).toMatchObject({
      code: 'StepRejected',
      retry: false,
      message: expect.stringContaining(`does not report ${name}`),
    });
  });

  test('what the operator has recorded does for what the BMC does not tell', async () => {
    const seen = await inspected({ ...noMemory, ...noCpus }, { properties: { memory_mb: 4096, cpu_arch: 'aarch64' } });
    expect(seen.properties).not.toHaveProperty('memory_mb');
    expect(seen.properties).not.toHaveProperty('cpu_arch');
  });

  test('where the BMC errs over an essential part, inspection may be tried again', async () => {
    const { failure } = await host({ [`${system}/Processors`]: { status: 500 } });
    expect(await failure('inspect')).toMatchObject({ code: 'BmcServerError', retry: true });
  });

  test('but not for ever: a part that errs at the sixth look is one that the BMC does not report', async () => {
    const { failure } = await host({ [`${system}/Processors`]: { status: 500 } });
    expect(await failure('inspect', {}, {}, { attempt: 5 })).toMatchObject({ code: 'BmcServerError', retry: true });
    expect(await failure('inspect', {}, {}, { attempt: 6 })).toMatchObject({
      code: 'StepRejected',
      message: expect.stringMatching(/does not report cpu_arch.*500.*inspect by the ramdisk/),
    });
  });

  test('and is done all the same where the operator has recorded what it would say', async () => {
    const { run } = await host({ [`${system}/Processors`]: { status: 500 } });
    const properties = { cpu_arch: 'x86_64', cpus: 4 };
    expect(await run('inspect', { properties })).toMatchObject({ is: 'done' });
  });

  test('inspection is not tried again for one part while another will never be given', async () => {
    const { failure } = await host({ ...noMemory, [`${system}/Processors`]: { status: 500 } });
    expect(await failure('inspect')).toMatchObject({
      code: 'StepRejected',
      message: expect.stringMatching(/cpu_arch.*memory_mb/),
    });
  });

  test('a part that is not essential may be missing', async () => {
    const { run } = await host({ [`${system}/EthernetInterfaces`]: { status: 500 } });
    expect(await run('inspect')).toMatchObject({
      is: 'done',
      seen: { macs: [] },
      note: expect.stringContaining('not readable'),
    });
  });
});

describe('a BMC that lies', () => {
  test('values of other types count as not given, and nothing crashes', async () => {
    const { failure } = await host(
      changed(system, {
        Manufacturer: 17,
        Model: ['x'],
        Status: 'fine',
        Boot: 'Hdd',
        MemorySummary: { TotalSystemMemoryGiB: 'lots' },
        ProcessorSummary: [],
        Links: { Chassis: 'here' },
      }),
    );
    expect(await failure('inspect')).toMatchObject({
      code: 'StepRejected',
      message: expect.stringContaining('memory_mb'),
    });
  });

  test('negative sizes and counts count as not given', async () => {
    const seen = await inspected({
      ...changed(`${system}/Processors/CPU0`, { TotalThreads: -5 }),
      [`${system}/SimpleStorage/virtio`]: {
        Devices: [
          { Name: 'a', CapacityBytes: -1 },
          { Name: 'b', CapacityBytes: 1e300 },
          { Name: 'c', CapacityBytes: 50 * 1024 ** 3 },
        ],
      },
    });
    expect(seen.properties).toMatchObject({ cpus: 2, local_gb: 49 });
  });

  test('texts are kept to one line of a sane length that a database takes', async () => {
    const seen = await inspected(changed(system, { Model: `R\u0000\n750\ud800 ${'x'.repeat(5_000)}`, SKU: '\u0000' }));
    const { product_name } = (seen.inventory as { system_vendor: { product_name: string } }).system_vendor;
    expect(product_name).toMatch(/^R 750 +x+$/);
    expect(product_name.length).toBeLessThan(256);
  });

  test.each([
    ['half JSON', { status: 200, raw: '{"PowerState": "On", "Memor' }, /not JSON/],
    ['HTML', { status: 200, headers: { 'content-type': 'text/html' }, raw: '<html>login</html>' }, /not JSON/],
    ['a page of HTML with 504', { status: 504, raw: '<html>Gateway Time-out</html>' }, /504/],
    ['a list where a resource belongs', { status: 200, raw: '[]' }, /makes no sense/],
    ['nothing', { status: 200 }, /makes no sense/],
  ])('%s in place of the system is an error that may be tried again', async (_, answer, says) => {
    const { failure } = await host({ [system]: answer });
    expect(await failure('inspect')).toMatchObject({
      code: 'BmcServerError',
      retry: true,
      message: expect.stringMatching(says),
    });
  });

  test('a document of more than 8 MiB is not read to its end', async () => {
    const { failure } = await host({ [system]: { status: 200, raw: `{"x":"${'x'.repeat(9 * 1024 * 1024)}"}` } });
    expect(await failure('inspect')).toMatchObject({
      code: 'BmcUnreachable',
      message: expect.stringContaining('far too large'),
    });
  });

  test('a document beyond the bound of an ordinary reply is left there, not at the bound of a registry', async () => {
    const { failure } = await host({
      [system]: { status: 200, raw: `{"x":"${'x'.repeat(3 * 1024 * 1024)}`, open: true },
    });
    expect(await failure('inspect')).toMatchObject({
      code: 'BmcUnreachable',
      message: expect.stringContaining('far too large'),
    });
  });

  test.each([
    ['nested', `{"x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
    ['nested objects', `{"x":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}`],
    ['many values', `{"x":[${'0,'.repeat(500_000)}0]}`],
  ])('a document of %s is not parsed', async (_what, raw) => {
    const parse = jest.spyOn(JSON, 'parse');
    const { failure } = await host({ [system]: { status: 200, raw } });
    try {
      expect(await failure('inspect')).toMatchObject({
        code: 'BmcUnreachable',
        message: expect.stringContaining('far too many parts'),
      });
      expect(parse.mock.calls.filter(([text]) => String(text).length > 100_000)).toEqual([]);
    } finally {
      parse.mockRestore();
    }
  });

  test('a collection of millions is read only as far as a node can have parts', async () => {
    const nics = `${system}/EthernetInterfaces`;
    const { run, double } = await host({
      [nics]: members(...Array.from({ length: 20_000 }, (_, index) => `${nics}/${index}`)),
    });
    await run('inspect');
    expect(double.requests.filter(({ url }) => url.startsWith(`${nics}/`)).length).toBeLessThanOrEqual(256);
  });

  test('a part that links to another host ends inspection, and that host gets no request', async () => {
    const other = await startDouble(() => ({ status: 200, body: {} }));
    closing.push(other);
    const { failure } = await host(changed(system, { EthernetInterfaces: link(`${other.url}/redfish/v1/nics`) }));
    expect(await failure('inspect')).toMatchObject({
      code: 'BmcRejected',
      message: expect.stringContaining('points to another host'),
    });
    expect(other.requests).toHaveLength(0);
  });

  test('a part that redirects to another host ends inspection, and that host gets no request', async () => {
    const other = await startDouble(() => ({ status: 200, body: {} }));
    closing.push(other);
    const location = `${other.url}/redfish/v1/Systems/host/Processors`;
    const { failure } = await host({ [`${system}/Processors`]: { status: 302, headers: { location } } });
    expect((await failure('inspect')).code).toBe('BmcRejected');
    expect(other.requests).toHaveLength(0);
  });
});

describe('another system than the operator named', () => {
  const uuid = 'c7a5fdbd-cdaf-9455-926a-d65c16db1809';
  const named = (redfish_system_uuid: unknown) => ({ driver_info: { redfish_system_uuid } });

  test.each(['verify', 'inspect', 'power_on', 'read_bios', 'read_indicators', 'insert_media'] as const)(
    '%s is refused and sends no command',
    async (act) => {
      const { failure, double } = await host();
      expect(
        await failure(act, named('00000000-0000-4000-8000-000000000001'), { image_url: 'http://x/y.iso' }),
      ).toMatchObject({
        code: 'BmcWrongSystem',
        retry: false,
        facts: { found: uuid },
      });
      expect(double.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    },
  );

  test.each([uuid, uuid.toUpperCase(), uuid.replaceAll('-', '')])('%s is the system that is there', async (given) => {
    const { run } = await host();
    expect(await run('verify', named(given))).toMatchObject({ is: 'done' });
  });

  test('a BMC that shows no UUID, as when it starts, is asked again later', async () => {
    const { failure } = await host(changed(system, { UUID: null }));
    expect(await failure('verify', named(uuid))).toMatchObject({ code: 'BmcServerError', retry: true });
  });

  test('what is no UUID is refused by name', async () => {
    const { failure } = await host();
    expect(await failure('verify', named('bmc-17'))).toMatchObject({
      code: 'DriverInfoInvalid',
      facts: { field: 'redfish_system_uuid' },
    });
  });

  test('of two systems behind one BMC each node sees its own', async () => {
    const other = `${root}/Systems/other`;
    const { run } = await host({
      [`${root}/Systems`]: members(system, other),
      [other]: { ...(emulated[system] as object), PowerState: 'Off' },
    });
    const seen = async (redfish_system_id: string) =>
      (await run('verify', { driver_info: { redfish_system_id } })).seen?.power_state;
    expect(await seen(system)).toBe('power on');
    expect(await seen(other)).toBe('power off');
    expect(await seen(system)).toBe('power on');
  });
});
