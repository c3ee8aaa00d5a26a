/** The commands an emulated ramdisk knows: what each checks, how long it takes, what it answers. Disks are pretend. */
import { isDeepStrictEqual } from 'node:util';
import { inBandSteps } from '../../src/model/lifecycle/steps-in-band';
import type { AgentTiming, CommandStatus } from './types';

export type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown> | null;

/** A command that ends badly. `status` other than FAILED for the one other way there is. */
export class CommandFault extends Error {
  constructor(
    readonly type: string,
    readonly details: string,
    readonly status: CommandStatus = 'FAILED',
  ) {
    super(details);
  }
}

/** A command that is not taken at all. */
export class NotTaken extends Error {
  constructor(
    readonly status: number,
    readonly says: string,
  ) {
    super(says);
  }
}

export type CommandRow = {
  /** Answered when it has ended; all others run in the background. */
  readonly sync?: true;
  readonly takes?: keyof AgentTiming;
  readonly destructive?: true;
  /** What becomes of the machine once it has ended. */
  readonly leaves?: 'off' | 'restart' | 'rescued' | 'locked';
  /** Throws NotTaken. */
  readonly check?: (params: Params) => void;
  readonly result: (params: Params) => Result;
};

type Kind = 'clean' | 'deploy' | 'service';
type Step = { readonly interface?: unknown; readonly step?: unknown; readonly args?: Params };

const version = { generic_hardware_manager: '1.2' } as const;
const manager = 'GenericHardwareManager';

const stepsOf = (kind: Kind): Record<string, unknown>[] =>
  inBandSteps
    .filter(({ verbs }) => verbs.includes(kind))
    .map(({ interface: name, step, priority, abortable, args }) => ({
      interface: name,
      step,
      // Priorities are those of automated cleaning.
      priority: kind === 'clean' ? priority : 0,
      abortable,
      reboot_requested: step.startsWith('update_nvidia'),
      argsinfo: Object.fromEntries(
        Object.entries(args).map(([arg, { says, required }]) => [
          arg,
          { description: says, required: required ?? false },
        ]),
      ),
    }));

const runStep = (kind: Kind, params: Params): Result => {
  const step = (params.step ?? {}) as Step;
  const given = params[`${kind}_version`];
  if (given !== undefined && given !== null && !isDeepStrictEqual(given, version))
    throw new CommandFault('VersionMismatch', `agent has ${JSON.stringify(version)}`, 'CLEAN_VERSION_MISMATCH');
  if (!stepsOf(kind).some((known) => known.interface === step.interface && known.step === step.step))
    throw new CommandFault('CleaningError', `no hardware manager has ${step.interface}.${step.step}`);
  return { [`${kind}_result`]: resultOf(step, params), [`${kind}_step`]: step };
};

/** What a step returns: RAID steps the configuration they made. */
const resultOf = ({ interface: name, step, args }: Step, params: Params): unknown => {
  if (name !== 'raid') return null;
  if (step === 'delete_configuration') return { logical_disks: [] };
  return args?.raid_config ?? (params.node as Params | undefined)?.target_raid_config ?? {};
};

const stepCommands = (kind: Kind): Record<string, CommandRow> => ({
  [`${kind}.get_${kind}_steps`]: {
    sync: true,
    result: () => ({ [`${kind}_steps`]: { [manager]: stepsOf(kind) }, hardware_manager_version: version }),
  },
  [`${kind}.execute_${kind}_step`]: { takes: 'stepMs', destructive: true, result: (params) => runStep(kind, params) },
});

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const checkImage = ({ image_info }: Params): void => {
  const info = (image_info ?? {}) as Params;
  const refuse = (says: string) => {
    throw new NotTaken(400, `Invalid command parameters: ${says}`);
  };
  if (!isText(info.id)) refuse("Image is missing 'id'");
  if (!Array.isArray(info.urls) || info.urls.length === 0) refuse("Image 'urls' must name one");
  if (!isText(info.checksum) && !(isText(info.os_hash_algo) && isText(info.os_hash_value)))
    refuse('Image has no checksum');
};

const imageResult = ({ image_info }: Params): Result => ({
  result: `prepare_image: image (${(image_info as Params).id}) written to device /dev/sda`,
});

const checkPassword = ({ rescue_password }: Params): void => {
  if (!isText(rescue_password)) throw new NotTaken(400, 'Invalid command parameters: rescue_password is empty');
};

const nothing = (): Result => null;

const commandRows: Readonly<Record<string, CommandRow>> = {
  ...stepCommands('clean'),
  ...stepCommands('deploy'),
  ...stepCommands('service'),
  'standby.prepare_image': { takes: 'imageMs', destructive: true, check: checkImage, result: imageResult },
  'standby.run_image': { takes: 'powerOffMs', leaves: 'restart', result: nothing },
  'standby.power_off': { takes: 'powerOffMs', leaves: 'off', result: nothing },
  'standby.sync': { sync: true, result: nothing },
  'standby.get_partition_uuids': {
    sync: true,
    result: () => ({
      partitions: {},
      'root uuid': '6ac2b7d4-6f0b-4a5b-9c0e-2f9f1b7c1d11',
      'efi system partition uuid': 'A1B2-C3D4',
    }),
  },
  'image.install_bootloader': { takes: 'bootloaderMs', result: nothing },
  'rescue.finalize_rescue': { sync: true, leaves: 'rescued', check: checkPassword, result: nothing },
  'log.collect_system_logs': { sync: true, result: () => ({ system_logs: '' }) },
  'poll.get_hardware_info': { sync: true, result: () => ({ interfaces: [] }) },
  'system.lockdown': { sync: true, leaves: 'locked', result: nothing },
};

/** Throws NotTaken for names that no ramdisk has. */
export const commandRow = (name: string): CommandRow => {
  const row = Object.hasOwn(commandRows, name) ? commandRows[name] : undefined;
  if (row) return row;
  const [extension = ''] = name.split('.');
  const known = Object.keys(commandRows).some((one) => one.startsWith(`${extension}.`));
  throw known
    ? new NotTaken(400, `Invalid command: Unknown command: ${name}`)
    : new NotTaken(404, `Extension with id ${extension} not found.`);
};
