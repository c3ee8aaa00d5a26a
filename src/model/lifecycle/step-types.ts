/** Types of steps: in the catalogue, in requests, and in runs. */
import type { NodeUuid } from '../ids';
import type { ActName, Effect } from './acts';
import type { Event } from './states';

/** The interfaces that a caller's step may name. */
export const stepInterfaces = ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid'] as const;

export type StepInterface = (typeof stepInterfaces)[number];

export type ArgRow = {
  readonly type: 'any' | 'string' | 'boolean' | 'integer' | 'object' | 'list' | 'settings' | 'items' | 'raid';
  /** The fields of each item, for a list of type `items`. */
  readonly of?: Readonly<Record<string, ArgRow>>;
  readonly required?: boolean;
  readonly oneOf?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly says: string;
};

/** The driver that implements the step. Vendors' hardware types have the steps of the driver that they speak. */
export type StepDriver = 'redfish' | 'ipmi' | 'fake-hardware';

/** The kinds of run in which a caller may name a step. */
export const stepVerbs = ['clean', 'service', 'deploy'] as const;
export type StepVerb = (typeof stepVerbs)[number];

/** The fields that decide which steps a node offers: its driver, and interfaces other than the driver's defaults. */
export type Equipment = {
  readonly driver: string;
  /** Steps that its own ramdisk has reported. */
  readonly reported_steps?: readonly ReportedStep[] | null;
} & {
  readonly [name in `${InterfaceName}_interface`]?: string | null;
};

export type StepRow = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly verbs: readonly StepVerb[];
  readonly drivers: readonly StepDriver[];
  /** Implementations of its interface that offer it; all except the `no-` ones if absent. */
  readonly implementations?: readonly string[];
  /** Runs in the ramdisk on the node, which is booted for it. */
  readonly ramdisk?: true;
  /** Above 0: part of automated cleaning, highest first. */
  readonly priority: number;
  readonly acts: readonly ActName[];
  readonly args: Readonly<Record<string, ArgRow>>;
  /** True if an abort may cancel it in the middle; otherwise the abort takes effect at its end. */
  readonly abortable: boolean;
  /** True if it may park for an operator because its effect is unknown. Only acts that do not converge need this. */
  readonly parks: boolean;
  /** True if it destroys data on the node's disks and its acts do not declare that. */
  readonly erases?: true;
  readonly says: string;
};

/** A caller's step after the API has parsed it. */
export type GivenStep = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly order?: number;
  readonly temper?: StepSettings;
};

/** Reactions of a run to a step that failed for a known reason. */
export const failureChoices = ['fail', 'park', 'continue'] as const;

type OnFailure = (typeof failureChoices)[number];

/** Callbacks of the ramdisk that a run may wait for: a heartbeat, or the inventory of an inspection. */
export type Awaited = 'heartbeat' | 'inspection';

/** Temper's own settings of a step, under the key `temper` in requests. */
export type StepSettings = {
  /** Seconds for all attempts of all its acts together. */
  readonly timeout?: number;
  /** Attempts of each act at most. It can only lower the limit of the act's class, so that an act that must not happen twice never does. */
  readonly retry?: { readonly attempts: number };
  /** Default `fail`. `park` waits for an operator, `continue` proceeds with the next step. */
  readonly on_failure?: OnFailure;
};

/** Another node that a step runs on, reached by that node's workers. */
export type NodeOfStep = {
  readonly node_uuid: NodeUuid;
  readonly name: string | null;
  readonly conductor_group: string;
};

/** A step of a run: resolved against the table and fixed at acceptance. Secrets in `args` are references. */
export type PlannedStep = {
  readonly index: number;
  readonly interface: StepInterface;
  readonly step: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly acts: readonly { readonly act: ActName; readonly effect: Effect }[];
  readonly waits: null | 'unhold' | 'time';
  readonly abortable: boolean;
  readonly parks: boolean;
  /** Runs on this node instead of the run's own. The run holds this node as well. */
  readonly on?: NodeOfStep;
  /** Belongs to the run's own plan, not to the caller's list. */
  readonly system?: true;
  /** The step ends with this callback of the ramdisk, after its acts. */
  readonly awaits?: Awaited;
  /** The state machine's event before the step. */
  readonly event?: Event;
  /** Above 0 for steps of a deployment, which run by priority. */
  readonly priority?: number;
  /** For all attempts of all its acts together; the profile's limits if absent. */
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

/** Steps on a node whose run ends early: after the ramdisk was booted, and `unbooted` also before. */
export type Tidying = {
  readonly failed: readonly PlannedStep[];
  readonly aborted: readonly PlannedStep[];
  readonly unbooted?: readonly PlannedStep[];
};

/** `automatic`: all steps that it offers, by priority. `deploy`: the same among the driver's own. `check`: only the requested ones. */
export type Joins = 'automatic' | 'deploy' | 'check';
