/** Types of steps: in the catalogue, in requests, and in runs. */
import type { NodeUuid } from '../ids';
import type { ActName, Effect } from './acts';
import type { Event } from './states';

export const stepInterfaces = ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid'] as const;

export type StepInterface = (typeof stepInterfaces)[number];

export type ArgRow = {
  readonly type: 'any' | 'string' | 'boolean' | 'integer' | 'object' | 'list' | 'settings' | 'items' | 'raid';
  /** Fields of each item, for type `items`. */
  readonly of?: Readonly<Record<string, ArgRow>>;
  readonly required?: boolean;
  readonly oneOf?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly says: string;
};

/** A vendor's hardware type has the steps of the driver that it speaks. */
export type StepDriver = 'redfish' | 'ipmi' | 'fake-hardware';

/** Kinds of run in which a caller may name a step. */
export const stepVerbs = ['clean', 'service', 'deploy'] as const;
export type StepVerb = (typeof stepVerbs)[number];

/** The fields that decide which steps a node offers. */
export type Equipment = {
  readonly driver: string;
  /** Reported by its own ramdisk. */
  readonly reported_steps?: readonly ReportedStep[] | null;
} & {
  readonly [name in `${InterfaceName}_interface`]?: string | null;
};

export type StepRow = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly verbs: readonly StepVerb[];
  readonly drivers: readonly StepDriver[];
  /** All except the `no-` ones if absent. */
  readonly implementations?: readonly string[];
  /** Runs in the ramdisk, which is booted for it. */
  readonly ramdisk?: true;
  /** Above 0: part of automated cleaning, highest first. */
  readonly priority: number;
  readonly acts: readonly ActName[];
  readonly args: Readonly<Record<string, ArgRow>>;
  /** False if an abort takes effect only at its end. */
  readonly abortable: boolean;
  /** May park for an operator if its effect is unknown. Only acts that do not converge need this. */
  readonly parks: boolean;
  /** Destroys data on disks, if its acts do not declare that. */
  readonly erases?: true;
  readonly says: string;
};

export type GivenStep = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly order?: number;
  readonly temper?: StepSettings;
};

/** Reactions to a step that failed for a known reason. */
export const failureChoices = ['fail', 'park', 'continue'] as const;

type OnFailure = (typeof failureChoices)[number];

/** Callbacks of the ramdisk: a heartbeat, or an inventory. */
export type Awaited = 'heartbeat' | 'inspection';

/** The key `temper` of a step in requests. */
export type StepSettings = {
  /** Seconds for all attempts of all acts together. */
  readonly timeout?: number;
  /** Attempts of each act at most. It only lowers the limit of the act's class, so that a `once` act never happens twice. */
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

/** Fixed at acceptance. Secrets in `args` are references. */
export type PlannedStep = {
  readonly index: number;
  readonly interface: StepInterface;
  readonly step: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly acts: readonly { readonly act: ActName; readonly effect: Effect }[];
  readonly waits: null | 'unhold' | 'time';
  readonly abortable: boolean;
  readonly parks: boolean;
  /** Runs on this node instead. The run holds it as well. */
  readonly on?: NodeOfStep;
  /** Part of the run's own plan, not of the caller's list. */
  readonly system?: true;
  /** Ends with this callback of the ramdisk, after its acts. */
  readonly awaits?: Awaited;
  /** State machine event before the step. */
  readonly event?: Event;
  /** Above 0 for steps of a deployment, which run by priority. */
  readonly priority?: number;
  /** For all attempts of all acts; the profile's limits if absent. */
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

export type ReportedStep = {
  readonly interface: string;
  readonly step: string;
  readonly priority: number;
  readonly abortable?: boolean;
  readonly reboot_requested?: boolean;
  readonly argsinfo?: Readonly<Record<string, { readonly description?: string; readonly required?: boolean }>> | null;
};

/** Steps of an early end after the ramdisk was booted; `unbooted` before. */
export type Tidying = {
  readonly failed: readonly PlannedStep[];
  readonly aborted: readonly PlannedStep[];
  readonly unbooted?: readonly PlannedStep[];
};

/** `automatic`: all its steps, by priority. `deploy`: the same among the driver's own. `check`: only the requested ones. */
export type Joins = 'automatic' | 'deploy' | 'check';
