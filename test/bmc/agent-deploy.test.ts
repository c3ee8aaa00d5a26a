/** Deploying and rescuing by the ramdisk: what it is sent of image and config drive, and that a repeat is harmless. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { configDrive } from '../../src/bmc/agent/config-drive';
import { imageInfo } from '../../src/bmc/agent/image';
import type { BmcNode } from '../../src/bmc/contract';
import { foundBy } from '../support/found';
import { intentsOf, nodeWith } from './support/context';
import { type RamdiskBench, startRamdiskBench } from './support/ramdisk';

const whole = {
  image_source: 'https://images.example.org/debian.qcow2?signature=hunter2',
  image_os_hash_algo: 'sha512',
  image_os_hash_value: 'ab'.repeat(64),
  image_disk_format: 'qcow2',
};
const partition = { ...whole, image_type: 'partition', root_gb: 10, swap_mb: 512 };

let ramdisks: RamdiskBench;
beforeAll(async () => {
  ramdisks = await startRamdiskBench();
});
afterAll(() => ramdisks.close());

const nodeOf = (instance_info: Record<string, unknown>, more: Partial<BmcNode> = {}): BmcNode => ({
  ...nodeWith('redfish', {}),
  instance_info,
  ...more,
});

describe('the image', () => {
  test('of a whole disk is sent with its address, checksum and format', () => {
    const node = nodeOf(whole);
    expect(imageInfo(node)).toEqual({
      id: 'debian.qcow2',
      urls: [whole.image_source],
      os_hash_algo: 'sha512',
      os_hash_value: whole.image_os_hash_value,
      disk_format: 'qcow2',
      stream_raw_images: true,
      node_uuid: node.uuid,
      image_type: 'whole-disk-image',
    });
  });

  test('is fetched through the proxies of driver_info, and not through what instance_info names', () => {
    const driver_info = { image_http_proxy: 'http://proxy.example.org:3128', image_no_proxy: 'images.example.org' };
    expect(imageInfo(nodeOf(whole, { driver_info }))).toMatchObject({
      proxies: { http: 'http://proxy.example.org:3128' },
      no_proxy: 'images.example.org',
    });
    const told = imageInfo(nodeOf({ ...whole, ...driver_info }));
    expect(told).not.toHaveProperty('proxies');
    expect(told).not.toHaveProperty('no_proxy');
  });

  test('of one partition is sent with the sizes of all, in MiB', () => {
    expect(imageInfo(nodeOf(partition, { boot_mode: 'bios' }))).toMatchObject({
      image_type: 'partition',
      root_mb: 10_240,
      swap_mb: 512,
      ephemeral_mb: 0,
      ephemeral_format: null,
      preserve_ephemeral: false,
      deploy_boot_mode: 'bios',
    });
  });

  test.each([
    [true, true],
    ['True', true],
    ['yes', true],
    [false, false],
    ['False', false],
    [null, false],
  ])(
    'of one partition with preserve_ephemeral %j, as Nova sends it, keeps the ephemeral partition: %j',
    (preserve_ephemeral, keeps) => {
      expect(imageInfo(nodeOf({ ...partition, preserve_ephemeral }))).toMatchObject({ preserve_ephemeral: keeps });
    },
  );

  test('that comes with a kernel and a ramdisk of its own is one of a partition', () => {
    expect(imageInfo(nodeOf({ ...whole, kernel: 'k', ramdisk: 'r', root_gb: 1 }))).toMatchObject({
      image_type: 'partition',
    });
  });

  test.each([
    ['without a source', { ...whole, image_source: undefined }, /image_source/],
    ['that is a file', { ...whole, image_source: 'file:///etc/shadow' }, /http/],
    ['without a checksum', { ...whole, image_os_hash_algo: undefined }, /image_checksum/],
    ['of a partition without a size', { ...partition, root_gb: undefined }, /root_gb/],
    ['of a partition that perhaps keeps data', { ...partition, preserve_ephemeral: 'maybe' }, /preserve_ephemeral/],
  ])('%s is refused before the ramdisk is asked', async (_, info, says) => {
    const { failure, journal } = await ramdisks.bench(info);
    const error = await failure('agent_write_image');
    expect(error).toMatchObject({ code: 'StepRejected' });
    expect(error.message).toMatch(says);
    expect(journal()).toEqual([]);
  });

  test('is written once, though the answer was lost', async () => {
    const { run, fault, destructive } = await ramdisks.bench(whole);
    fault({ kind: 'lost-reply', match: 'prepare_image' });
    const { note } = await run('agent_write_image');
    expect(note).toMatch(/debian\.qcow2.*written/);
    expect(note).not.toContain('hunter2');
    expect(destructive()).toHaveLength(1);
  });

  test('is watched on by the next attempt', async () => {
    const { run, destructive } = await ramdisks.bench({ ...whole, configdrive: 'H4sI' });
    const intents = intentsOf('agent_write_image');
    const stop = new AbortController();
    const beat = (told?: Readonly<Record<string, unknown>>) =>
      told?.status === 'RUNNING' && stop.abort(new Error('killed'));
    const dying = run('agent_write_image', {}, { intents, signal: stop.signal, beat: (told) => void beat(told) });
    await expect(dying).rejects.toThrow('killed');
    await run('agent_write_image', {}, { intents, attempt: 2 });
    expect(destructive()).toHaveLength(1);
    expect(JSON.stringify(intents.kept)).not.toContain('hunter2');
  });

  test('is written again by a ramdisk that has restarted', async () => {
    const bench = await ramdisks.bench(whole);
    const intents = intentsOf('agent_write_image');
    await bench.run('agent_write_image', {}, { intents });
    const agent = await bench.reboot();
    await bench.run('agent_write_image', {}, { intents, attempt: 2, node: { agent } });
    expect(bench.destructive()).toHaveLength(2);
  });

  test('that the ramdisk cannot write fails in its words', async () => {
    const { failure, fault } = await ramdisks.bench(whole);
    fault({ kind: 'step-fails', match: 'prepare_image' });
    expect(await failure('agent_write_image')).toMatchObject({ code: 'StepRejected' });
  });
});

describe('the config drive', () => {
  const { signal } = new AbortController();
  const dirs: string[] = [];
  afterAll(() => Promise.all(dirs.map((dir) => rm(dir, { recursive: true }))));

  /** Stands for a program that makes ISOs: it puts its arguments and the files it was given into its output. */
  const program = async (exit = 0): Promise<string> => {
    const dir = await mkdtemp(join(tmpdir(), 'iso-'));
    dirs.push(dir);
    const file = join(dir, 'mkiso');
    const lines = [
      '#!/bin/sh',
      'for last; do :; done',
      `(echo "$@"; cd "$last" && grep -r "" .) > "$3"`,
      `exit ${exit}`,
    ];
    await writeFile(file, lines.join('\n'));
    await chmod(file, 0o755);
    return file;
  };
  const unpacked = (drive: string | undefined): string => gunzipSync(Buffer.from(drive ?? '', 'base64')).toString();

  test('given as text or address goes to the ramdisk as it is', async () => {
    for (const configdrive of ['H4sIAAAA', 'https://drives.example.org/1'])
      expect(await configDrive(nodeOf({ configdrive }), { signal })).toBe(configdrive);
  });

  test('is left out where there is none', async () => {
    expect(await configDrive(nodeOf({}), { signal })).toBeUndefined();
  });

  test('given as documents becomes a compressed disc that cloud-init finds by its label', async () => {
    const drive = {
      meta_data: { hostname: 'web-1' },
      user_data: '#cloud-config',
      network_data: { links: [] },
      vendor_data: { a: 1 },
    };
    const node = nodeOf({ configdrive: drive }, { name: 'node-1' });
    const text = unpacked(await configDrive(node, { signal, programs: ['no-such-program', await program()] }));
    expect(text).toContain('-V config-2');
    expect(text).toContain(
      `./openstack/latest/meta_data.json:${JSON.stringify({ uuid: node.uuid, name: 'node-1', hostname: 'web-1' })}`,
    );
    expect(text).toContain('./openstack/latest/user_data:#cloud-config');
    expect(text).toContain('./openstack/latest/network_data.json:{"links":[]}');
    expect(text).toContain('./openstack/2012-08-10/vendor_data.json:{"a":1}');
  });

  const makers = foundBy<{ programs: Readonly<Record<string, string>> }>('iso.js');
  (makers.programs ? test : test.skip)(
    `carries its label and files, made by a real program${makers.missing ? ` (skipped: ${makers.missing})` : ''}`,
    async () => {
      const node = nodeOf({ configdrive: { user_data: '#cloud-config of web-1' } });
      for (const program of Object.values(makers.programs!)) {
        const drive = await configDrive(node, { signal, programs: [program] });
        const iso = gunzipSync(Buffer.from(drive!, 'base64'));
        // ISO 9660: the primary volume descriptor is sector 16, the volume's name 40 bytes into it.
        expect(iso.toString('latin1', 32_808, 32_840).trim()).toBe('config-2');
        expect(iso.includes('#cloud-config of web-1')).toBe(true);
        expect(iso.includes('user_data')).toBe(true);
      }
    },
  );

  test('needs a program for that, and says which', async () => {
    const node = nodeOf({ configdrive: { user_data: 'hunter2' } });
    const building = configDrive(node, { signal, programs: ['no-such-program'] });
    await expect(building).rejects.toMatchObject({ code: 'ConfigDriveFailed' });
    await expect(building).rejects.toThrow(/no-such-program.*base64/);
  });

  test('whose program fails says so and shows nothing of it', async () => {
    const node = nodeOf({ configdrive: { user_data: 'hunter2' } });
    const building = configDrive(node, { signal, programs: [await program(3)] });
    await expect(building).rejects.toMatchObject({ code: 'ConfigDriveFailed' });
    await expect(building).rejects.not.toThrow(/hunter2/);
  });

  test('of another type is refused', async () => {
    await expect(configDrive(nodeOf({ configdrive: 7 }), { signal })).rejects.toMatchObject({
      code: 'ConfigDriveFailed',
    });
  });
});

describe('the boot loader', () => {
  test('of a partition image is installed for the partitions that were made', async () => {
    const { run, journal } = await ramdisks.bench(partition);
    await run('agent_install_bootloader');
    expect(journal()).toEqual(['standby.get_partition_uuids', 'image.install_bootloader']);
  });

  test('of a partition image is not installed by a ramdisk that does not know the partitions', async () => {
    const { run, fault, journal } = await ramdisks.bench(partition);
    fault({ kind: 'odd-result', match: 'get_partition_uuids' });
    await expect(run('agent_install_bootloader')).rejects.toMatchObject({
      code: 'StepRejected',
      message: expect.stringContaining('another one wrote it'),
    });
    expect(journal()).toEqual(['standby.get_partition_uuids']);
  });

  test('of a whole-disk image is installed under UEFI', async () => {
    const { run, journal } = await ramdisks.bench(whole);
    await run('agent_install_bootloader');
    expect(journal()).toEqual(['image.install_bootloader']);
  });

  test('of a whole-disk image is left alone under BIOS', async () => {
    const { run, journal } = await ramdisks.bench(whole);
    await run('agent_install_bootloader', {}, { node: { boot_mode: 'bios' } });
    expect(journal()).toEqual([]);
  });
});

describe('rescue', () => {
  const args = { rescue_password: '$5$salt$hash' };

  test('sets the hash it is given', async () => {
    const { run, journal } = await ramdisks.bench();
    expect(await run('agent_finalize_rescue', args)).toMatchObject({ is: 'done' });
    expect(journal()).toEqual(['rescue.finalize_rescue']);
  });

  test('is done although the answer was lost and the ramdisk has closed its door', async () => {
    const { run, fault, journal } = await ramdisks.bench();
    fault({ kind: 'lost-reply', match: 'finalize_rescue' });
    const intents = intentsOf('agent_finalize_rescue');
    expect(await run('agent_finalize_rescue', args, { intents })).toMatchObject({ is: 'done' });
    expect(await run('agent_finalize_rescue', args, { intents, attempt: 2 })).toMatchObject({ is: 'done' });
    expect(journal()).toEqual(['rescue.finalize_rescue']);
    expect(JSON.stringify(intents.kept)).not.toContain(args.rescue_password);
  });

  test('is not done when the door was closed before anything was sent', async () => {
    const { failure, node } = await ramdisks.bench();
    ramdisks.agents.powerLost(node.ports![0]!.address);
    expect(await failure('agent_finalize_rescue', args)).toMatchObject({ code: 'AgentUnreachable' });
  });

  test('without a password is refused by the ramdisk', async () => {
    const { failure } = await ramdisks.bench();
    expect(await failure('agent_finalize_rescue', { rescue_password: '' })).toMatchObject({ code: 'StepRejected' });
  });
});

describe('going down', () => {
  test('writes buffers first, and waits until the ramdisk is gone', async () => {
    const { run, journal } = await ramdisks.bench();
    expect(await run('agent_power_off')).toMatchObject({ note: 'the ramdisk is down' });
    expect(journal()).toEqual(['standby.sync', 'standby.power_off']);
  });

  test('is done by an attempt that finds it gone after it was asked', async () => {
    const { run, journal } = await ramdisks.bench();
    const intents = intentsOf('agent_power_off');
    await run('agent_power_off', {}, { intents });
    expect(await run('agent_power_off', {}, { intents, attempt: 2 })).toMatchObject({ is: 'done' });
    expect(journal()).toHaveLength(2);
  });

  test('is not done when no ramdisk could be asked', async () => {
    const { failure, node } = await ramdisks.bench();
    ramdisks.agents.powerLost(node.ports![0]!.address);
    expect(await failure('agent_power_off')).toMatchObject({ code: 'AgentUnreachable', retry: true });
  });
});
