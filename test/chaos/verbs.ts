/** What chaos does to nodes: every verb of their life, where each begins and rests, and what it is asked with. */

/** States in which a node rests between two runs. */
export type Rest = 'enroll' | 'manageable' | 'available' | 'active' | 'rescue';

export type ChaosVerb = {
  readonly name: string;
  readonly target: string;
  readonly from: Rest;
  readonly rests: Rest;
  /** Of the host when it begins. */
  readonly power: 'On' | 'Off';
  /** Whether the node has to have a target_raid_config. */
  readonly raid?: true;
  /** Written to the node before. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** What the request carries; the profile of the BMC decides about names. */
  readonly more?: (profile: string) => Readonly<Record<string, unknown>>;
};

/** The ramdisk's disc that the rack's hosts know. Nothing is fetched from this host, ever. */
export const ramdiskImage = 'http://images.example.org/ramdisk.iso';

const image = {
  image_source: 'http://images.example.org/debian.raw',
  image_os_hash_algo: 'sha256',
  image_os_hash_value: '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b',
};

export const step = (name: string, args: Readonly<Record<string, unknown>> = {}) => {
  const [of, called] = name.split('.');
  return { interface: of, step: called, args };
};

/** A BIOS setting that no BMC has yet, by the beginning of its profile's name. */
const settings: readonly (readonly [profile: string, name: string, value: string])[] = [
  ['idrac', 'SysProfile', 'PerfOptimized'],
  ['ilo', 'WorkloadProfile', 'LowLatency'],
  ['xcc', 'OperatingModes_ChooseOperatingMode', 'MaximumPerformance'],
  ['', 'HyperThreading', 'Disabled'],
];
export const settingOf = (profile: string) => {
  const [, name, value] = settings.find(([beginning]) => profile.startsWith(beginning))!;
  return { name, value };
};

export const raidConfig = {
  logical_disks: [{ raid_level: '1', size_gb: 100, volume_name: 'root', is_root_volume: true }],
};
const firmware = (component: string, file: string) =>
  step('firmware.update', { settings: [{ component, url: `http://images.example.org/firmware/${file}` }] });

const settingSteps = (profile: string) => [
  step('deploy.erase_devices_metadata'),
  step('bios.apply_configuration', { settings: [settingOf(profile)] }),
];
const hardwareSteps = [
  step('raid.create_configuration'),
  step('raid.delete_configuration'),
  firmware('bmc', 'bmc-99.1.0.bin'),
  step('management.reset_bmc'),
];

/** The runbook that `service` runs. */
export const runbook = 'CUSTOM_CHAOS';
export const runbookSteps = [
  step('management.set_boot_device', { boot_device: 'disk' }),
  firmware('bios', 'bios-99.1.0.bin'),
  step('deploy.burnin_cpu'),
  step('raid.apply_configuration', { raid_config: raidConfig }),
  step('management.set_indicator', { state: 'blinking' }),
];

export const chaosVerbs: readonly ChaosVerb[] = [
  { name: 'verify', target: 'manage', from: 'enroll', rests: 'manageable', power: 'On' },
  {
    name: 'inspect',
    target: 'inspect',
    from: 'manageable',
    rests: 'manageable',
    power: 'On',
    fields: { inspect_interface: 'redfish' },
  },
  {
    name: 'inspect by agent',
    target: 'inspect',
    from: 'manageable',
    rests: 'manageable',
    power: 'On',
    fields: { inspect_interface: 'agent' },
  },
  {
    name: 'clean',
    target: 'clean',
    from: 'manageable',
    rests: 'manageable',
    power: 'On',
    more: (profile) => ({ clean_steps: settingSteps(profile) }),
  },
  {
    name: 'clean without a ramdisk',
    target: 'clean',
    from: 'manageable',
    rests: 'manageable',
    power: 'On',
    raid: true,
    more: () => ({ clean_steps: hardwareSteps }),
  },
  {
    name: 'adopt',
    target: 'adopt',
    from: 'manageable',
    rests: 'active',
    power: 'On',
    fields: { instance_info: image },
  },
  {
    name: 'deploy',
    target: 'active',
    from: 'available',
    rests: 'active',
    power: 'Off',
    fields: { instance_info: image },
    more: () => ({ configdrive: 'H4sIAAAAAAAAAwMAAAAAAAAAAAA=' }),
  },
  {
    name: 'rebuild',
    target: 'rebuild',
    from: 'active',
    rests: 'active',
    power: 'On',
    fields: { instance_info: image },
  },
  { name: 'service', target: 'service', from: 'active', rests: 'active', power: 'On', more: () => ({ runbook }) },
  {
    name: 'rescue',
    target: 'rescue',
    from: 'active',
    rests: 'rescue',
    power: 'On',
    more: () => ({ rescue_password: 'let-me-in-0' }),
  },
  { name: 'unrescue', target: 'unrescue', from: 'rescue', rests: 'active', power: 'On' },
  {
    name: 'undeploy',
    target: 'deleted',
    from: 'active',
    rests: 'available',
    power: 'On',
    fields: { automated_clean: true },
  },
];
