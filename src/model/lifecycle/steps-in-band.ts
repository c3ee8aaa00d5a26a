/** The catalogue of steps in the ramdisk. */
import { type ArgRow, type StepDriver, type StepRow, type StepVerb, stepVerbs } from './step-types';

const every: readonly StepDriver[] = ['redfish', 'ipmi', 'fake-hardware'];
const object = (says: string, required?: true): ArgRow => ({ type: 'object', ...(required && { required }), says });
const listArg = (says: string, required?: true): ArgRow => ({ type: 'list', ...(required && { required }), says });

type Brief = Pick<StepRow, 'interface' | 'step' | 'verbs' | 'says'> &
  Partial<Pick<StepRow, 'priority' | 'args' | 'abortable' | 'implementations' | 'erases'>>;

const inBand = (row: Brief): StepRow => ({
  drivers: every,
  priority: 0,
  acts: ['agent_step'],
  args: {},
  abortable: true,
  parks: true,
  ramdisk: true,
  ...row,
});

const raidConfig: ArgRow = { type: 'raid', required: true, says: 'the logical disks to make' };
const raidByAgent = ['agent'];
const burnIn = (what: string, verbs: readonly StepVerb[], more: Pick<StepRow, 'erases'> = {}): StepRow =>
  inBand({ interface: 'deploy', step: `burnin_${what}`, verbs, says: `Stress the ${what} for a while.`, ...more });

// openstack/ironic-python-agent:ironic_python_agent/hardware.py, generic hardware manager, with its default priorities.
export const inBandSteps: readonly StepRow[] = [
  inBand({
    interface: 'deploy',
    step: 'erase_devices_metadata',
    erases: true,
    verbs: ['clean', 'deploy'],
    priority: 99,
    says: 'Erase partition tables and other metadata of every disk.',
  }),
  inBand({
    interface: 'deploy',
    step: 'erase_devices',
    erases: true,
    verbs: ['clean'],
    priority: 10,
    says: 'Erase every disk, by its own secure erase if it has one.',
  }),
  inBand({
    interface: 'deploy',
    step: 'erase_devices_express',
    erases: true,
    verbs: ['clean'],
    says: 'Erase disks that can do it at once, and the metadata of the others.',
  }),
  inBand({ interface: 'deploy', step: 'erase_pstore', verbs: ['clean'], says: 'Erase what crashed kernels left.' }),
  inBand({
    interface: 'deploy',
    step: 'clean_uefi_nvram',
    verbs: ['clean', 'deploy'],
    args: { match_patterns: listArg('patterns of boot entries to delete') },
    says: 'Delete boot entries of the firmware.',
  }),
  burnIn('cpu', ['clean', 'service']),
  burnIn('gpu', ['clean', 'service']),
  burnIn('memory', ['clean', 'service']),
  burnIn('network', ['clean', 'service']),
  burnIn('disk', ['clean'], { erases: true }),
  inBand({
    interface: 'deploy',
    step: 'inject_files',
    verbs: ['service', 'deploy'],
    args: {
      files: listArg('what to write where', true),
      verify_ca: { type: 'boolean', says: 'check certificates of sources' },
    },
    says: 'Write files into the deployed system.',
  }),
  inBand({
    interface: 'deploy',
    step: 'generic_container_step',
    verbs: stepVerbs,
    args: {
      container_url: { type: 'string', required: true, says: 'image of the container' },
      pull_options: listArg('options of the pull'),
      run_options: listArg('options of the run'),
    },
    says: 'Run a container in the ramdisk.',
  }),
  inBand({
    interface: 'deploy',
    step: 'update_nvidia_nic_firmware_image',
    verbs: stepVerbs,
    args: { images: listArg('images by card', true) },
    abortable: false,
    says: 'Update the firmware of NVIDIA network cards.',
  }),
  inBand({
    interface: 'deploy',
    step: 'update_nvidia_nic_firmware_settings',
    verbs: stepVerbs,
    args: { settings: listArg('settings by card', true) },
    abortable: false,
    says: 'Set firmware settings of NVIDIA network cards.',
  }),
  inBand({
    interface: 'raid',
    step: 'create_configuration',
    erases: true,
    verbs: ['clean', 'service'],
    implementations: raidByAgent,
    says: 'Make the volumes of the node’s target_raid_config.',
  }),
  inBand({
    interface: 'raid',
    step: 'delete_configuration',
    erases: true,
    verbs: ['clean', 'service'],
    implementations: raidByAgent,
    says: 'Delete every volume.',
  }),
  inBand({
    interface: 'raid',
    step: 'apply_configuration',
    erases: true,
    verbs: ['service', 'deploy'],
    implementations: raidByAgent,
    args: {
      raid_config: raidConfig,
      delete_existing: { type: 'boolean', says: 'delete what is there first; default true' },
    },
    says: 'Make the volumes of the given configuration.',
  }),
  inBand({
    interface: 'deploy',
    step: 'execute_bootc_install',
    erases: true,
    verbs: ['service', 'deploy'],
    args: {
      image_source: { type: 'string', required: true, says: 'container image to install' },
      configdrive: object('configuration drive'),
    },
    says: 'Install a bootable container.',
  }),
];
