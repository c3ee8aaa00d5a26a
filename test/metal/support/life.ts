/** What the lives of machines have in common: states, properties, and one deployment with a config drive. */
import type { Lab } from './lab';
import { sshKey } from './ssh';
import { note, withinMs } from './steps';

/** Given to commands that wait for a state. */
export const wait = ['--wait', String(withinMs / 1000)];

export const marker = 'written-by-user-data';

/** `--option key=value` of each. */
const pairs = (given: Readonly<Record<string, string>>, option: string): string[] =>
  Object.entries(given).flatMap(([key, value]) => [option, `${key}=${value}`]);

const fields = ['provision_state', 'last_error', 'maintenance'];

/** Expects the node to be at rest in a state, with no error. */
export const rests = async (lab: Lab, wanted: string): Promise<void> => {
  const shown = JSON.parse(await lab.baremetal('node', 'show', 'metal-1', '-f', 'json', '--fields', ...fields));
  expect(shown).toMatchObject({ provision_state: wanted, last_error: null, maintenance: false });
  note(wanted);
};

/** Asks for a verb, and expects the state in which it ends. */
export const acts = async (lab: Lab, verb: string, ends: string, ...more: string[]): Promise<void> => {
  await lab.baremetal('node', verb, 'metal-1', ...more, ...wait);
  await rests(lab, ends);
};

/** Makes the runbook by which the node is cleaned: it erases what its disks begin with. */
export const addCleaning = async (lab: Lab): Promise<void> => {
  const steps = JSON.stringify([{ interface: 'deploy', step: 'erase_devices_metadata', order: 1, args: {} }]);
  await lab.baremetal('runbook', 'create', '--name', 'CUSTOM_METADATA', '--public', 'True', '--steps', steps);
  await lab.baremetal('node', 'add', 'trait', 'metal-1', 'CUSTOM_METADATA');
};

/** Creates the node by the address of its BMC, with a runbook to be cleaned by. */
export const enrol = async (lab: Lab, more: Readonly<Record<string, string>> = {}): Promise<void> => {
  const named = ['--driver', 'redfish', '--name', 'metal-1', '--resource-class', 'metal'];
  await lab.baremetal('node', 'create', ...named, ...pairs(lab.bmc, '--driver-info'), ...pairs(more, '--driver-info'));
  await addCleaning(lab);
};

/** The small system's image, with its digest; `more` replaces what it says. */
export const imaged = async (lab: Lab, more: Readonly<Record<string, string>> = {}): Promise<void> => {
  const { url, sha256 } = lab.image;
  const image = {
    image_source: url,
    image_disk_format: 'raw',
    image_os_hash_algo: 'sha256',
    image_os_hash_value: sha256,
  };
  await lab.baremetal('node', 'set', 'metal-1', ...pairs({ ...image, ...more }, '--instance-info'));
};

/** A config drive with a key and user data, as `--config-drive` takes it; and where the private key is. */
export const configDrive = (lab: Lab): { readonly drive: string[]; readonly key: string } => {
  const { publicKey, privateKey } = sshKey(lab.folder);
  const drive = {
    meta_data: { name: 'metal-one', hostname: 'metal-one', public_keys: { metal: publicKey } },
    user_data: `#cloud-config\nwrite_files:\n- path: /etc/marker\n  content: ${marker}\n`,
  };
  return { drive: ['--config-drive', JSON.stringify(drive)], key: privateKey };
};

// The header of a GPT is in the second sector (UEFI, 5.3.2).
const gptAt = 512;

/** Whether the first disk has a partition table. */
export const hasTable = (lab: Lab): boolean => lab.machine.disk(gptAt, 8).toString('latin1') === 'EFI PART';

// The second entry of the table begins in the third sector and has 128 bytes; the first sector of its partition is at 32 (UEFI, 5.3.3).
const rootEntryAt = 2 * 512 + 128;
// Of ext4: its superblock is at 1024, and the magic number at 0x38 of that (Documentation/filesystems/ext4/super.rst of Linux).
const magicAt = 1024 + 0x38;

/** Where the magic number of the deployed system's root is on the first disk, in bytes. */
export const rootMagicAt = (lab: Lab): number =>
  Number(lab.machine.disk(rootEntryAt + 32, 8).readBigUInt64LE()) * 512 + magicAt;

/** Whether a file system begins where `place` is from `rootMagicAt`. */
export const hasRoot = (lab: Lab, place: number): boolean => lab.machine.disk(place, 2).readUInt16LE() === 0xef53;
