/** Steps: the catalogue, and the steps that a node offers. */
import { type ActName, acts } from './acts';
import { bootsRamdisk, interfaceOf, speaksOf, workerOf } from './drivers';
import { type PowerTarget, powerTargets } from './states';
import {
  type ArgRow,
  type Equipment,
  type GivenStep,
  type PlannedStep,
  type ReportedStep,
  type StepInterface,
  type StepRow,
  stepInterfaces,
  stepVerbs,
} from './step-types';
import { inBandSteps } from './steps-in-band';
import { outOfBandSteps } from './steps-out-of-band';

export { type ActName, type ActTimeout, actRow, acts, type Effect } from './acts';
export { bootDevices, bootModes, indicatorComponents, indicatorStates, mediaTypes } from './steps-out-of-band';
export const steps: readonly StepRow[] = [...outOfBandSteps, ...inBandSteps];

/** Allowed on any interface. The workflow itself does the waiting ones. */
export const reservedSteps = {
  power_on: { acts: ['power_on'], waits: null, args: {}, says: 'Power the node on.' },
  power_off: { acts: ['power_off'], waits: null, args: {}, says: 'Power the node off.' },
  reboot: { acts: ['power_off', 'power_on'], waits: null, args: {}, says: 'Power the node off and on again.' },
  hold: { acts: [], waits: 'unhold', args: {}, says: 'Stop until a caller sends unhold.' },
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
/** Keeps a run's history far below Temporal's limits. */
export const maxSteps = 100;

export const nameOf = (step: { interface: string; step: string }): string => `${step.interface}.${step.step}`;

const offers = (row: StepRow, node: Equipment): boolean => {
  const driver = speaksOf(node.driver);
  if (!driver || !row.drivers.includes(driver) || interfaceOf(node, row.interface).startsWith('no-')) return false;
  if (row.implementations && !row.implementations.includes(workerOf(node, row.interface))) return false;
  return !row.ramdisk || bootsRamdisk(node);
};

// The ramdisk reports no types, so any value fits.
const argsOf = (step: ReportedStep): Readonly<Record<string, ArgRow>> =>
  Object.fromEntries(
    Object.entries(step.argsinfo ?? {}).map(([name, info]) => [
      name,
      { type: 'any', ...(info.required && { required: true }), says: info.description ?? 'the ramdisk does not say' },
    ]),
  );

/** Steps outside the catalogue. None if the node does not boot the ramdisk. */
const reportedSteps = (node: Equipment): StepRow[] => {
  const driver = speaksOf(node.driver);
  return driver && bootsRamdisk(node)
    ? (node.reported_steps ?? []).map((step) => ({
        interface: step.interface as StepInterface,
        step: step.step,
        verbs: stepVerbs,
        drivers: [driver],
        ramdisk: true,
        priority: step.priority,
        acts: ['agent_step'],
        args: argsOf(step),
        abortable: step.abortable ?? false,
        parks: true,
        says: 'Offered by the ramdisk of this node.',
      }))
    : [];
};

// A ramdisk may report interfaces that no list of steps accepts.
const carried: readonly string[] = stepInterfaces;

/** The catalogue's steps, then those of the node's ramdisk. None with an unknown driver. */
export const stepsOf = (node: Equipment): StepRow[] => {
  const known = steps.filter((row) => offers(row, node));
  const names = new Set(known.map(nameOf));
  const own = reportedSteps(node).filter((row) => carried.includes(row.interface) && !names.has(nameOf(row)));
  return [...known, ...own];
};

/** At equal priority; openstack/ironic:ironic/conductor/steps.py. */
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

/** The ramdisk reports its own steps and priorities later. */
export const automaticSteps = (node: Equipment): GivenStep[] =>
  byPriority(stepsOf(node).filter((row) => row.priority > 0 && row.verbs.includes('clean') && !row.ramdisk)).map(
    (row) => ({ interface: row.interface, step: row.step }),
  );

export const planActs = (names: readonly ActName[]): PlannedStep['acts'] =>
  names.map((act) => ({ act, effect: acts[act].effect }));

/** For a run without steps from its caller: one read of the BMC. */
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
