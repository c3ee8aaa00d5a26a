/** The life of one machine: real firmware, the real ramdisk from the boot service, an operating system on a disk that was really written. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suiteOf } from '../support/found';
import { metalGiven, metalMissing } from './support/given';
import { type Impostor, startImpostor } from './support/impostor';
import { type Lab, machineAddress, openLab } from './support/lab';
import { until } from './support/shell';

const minutes = 60_000;
/** Whole hours only end what never would: an emulated processor on a busy machine is slow. */
const withinMs = 60 * minutes;
jest.setTimeout(3 * withinMs);

/** One boot of the ramdisk less. */
const isShort = process.env.TEMPER_TEST_METAL_SHORT === '1';

const onMetal = suiteOf('a machine with real firmware', metalMissing);

onMetal('a machine with real firmware', () => {
  let lab: Lab;
  let impostor: Impostor;
  const begun = Date.now();
  /** Notes on stdout how far the life is: minutes are long. */
  const note = (what: string) =>
    process.stdout.write(`${String(Math.round((Date.now() - begun) / 1000)).padStart(5)} s  ${what}\n`);
  const wait = ['--wait', String(withinMs / 1000)];
  const state = async (wanted: string) => {
    const shown = JSON.parse(
      await lab.baremetal(
        'node',
        'show',
        'metal-1',
        '-f',
        'json',
        '--fields',
        'provision_state',
        'last_error',
        'maintenance',
      ),
    );
    expect(shown).toMatchObject({ provision_state: wanted, last_error: null, maintenance: false });
    note(wanted);
  };
  const properties = (given: Readonly<Record<string, string>>, option: string) =>
    Object.entries(given).flatMap(([key, value]) => [option, `${key}=${value}`]);

  beforeAll(async () => {
    lab = await openLab(metalGiven());
    impostor = startImpostor(lab.ramdiskApi, lab.machine.mac, 'https://10.77.0.1:9999');
    note('the lab is up');
  });
  afterAll(async () => {
    await impostor?.stop();
    await lab?.close();
  });

  test('it is enrolled by the address of its BMC, and its hardware is read from there', async () => {
    const steps = JSON.stringify([{ interface: 'deploy', step: 'erase_devices_metadata', order: 1, args: {} }]);
    await lab.baremetal('runbook', 'create', '--name', 'CUSTOM_METADATA', '--public', 'True', '--steps', steps);
    const named = ['--driver', 'redfish', '--name', 'metal-1', '--resource-class', 'metal'];
    await lab.baremetal('node', 'create', ...named, ...properties(lab.bmc, '--driver-info'));
    await lab.baremetal('node', 'add', 'trait', 'metal-1', 'CUSTOM_METADATA');
    await lab.baremetal('node', 'manage', 'metal-1', ...wait);
    await state('manageable');
    await lab.baremetal('node', 'inspect', 'metal-1', ...wait);
    await state('manageable');
    const addresses = await lab.baremetal('port', 'list', '--fields', 'address', '-f', 'value');
    expect(addresses.trim()).toBe(lab.machine.mac);
  });

  const cleaned = isShort
    ? 'it is made available without cleaning, as the short form has it'
    : 'it is cleaned by its ramdisk, which it booted from the boot service';
  test(cleaned, async () => {
    const mark = lab.machine.mark();
    if (isShort) await lab.baremetal('node', 'set', 'metal-1', '--no-automated-clean');
    await lab.baremetal('node', 'provide', 'metal-1', ...wait);
    await state('available');
    if (isShort) await lab.baremetal('node', 'set', 'metal-1', '--automated-clean');
    else await lab.machine.says(/ramdisk started: firmware uefi/, minutes, mark);
  });

  test('it is deployed, with both workers killed in the image write: one download, user data has run, and its key opens ssh', async () => {
    const { publicKey, privateKey } = sshKey(lab.folder);
    const { url, sha256 } = lab.image;
    const image = {
      image_source: url,
      image_disk_format: 'raw',
      image_os_hash_algo: 'sha256',
      image_os_hash_value: sha256,
    };
    await lab.baremetal('node', 'set', 'metal-1', ...properties(image, '--instance-info'));
    const marker = 'written-by-user-data';
    const drive = {
      meta_data: { name: 'metal-one', hostname: 'metal-one', public_keys: { metal: publicKey } },
      user_data: `#cloud-config\nwrite_files:\n- path: /etc/marker\n  content: ${marker}\n`,
    };
    const mark = lab.machine.mark();
    const deploying = lab.baremetal('node', 'deploy', 'metal-1', '--config-drive', JSON.stringify(drive), ...wait);
    const over = deploying.then(
      () => true,
      () => true,
    );
    await Promise.race([until('the image to be fetched', withinMs, () => lab.image.requests() > 0), over]);
    note('the image is being written; both workers are killed');
    await Promise.all(
      ['worker-control', 'worker-bmc-default'].map((name) => lab.system.back(name, lab.system.kill(name))),
    );
    await deploying;
    await state('active');
    expect(lab.image.requests()).toBe(1);
    const line = await lab.machine.says(/deployed system started: /, withinMs, mark);
    note(line);
    expect(line).toContain(`hostname metal-one, firmware uefi, marker ${marker}`);
    const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
    const login = ['-i', privateKey, ...options.flatMap((option) => ['-o', option])];
    const asked = 'echo $(cat /etc/marker) $(hostname)';
    const ssh = () => lab.tools.run('ssh', ...login, `debian@${machineAddress}`, asked);
    await until('ssh to answer', withinMs, () =>
      ssh().then(
        () => true,
        () => false,
      ),
    );
    expect((await ssh()).trim()).toBe(`${marker} metal-one`);
    note('ssh answers');
  });

  test('it is torn down, and its disk has no system any more', async () => {
    // The header of a GPT is in the second sector (UEFI, 5.3.2).
    const header = () => lab.machine.disk(512, 8).toString('latin1');
    expect(header()).toBe('EFI PART');
    await lab.baremetal('node', 'undeploy', 'metal-1', ...wait);
    await state('available');
    expect(header()).not.toBe('EFI PART');
  });

  test('a machine that played its ramdisk all the while got no token, and none of its heartbeats was taken', () => {
    expect(impostor.rounds()).toBeGreaterThan(10);
    expect([...impostor.tokens].filter((token) => token !== '******')).toEqual([]);
    expect([...impostor.beats].filter((status) => status < 400)).toEqual([]);
    expect(impostor.tokens.size + impostor.beats.size).toBeGreaterThan(0);
  });

  test('no token of a boot stands on its serial console', () => {
    const text = readFileSync(lab.machine.console, 'latin1');
    expect(text).toContain('ironic-python-agent version');
    expect(text).not.toMatch(/agent[_-]token=[\w-]/);
  });
});

/** A key for this test, made by ssh-keygen's own format. */
const sshKey = (folder: string): { publicKey: string; privateKey: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
  const file = join(folder, 'key');
  rmSync(file, { force: true });
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  const { e, n } = publicKey.export({ format: 'jwk' });
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, bytes.length >> 8, bytes.length & 255]), bytes]);
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.from(n!, 'base64url')]);
  const wire = [Buffer.from('ssh-rsa'), Buffer.from(e!, 'base64url'), modulus].map(field);
  return { publicKey: `ssh-rsa ${Buffer.concat(wire).toString('base64')} metal`, privateKey: file };
};
