/** What can run on a node: every step with its arguments, effect and acts, and the pure checks of a caller's list. */
import { raise } from './errors';
import { type PowerTarget, powerTargets } from './states';

/**
 * How an act relates to the world, which decides how it is retried.
 * `read` only looks. `converge` looks before it acts, so a repeat is harmless. `once` may harm when done twice:
 * its intent is recorded first, and a second attempt only looks.
 */
export type Effect = 'read' | 'converge' | 'once';

/** For how long one attempt of an act may wait for the world to agree. */
export type Patience = 'power' | 'soft power' | 'start';

type ActRow = { readonly effect: Effect; readonly patience?: Patience; readonly says: string };

/** Single acts on a BMC. A step is one or more of them in order; each is one activity, so a crash loses at most one. */
export const acts = {
  verify: { effect: 'read', says: 'read power, boot mode and identity' },
  power_on: { effect: 'converge', patience: 'power', says: 'power on' },
  power_off: { effect: 'converge', patience: 'power', says: 'power off' },
  soft_power_off: { effect: 'converge', patience: 'soft power', says: 'ask the system to shut down' },
  set_boot_device: { effect: 'converge', says: 'set the boot device' },
  set_boot_mode: { effect: 'converge', says: 'set the boot mode' },
  stage_bios: { effect: 'converge', says: 'stage BIOS settings' },
  stage_bios_reset: { effect: 'converge', says: 'stage a reset of the BIOS settings' },
  confirm_bios: { effect: 'read', patience: 'start', says: 'wait for the BIOS to show the settings' },
  confirm_bios_reset: { effect: 'read', patience: 'start', says: 'wait for the BIOS to show its defaults' },
  set_secure_boot: { effect: 'converge', says: 'set secure boot' },
  reset_secure_boot_keys: { effect: 'once', says: 'reset the secure boot keys to default' },
  clear_secure_boot_keys: { effect: 'once', says: 'clear the secure boot keys' },
  insert_media: { effect: 'converge', says: 'insert virtual media' },
  eject_media: { effect: 'converge', says: 'eject virtual media' },
  set_indicator: { effect: 'converge', says: 'set the indicator' },
  reset_bmc: { effect: 'once', says: 'reset the BMC and wait until it is back' },
  log: { effect: 'converge', says: 'write a line to the log' },
} as const satisfies Record<string, ActRow>;

export type ActName = keyof typeof acts;

/** An act's row with every optional column present in its type. */
export const actRow = (act: ActName): ActRow => acts[act];

/** The interfaces a caller's step may name on the wire. */
export const stepInterfaces = ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid'] as const;
export type StepInterface = (typeof stepInterfaces)[number];

export type ArgRow = {
  readonly type: 'string' | 'boolean' | 'integer' | 'object' | 'list' | 'settings';
  readonly required?: boolean;
  readonly oneOf?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly says: string;
};

/** Which kind of driver implements the step. */
export type StepDriver = 'redfish' | 'fake-hardware';

export type StepRow = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly verbs: readonly ('clean' | 'service')[];
  readonly drivers: readonly StepDriver[];
  /** Above 0: part of automated cleaning, highest first. */
  readonly priority: number;
  readonly acts: readonly ActName[];
  readonly args: Readonly<Record<string, ArgRow>>;
  /** Whether an abort may cancel it in the middle; otherwise the abort takes effect when it ends. */
  readonly abortable: boolean;
  /** Whether it may park for a person when its effect cannot be known. Only acts that do not converge ever need to. */
  readonly parks: boolean;
  readonly says: string;
};

const both: readonly ('clean' | 'service')[] = ['clean', 'service'];
const every: readonly StepDriver[] = ['redfish', 'fake-hardware'];

export const bootDevices = ['pxe', 'disk', 'cdrom', 'bios', 'uefihttp'] as const;
export const bootModes = ['bios', 'uefi'] as const;
export const mediaTypes = ['cdrom', 'disk', 'floppy'] as const;
export const indicatorStates = ['on', 'off', 'blinking'] as const;

export const steps: readonly StepRow[] = [
  {
    interface: 'bios',
    step: 'apply_configuration',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['stage_bios', 'power_off', 'power_on', 'confirm_bios'],
    args: { settings: { type: 'settings', required: true, says: 'list of {name, value}' } },
    abortable: false,
    parks: false,
    says: 'Change BIOS settings; restarts the node when anything differs.',
  },
  {
    interface: 'bios',
    step: 'factory_reset',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['stage_bios_reset', 'power_off', 'power_on', 'confirm_bios_reset'],
    args: {},
    abortable: false,
    parks: false,
    says: 'Set all BIOS settings to their defaults; restarts the node.',
  },
  {
    interface: 'management',
    step: 'set_boot_device',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['set_boot_device'],
    args: {
      boot_device: { type: 'string', required: true, oneOf: bootDevices, says: 'where to boot from' },
      persistent: { type: 'boolean', says: 'for every boot, not only the next; default false' },
    },
    abortable: false,
    parks: false,
    says: 'Set the device of the next boot, or of every boot.',
  },
  {
    interface: 'management',
    step: 'set_boot_mode',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['set_boot_mode'],
    args: { boot_mode: { type: 'string', required: true, oneOf: bootModes, says: 'firmware interface to boot with' } },
    abortable: false,
    parks: false,
    says: 'Set the boot mode; takes effect at the next boot.',
  },
  {
    interface: 'management',
    step: 'set_secure_boot',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['set_secure_boot'],
    args: { enabled: { type: 'boolean', required: true, says: 'whether only signed boot loaders may start' } },
    abortable: false,
    parks: false,
    says: 'Switch secure boot on or off; takes effect at the next boot.',
  },
  {
    interface: 'management',
    step: 'reset_secure_boot_keys_to_default',
    verbs: ['clean'],
    drivers: every,
    priority: 0,
    acts: ['reset_secure_boot_keys'],
    args: {},
    abortable: false,
    parks: true,
    says: 'Restore the vendor’s secure boot keys.',
  },
  {
    interface: 'management',
    step: 'clear_secure_boot_keys',
    verbs: ['clean'],
    drivers: every,
    priority: 0,
    acts: ['clear_secure_boot_keys'],
    args: {},
    abortable: false,
    parks: true,
    says: 'Delete all secure boot keys.',
  },
  {
    interface: 'management',
    step: 'attach_virtual_media',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['insert_media'],
    args: {
      image_url: { type: 'string', required: true, says: 'http or https URL of the image, reachable by the BMC' },
      device_type: { type: 'string', oneOf: mediaTypes, says: 'kind of drive; default cdrom' },
    },
    abortable: false,
    parks: false,
    says: 'Insert an image into a virtual drive.',
  },
  {
    interface: 'management',
    step: 'detach_virtual_media',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['eject_media'],
    args: { device_type: { type: 'string', oneOf: mediaTypes, says: 'kind of drive; default all' } },
    abortable: false,
    parks: false,
    says: 'Eject images from the virtual drives.',
  },
  {
    interface: 'management',
    step: 'set_indicator',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['set_indicator'],
    args: { state: { type: 'string', required: true, oneOf: indicatorStates, says: 'light of the system' } },
    abortable: true,
    parks: false,
    says: 'Set the identification light.',
  },
  {
    interface: 'management',
    step: 'reset_bmc',
    verbs: both,
    drivers: every,
    priority: 0,
    acts: ['reset_bmc'],
    args: {},
    abortable: false,
    parks: true,
    says: 'Restart the BMC itself and wait until it answers again.',
  },
  {
    interface: 'vendor',
    step: 'log_passthrough',
    verbs: both,
    drivers: ['fake-hardware'],
    priority: 1,
    acts: ['log'],
    args: {},
    abortable: true,
    parks: false,
    says: 'Does nothing but be counted; the one automatic step of fake-hardware.',
  },
];

/** Steps whose name is reserved: any interface may carry them, and the workflow itself does the waiting ones. */
export const reservedSteps = {
  power_on: { acts: ['power_on'], waits: null, args: {}, says: 'Power the node on.' },
  power_off: { acts: ['power_off'], waits: null, args: {}, says: 'Power the node off.' },
  reboot: { acts: ['power_off', 'power_on'], waits: null, args: {}, says: 'Power the node off and on again.' },
  hold: { acts: [], waits: 'unhold', args: {}, says: 'Stop here until somebody sends unhold.' },
  wait: {
    acts: [],
    waits: 'time',
    args: { seconds: { type: 'integer', required: true, min: 1, max: 86_400, says: 'how long' } },
    says: 'Wait for some seconds.',
  },
} as const satisfies Record<
  string,
  { acts: readonly ActName[]; waits: null | 'unhold' | 'time'; args: Record<string, ArgRow>; says: string }
>;

export type ReservedStep = keyof typeof reservedSteps;
export const isReserved = (step: string): step is ReservedStep => Object.hasOwn(reservedSteps, step);

/** A step as a caller writes it, after the edge has parsed it. */
export type GivenStep = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly order?: number;
  readonly temper?: StepSettings;
};

/** What a run does when a step has failed for a known reason. */
export const failureChoices = ['fail', 'park', 'continue'] as const;
export type OnFailure = (typeof failureChoices)[number];

/** What only Temper understands of a step; the key `temper` of a step on the wire. */
export type StepSettings = {
  /** Seconds for all attempts of all its acts together. */
  readonly timeout?: number;
  /** Attempts of each act at most. It can only lower what the act's class allows: what must not happen twice never is. */
  readonly retry?: { readonly attempts: number };
  /** Default `fail`. `park` waits for a person, `continue` goes on with the next step. */
  readonly on_failure?: OnFailure;
};

/** A step as a run carries it: resolved against the table, frozen at acceptance. Secrets in `args` are references. */
export type PlannedStep = {
  readonly index: number;
  readonly interface: StepInterface;
  readonly step: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly acts: readonly { readonly act: ActName; readonly effect: Effect }[];
  readonly waits: null | 'unhold' | 'time';
  readonly abortable: boolean;
  readonly parks: boolean;
  /** For all attempts of all its acts together; the profile's limits when absent. */
  readonly timeoutMs?: number;
  readonly attempts?: number;
  readonly on_failure?: OnFailure;
};

/** At most this many steps in one run; keeps a run's history far below the engine's limits. */
export const maxSteps = 100;

/** How a step is called in texts, policy rules and summaries. */
export const nameOf = (step: { interface: string; step: string }): string => `${step.interface}.${step.step}`;

/** What a node with this driver can run. Unknown drivers have no steps. */
export const stepsOf = (driver: string): StepRow[] => steps.filter((row) => row.drivers.includes(driver as StepDriver));

/** The steps of automated cleaning, highest priority first. The order of ties is the table's. */
export const automaticSteps = (driver: string): GivenStep[] =>
  stepsOf(driver)
    .filter((row) => row.priority > 0 && row.verbs.includes('clean'))
    .sort((a, b) => b.priority - a.priority)
    .map((row) => ({ interface: row.interface, step: row.step }));

/** The steps of a story that takes none from its caller: one look at the BMC. */
export const lookStep: PlannedStep = {
  index: 0,
  interface: 'management',
  step: 'verify',
  args: {},
  acts: [{ act: 'verify', effect: 'read' }],
  waits: null,
  abortable: true,
  parks: false,
};

/** The one step of a power request. */
export const powerSteps = (target: PowerTarget): PlannedStep[] => [
  {
    index: 0,
    interface: 'power',
    step: target,
    args: {},
    acts: powerTargets[target].acts.map((act) => ({ act, effect: acts[act].effect })),
    waits: null,
    abortable: false,
    parks: false,
  },
];

/** Steps that exist in the field but need the ramdisk agent, so that the refusal can say so. */
const inBand =
  /^(deploy\.(erase_|burnin_|clean_uefi_nvram|write_image|inject_files|execute_bootc|generic_container)|raid\.)/;

const fits = (arg: ArgRow, value: unknown): string | undefined => {
  const wrong = (wanted: string) => `must be ${wanted}, got ${JSON.stringify(value)?.slice(0, 60)}`;
  switch (arg.type) {
    case 'string':
      if (typeof value !== 'string' || value === '') return wrong('a non-empty string');
      return arg.oneOf && !arg.oneOf.includes(value) ? wrong(`one of ${arg.oneOf.join(', ')}`) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrong('true or false');
    case 'integer':
      if (!Number.isSafeInteger(value)) return wrong('a whole number');
      return (value as number) < (arg.min ?? -Infinity) || (value as number) > (arg.max ?? Infinity)
        ? wrong(`between ${arg.min} and ${arg.max}`)
        : undefined;
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : wrong('an object');
    case 'list':
      return Array.isArray(value) ? undefined : wrong('a list');
    case 'settings':
      return Array.isArray(value) && value.length > 0 && value.every(isSetting)
        ? undefined
        : wrong('a non-empty list of {name, value}');
  }
};

const isSetting = (item: unknown): boolean =>
  typeof item === 'object' &&
  item !== null &&
  typeof (item as { name?: unknown }).name === 'string' &&
  Object.keys(item).every((key) => key === 'name' || key === 'value') &&
  ['string', 'number', 'boolean'].includes(typeof (item as { value?: unknown }).value);

/** Refuses unknown, missing and ill-typed arguments of a step. Throws InvalidStepArgs naming step, argument and what came. */
export const checkArgs = (
  name: string,
  rows: Readonly<Record<string, ArgRow>>,
  args: Readonly<Record<string, unknown>>,
): void => {
  const refuse = (reason: string) => raise('InvalidStepArgs', { step: name, reason });
  for (const key of Object.keys(args))
    if (!Object.hasOwn(rows, key))
      refuse(`unexpected argument ${key}; known are: ${Object.keys(rows).join(', ') || 'none'}`);
  for (const [key, row] of Object.entries(rows)) {
    if (args[key] === undefined) {
      if (row.required) refuse(`argument ${key} is missing (${row.says})`);
      continue;
    }
    const fault = fits(row, args[key]);
    if (fault) refuse(`argument ${key} ${fault}`);
  }
};

/**
 * Resolves a caller's list against the table for one verb and driver: ordered by `order`, then position; reserved steps kept.
 * Throws InvalidSteps, InvalidStepArgs, RamdiskNeeded or DriverUnsupported, always naming the step.
 */
export const planSteps = (given: readonly GivenStep[], verb: 'clean' | 'service', driver: string): PlannedStep[] => {
  if (given.length > maxSteps)
    raise('InvalidSteps', { reason: `A run has at most ${maxSteps} steps; ${given.length} came.` });
  return given
    .map((step, position) => ({ step, position }))
    .sort((a, b) => (a.step.order ?? 0) - (b.step.order ?? 0) || a.position - b.position)
    .map(({ step }, index) => planStep(step, index, verb, driver));
};

const planStep = (step: GivenStep, index: number, verb: 'clean' | 'service', driver: string): PlannedStep => {
  const args = step.args ?? {};
  const base = { index, interface: step.interface, step: step.step, args, ...settingsOf(step) };
  if (isReserved(step.step)) {
    const row = reservedSteps[step.step];
    checkArgs(nameOf(step), row.args, args);
    return { ...base, acts: planActs(row.acts), waits: row.waits, abortable: true, parks: false };
  }
  const row = findStep(step, verb, driver);
  checkArgs(nameOf(step), row.args, args);
  return { ...base, acts: planActs(row.acts), waits: null, abortable: row.abortable, parks: row.parks };
};

const settingsOf = ({ temper }: GivenStep): Pick<PlannedStep, 'timeoutMs' | 'attempts' | 'on_failure'> => ({
  ...(temper?.timeout && { timeoutMs: temper.timeout * 1_000 }),
  ...(temper?.retry && { attempts: temper.retry.attempts }),
  ...(temper?.on_failure && temper.on_failure !== 'fail' && { on_failure: temper.on_failure }),
});

const planActs = (names: readonly ActName[]) => names.map((act) => ({ act, effect: acts[act].effect }));

const findStep = (step: GivenStep, verb: 'clean' | 'service', driver: string): StepRow => {
  const row = stepsOf(driver).find((known) => known.interface === step.interface && known.step === step.step);
  if (row?.verbs.includes(verb)) return row;
  if (row)
    return raise('InvalidSteps', {
      reason: `Step ${nameOf(step)} cannot be used with ${verb}, only with ${row.verbs.join(', ')}.`,
    });
  if (inBand.test(nameOf(step))) return raise('RamdiskNeeded', { step: nameOf(step) });
  return raise('InvalidSteps', {
    reason: `Driver ${driver} has no step ${nameOf(step)}; it has: ${stepsOf(driver).map(nameOf).join(', ')}, and the reserved ${Object.keys(reservedSteps).join(', ')}.`,
  });
};
