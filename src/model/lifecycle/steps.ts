/** What can run on a node: the shape of a step, and which ones a node offers. */

import type { NodeUuid } from '../ids';
import type { ReportedStep } from '../runs/runs';
import { type ActName, acts, type Effect } from './acts';
import { bootsRamdisk, type InterfaceName, interfaceOf, speaksOf, workerOf } from './drivers';
import { reportedSteps } from './reported-steps';
import { type Event, type PowerTarget, powerTargets } from './states';
import { inBandSteps } from './steps-in-band';
import { outOfBandSteps } from './steps-out-of-band';

export { type ActName, actRow, acts, type Effect, type Patience } from './acts';
export { bootDevices, bootModes, indicatorComponents, indicatorStates, mediaTypes } from './steps-out-of-band';

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

/** The stories in which a caller may name a step. */
export type StepVerb = 'clean' | 'service' | 'deploy';

/** What decides which steps a node offers: its driver, and its interfaces where they are not the driver's defaults. */
export type Equipment = {
  readonly driver: string;
  /** What its own ramdisk has told that it can do. */
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
  readonly says: string;
};

/** The whole catalogue. */
export const steps: readonly StepRow[] = [...outOfBandSteps, ...inBandSteps];

/** Steps whose name is reserved: any interface may carry them, and the workflow itself does the waiting ones. */
export const reservedSteps = {
  power_on: { acts: ['power_on'], waits: null, args: {}, says: 'Power the node on.' },
  power_off: { acts: ['power_off'], waits: null, args: {}, says: 'Power the node off.' },
  reboot: { acts: ['power_off', 'power_on'], waits: null, args: {}, says: 'Power the node off and on again.' },
  hold: { acts: [], waits: 'unhold', args: {}, says: 'Stop here until somebody sends unhold.' },
  wait: {
    acts: [],
    waits: 'time',
    args: {
      seconds: {
        type: 'integer',
        min: 1,
        max: 86_400,
        says: 'how long; the next heartbeat of the ramdisk when absent',
      },
    },
    says: 'Wait for some seconds; without them, for the next sign of the ramdisk.',
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
  /** Belongs to the story itself, not to the caller's list. */
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

/** At most this many steps in one run; keeps a run's history far below the engine's limits. */
export const maxSteps = 100;

/** How a step is called in texts, policy rules and summaries. */
export const nameOf = (step: { interface: string; step: string }): string => `${step.interface}.${step.step}`;

const offers = (row: StepRow, node: Equipment): boolean => {
  const driver = speaksOf(node.driver);
  if (!driver || !row.drivers.includes(driver) || interfaceOf(node, row.interface).startsWith('no-')) return false;
  if (row.implementations && !row.implementations.includes(workerOf(node, row.interface))) return false;
  return !row.ramdisk || bootsRamdisk(node);
};

// A ramdisk may name what no list of steps can carry.
const carried: readonly string[] = stepInterfaces;

/** What can run on a node: the catalogue's part, then what only its own ramdisk has. One with an unknown driver offers nothing. */
export const stepsOf = (node: Equipment): StepRow[] => {
  const known = steps.filter((row) => offers(row, node));
  const names = new Set(known.map(nameOf));
  const own = reportedSteps(node).filter((row) => carried.includes(row.interface) && !names.has(nameOf(row)));
  return [...known, ...own];
};

/** Which interface of those with steps goes first where priorities are equal; openstack/ironic:ironic/conductor/steps.py. */
const interfaceRank: Readonly<Record<StepInterface, number>> = {
  vendor: 7,
  power: 6,
  management: 5,
  firmware: 4,
  deploy: 3,
  bios: 2,
  raid: 1,
};

/** Highest priority first, then by interface. */
export const byPriority = <Step extends { priority?: number; interface: StepInterface }>(
  list: readonly Step[],
): Step[] =>
  [...list].sort(
    (a, b) => (b.priority ?? 0) - (a.priority ?? 0) || interfaceRank[b.interface] - interfaceRank[a.interface],
  );

/** The steps of automated cleaning that a node offers. Those of the ramdisk are known once it runs: it tells its own priorities. */
export const automaticSteps = (node: Equipment): GivenStep[] =>
  byPriority(stepsOf(node).filter((row) => row.priority > 0 && row.verbs.includes('clean') && !row.ramdisk)).map(
    (row) => ({ interface: row.interface, step: row.step }),
  );

export const planActs = (names: readonly ActName[]): PlannedStep['acts'] =>
  names.map((act) => ({ act, effect: acts[act].effect }));

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
    acts: planActs(powerTargets[target].acts),
    waits: null,
    abortable: false,
    parks: false,
  },
];
