/** Parts of plans: rows, numbered steps, and whole plans. */
import type { PlannedImage } from '../boot/glance-images';
import { raise } from '../errors';
import type { Event } from './states';
import type { Awaited, Equipment, Joins, PlannedStep, StepInterface, Tidying } from './step-types';
import { type ActName, actRow, maxSteps, planActs } from './steps';

export type PlannedNode = Equipment & {
  readonly uuid: string;
  readonly name: string | null;
  readonly driver_info: Readonly<Record<string, unknown>>;
  readonly instance_info: Readonly<Record<string, unknown>>;
  /** For a node that names no image. */
  readonly default_ramdisk?: string;
  readonly automated_clean?: boolean | null;
  readonly retired?: boolean;
};

export type Plan = {
  readonly steps: readonly PlannedStep[];
  /** Repeated after steps that restart the node. */
  readonly boot?: PlannedStep;
  readonly tidy?: Tidying;
  readonly joins?: Joins;
};
export type PlanRow = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly acts: readonly ActName[];
  readonly args?: Readonly<Record<string, unknown>>;
  readonly awaits?: Awaited;
  readonly event?: Event;
  readonly priority?: number;
  readonly abortable?: boolean;
  /** Not shown as the node's running step. */
  readonly hidden?: true;
};

export const planned = (row: PlanRow): PlannedStep => ({
  index: 0,
  interface: row.interface,
  step: row.step,
  args: row.args ?? {},
  acts: planActs(row.acts),
  waits: null,
  abortable: row.abortable ?? false,
  parks: false,
  ...(row.hidden && { system: true as const }),
  ...(row.awaits && { awaits: row.awaits }),
  ...(row.event && { event: row.event }),
  ...(row.priority !== undefined && { priority: row.priority }),
});

/** Throws InvalidSteps if a run would be too long. */
export const numbered = (steps: readonly PlannedStep[], from = 0): PlannedStep[] => {
  if (from + steps.length > 2 * maxSteps)
    raise('InvalidSteps', { reason: `A run has at most ${2 * maxSteps} steps, those of the ramdisk included.` });
  return steps.map((step, position) => ({ ...step, index: from + position }));
};

export const needsRamdisk = (steps: readonly PlannedStep[]): boolean =>
  steps.some((step) => step.awaits !== undefined || step.acts.some(({ act }) => actRow(act).by === 'agent'));

export const plan = (steps: readonly PlannedStep[], rest: Omit<Plan, 'steps' | 'boot'> = {}): Plan => {
  const all = numbered(steps);
  const boot = all.find((step) => step.awaits !== undefined && step.acts.length > 0);
  return {
    steps: all,
    ...(boot && { boot }),
    ...(rest.tidy && (boot || rest.tidy.unbooted) && { tidy: rest.tidy }),
    ...(rest.joins && { joins: rest.joins }),
  };
};

export type PlanWanted = {
  readonly node: PlannedNode;
  /** Already checked. */
  readonly steps: readonly PlannedStep[];
  /** True without steps from the caller, which selects the node's own list. */
  readonly automatic: boolean;
  /** Arguments of a deployment or rescue. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Of a deployment from Glance. */
  readonly image?: PlannedImage;
};
