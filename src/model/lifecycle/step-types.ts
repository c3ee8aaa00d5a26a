/** The shapes of steps: as the catalogue has them, as a caller writes them, and as a run carries them. */
import type { NodeUuid } from '../ids';
import type { ActName, Effect } from './acts';
import type { Event } from './states';

/** The interfaces a caller's step may name on the wire. */
export const stepInterfaces = ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid'] as const;

export type StepInterface = (typeof stepInterfaces)[number];

export type ArgRow = {
  readonly type: 'any' | 'string' | 'boolean' | 'integer' | 'object' | 'list' | 'settings' | 'items' | 'raid';
  /** What each item of a list of type `items` holds. */
  readonly of?: Readonly<Record<string, ArgRow>>;
  readonly required?: boolean;
  readonly oneOf?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly says: string;
};

/** The driver that implements the step; hardware types of a vendor have those of the one that they speak. */
export type StepDriver = 'redfish' | 'ipmi' | 'fake-hardware';

/** The kinds of run in which a caller may name a step. */
export const stepVerbs = ['clean', 'service', 'deploy'] as const;
export type StepVerb = (typeof stepVerbs)[number];

/** What decides which steps a node offers: its driver, and its interfaces where they are not the driver's defaults. */
export type Equipment = {
  readonly driver: string;
  /** What its own ramdisk has reported that it can do. */
  readonly reported_steps?: readonly ReportedStep[] | null;
} & {
  readonly [name in `${InterfaceName}_interface`]?: string | null;
};

export type StepRow = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly verbs: readonly StepVerb[];
  readonly drivers: readonly StepDriver[];
  /** Implementations of its interface that offer it; all but the `no-` ones when absent. */
  readonly implementations?: readonly string[];
  /** Runs in the ramdisk on the node, which is booted for it. */
  readonly ramdisk?: true;
  /** Above 0: part of automated cleaning, highest first. */
  readonly priority: number;
  readonly acts: readonly ActName[];
  readonly args: Readonly<Record<string, ArgRow>>;
  /** Whether an abort may cancel it in the middle; otherwise the abort takes effect when it ends. */
  readonly abortable: boolean;
  /** Whether it may park for a person when its effect cannot be known. Only acts that do not converge ever need to. */
  readonly parks: boolean;
  /** Whether it destroys what is on the node's disks, where its acts do not say so. */
  readonly erases?: true;
  readonly says: string;
};

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

type OnFailure = (typeof failureChoices)[number];

/** What a run may wait for from the ramdisk: a heartbeat, or what it found when inspecting. */
export type Awaited = 'heartbeat' | 'inspection';

/** What only Temper understands of a step; the key `temper` of a step on the wire. */
export type StepSettings = {
  /** Seconds for all attempts of all its acts together. */
  readonly timeout?: number;
  /** Attempts of each act at most. It can only lower what the act's class allows: what must not happen twice never is. */
  readonly retry?: { readonly attempts: number };
  /** Default `fail`. `park` waits for a person, `continue` goes on with the next step. */
  readonly on_failure?: OnFailure;
};

/** Another node that a step runs on, and whose workers reach it. */
export type NodeOfStep = {
  readonly node_uuid: NodeUuid;
  readonly name: string | null;
  readonly conductor_group: string;
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
  /** Runs on this node instead of the run's own; the run holds it as well. */
  readonly on?: NodeOfStep;
  /** Belongs to the run's own plan, not to the caller's list. */
  readonly system?: true;
  /** Done when the ramdisk has called back, once its acts are done. */
  readonly awaits?: Awaited;
  /** What happens to the node before it. */
  readonly event?: Event;
  /** Above 0 for steps of a deployment, which run by priority. */
  readonly priority?: number;
  /** For all attempts of all its acts together; the profile's limits when absent. */
  readonly timeoutMs?: number;
  readonly attempts?: number;
  readonly on_failure?: OnFailure;
};

export const interfaceNames = [
  'bios',
  'boot',
  'console',
  'deploy',
  'firmware',
  'inspect',
  'management',
  'network',
  'power',
  'raid',
  'rescue',
  'storage',
  'vendor',
] as const;

export type InterfaceName = (typeof interfaceNames)[number];

/** A step as the ramdisk reports it. */
export type ReportedStep = {
  readonly interface: string;
  readonly step: string;
  readonly priority: number;
  readonly abortable?: boolean;
  readonly reboot_requested?: boolean;
  readonly argsinfo?: Readonly<Record<string, { readonly description?: string; readonly required?: boolean }>> | null;
};

/** What is done on a node whose run ends early: once the ramdisk was booted, and, with `unbooted`, also before. */
export type Tidying = {
  readonly failed: readonly PlannedStep[];
  readonly aborted: readonly PlannedStep[];
  readonly unbooted?: readonly PlannedStep[];
};

/** `automatic`: all it offers of itself, by priority. `deploy`: the same among the driver's own. `check`: only what was asked for. */
export type Joins = 'automatic' | 'deploy' | 'check';
