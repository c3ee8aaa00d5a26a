/** What each kind of run does beside the caller's steps: how the ramdisk is booted and sent away, what is done before and after. */

import { raise } from '../errors';
import { bootRow, bootsRamdisk, interfaceOf } from './drivers';
import { planSteps } from './plan-steps';
import type { Event } from './states';
import type {
  Awaited,
  Equipment,
  GivenStep,
  Joins,
  PlannedStep,
  ReportedStep,
  StepInterface,
  Tidying,
} from './step-types';
import { type ActName, actRow, automaticSteps, byPriority, lookStep, maxSteps, nameOf, planActs } from './steps';
import type { Story } from './verbs';

/** A node as a plan needs it. */
export type PlannedNode = Equipment & {
  readonly uuid: string;
  readonly name: string | null;
  readonly driver_info: Readonly<Record<string, unknown>>;
  readonly instance_info: Readonly<Record<string, unknown>>;
  readonly automated_clean?: boolean | null;
  readonly retired?: boolean;
};

/** What a run does: its steps, how to bring the ramdisk back after a restart, and what is tidied when it ends before its time. */
export type Plan = {
  readonly steps: readonly PlannedStep[];
  /** The step that boots the ramdisk; some steps restart the node and need it again. */
  readonly boot?: PlannedStep;
  readonly tidy?: Tidying;
  /** How the ramdisk's own list joins the plan once it is known. */
  readonly joins?: Joins;
};
type PlanRow = {
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

const planned = (row: PlanRow): PlannedStep => ({
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

/** Steps in their places. Throws InvalidSteps where a run would be too long. */
const numbered = (steps: readonly PlannedStep[], from = 0): PlannedStep[] => {
  if (from + steps.length > 2 * maxSteps)
    raise('InvalidSteps', { reason: `A run has at most ${2 * maxSteps} steps, those of the ramdisk included.` });
  return steps.map((step, position) => ({ ...step, index: from + position }));
};

const byMedia = (node: PlannedNode): boolean => bootRow(node).from === 'media';

/** The image that a node starts from for a purpose. Throws DriverInfoInvalid where none is on record. */
const imageOf = (node: PlannedNode, keys: readonly string[]): unknown => {
  const found = keys.map((key) => node.driver_info[key]).find((value) => value !== undefined && value !== null);
  return (
    found ??
    raise('DriverInfoInvalid', {
      node: node.name ?? node.uuid,
      field: keys.at(-1),
      reason:
        'is missing: the ramdisk is booted from it; set it, or choose a boot_interface that boots from the network (ipxe, pxe), or do without the ramdisk',
    })
  );
};

const fromMedia = (image_url: unknown): Pick<PlanRow, 'acts' | 'args'> => ({
  acts: ['power_off', 'insert_media', 'set_boot_device', 'power_on'],
  args: { image_url, device_type: 'cdrom', boot_device: 'cdrom', persistent: false },
});

/** A node started once from a device; from `image_url` where the firmware itself fetches the image. */
const fromDevice = (boot_device: string | null, image_url?: unknown): Pick<PlanRow, 'acts' | 'args'> => ({
  acts: ['power_off', 'set_boot_device', 'power_on'],
  args: { boot_device, persistent: false, ...(image_url !== undefined && { image_url }) },
});

/** A node started from an image by its boot interface, or as that interface does by itself. */
const fromImage = (node: PlannedNode, image_url: () => unknown): Pick<PlanRow, 'acts' | 'args'> => {
  const { from, device } = bootRow(node);
  switch (from) {
    case 'media':
      return fromMedia(image_url());
    case 'url':
      return fromDevice(device, image_url());
    case 'network':
      return fromDevice(device);
    case 'nowhere':
      return { acts: ['power_off', 'power_on'] };
  }
};

const toRamdisk = (node: PlannedNode, purpose: 'deploy' | 'rescue' = 'deploy'): Pick<PlanRow, 'acts' | 'args'> =>
  fromImage(node, () => imageOf(node, purpose === 'rescue' ? ['rescue_iso', 'deploy_iso'] : ['deploy_iso']));

const eject = (node: PlannedNode): readonly ActName[] => (byMedia(node) ? ['eject_media'] : []);
const toDisk: Readonly<Record<string, unknown>> = { device_type: 'cdrom', boot_device: 'disk', persistent: true };
const diskActs = (node: PlannedNode): readonly ActName[] =>
  bootRow(node).from === 'nowhere' ? [] : [...eject(node), 'set_boot_device'];

const bootRamdisk = (node: PlannedNode, awaits: Awaited = 'heartbeat'): PlannedStep =>
  planned({ interface: 'deploy', step: 'boot_ramdisk', ...toRamdisk(node), awaits, hidden: true });
const listSteps = planned({
  interface: 'deploy',
  step: 'list_steps',
  acts: ['agent_steps'],
  abortable: true,
  hidden: true,
});
const removeRamdisk = (node: PlannedNode, step = 'remove_ramdisk'): PlannedStep =>
  planned({
    interface: 'deploy',
    step,
    acts: ['power_off', ...eject(node)],
    args: { device_type: 'cdrom' },
    hidden: true,
  });
/** The drive alone, a step of its own: a power state that cannot be reached must not keep the disc in it. */
const emptied = (node: PlannedNode): readonly PlannedStep[] =>
  byMedia(node)
    ? [
        planned({
          interface: 'deploy',
          step: 'eject_media',
          acts: ['eject_media'],
          args: { device_type: 'cdrom' },
          hidden: true,
        }),
      ]
    : [];
const backToInstance = (node: PlannedNode): PlannedStep =>
  planned({
    interface: 'deploy',
    step: 'boot_instance',
    acts: ['power_off', ...diskActs(node), 'power_on'],
    args: toDisk,
    hidden: true,
  });

const needsRamdisk = (steps: readonly PlannedStep[]): boolean =>
  steps.some((step) => step.awaits !== undefined || step.acts.some(({ act }) => actRow(act).by === 'agent'));

const plan = (steps: readonly PlannedStep[], rest: Omit<Plan, 'steps' | 'boot'> = {}): Plan => {
  const all = numbered(steps);
  const boot = all.find((step) => step.awaits !== undefined && step.acts.length > 0);
  return {
    steps: all,
    ...(boot && { boot }),
    ...(rest.tidy && (boot || rest.tidy.unbooted) && { tidy: rest.tidy }),
    ...(rest.joins && { joins: rest.joins }),
  };
};

type PlanWanted = {
  readonly node: PlannedNode;
  /** The caller's steps, checked. */
  readonly steps: readonly PlannedStep[];
  /** Whether the caller gave none, so that the node's own list is meant. */
  readonly automatic: boolean;
  /** What a deployment or a rescue was asked with. */
  readonly args: Readonly<Record<string, unknown>>;
};

const cleaning = ({ node, steps, automatic }: PlanWanted): Plan => {
  const ramdisk = automatic ? bootsRamdisk(node) : needsRamdisk(steps);
  if (!ramdisk) return plan(steps);
  const away = [removeRamdisk(node)];
  return plan([bootRamdisk(node), listSteps, ...steps, ...away], {
    tidy: { failed: [], aborted: away },
    joins: automatic ? 'automatic' : 'check',
  });
};

const servicing = ({ node, steps }: PlanWanted): Plan => {
  if (!needsRamdisk(steps)) return plan(steps);
  const back = [backToInstance(node)];
  return plan([bootRamdisk(node), listSteps, ...steps, ...back], {
    tidy: { failed: [], aborted: back },
    joins: 'check',
  });
};

// What each deploy interface does by itself, by name.
const deployOwn: Readonly<Record<string, readonly string[]>> = {
  direct: ['deploy', 'write_image', 'prepare_instance_boot', 'tear_down_agent', 'boot_instance'],
  'custom-agent': ['deploy', 'tear_down_agent', 'boot_instance'],
  ramdisk: ['deploy'],
  noop: ['deploy'],
  fake: ['deploy'],
};

// Priorities as openstack/ironic:ironic/drivers/modules/agent.py has them; a caller's own step goes before or after by its own.
const agentSteps = (node: PlannedNode, writing: readonly PlanRow[]): readonly PlanRow[] => [
  { interface: 'deploy', step: 'deploy', ...toRamdisk(node), awaits: 'heartbeat', priority: 100, abortable: true },
  ...writing,
  {
    interface: 'deploy',
    step: 'tear_down_agent',
    acts: ['agent_power_off', 'power_off', ...diskActs(node)],
    args: toDisk,
    priority: 40,
    abortable: true,
  },
  { interface: 'deploy', step: 'boot_instance', acts: ['power_on'], priority: 20 },
];

const deployRows: Readonly<Record<string, (node: PlannedNode) => readonly PlanRow[]>> = {
  direct: (node) =>
    agentSteps(node, [
      { interface: 'deploy', step: 'write_image', acts: ['agent_write_image'], priority: 80, abortable: true },
      { interface: 'deploy', step: 'prepare_instance_boot', acts: ['agent_install_bootloader'], priority: 60 },
    ]),
  // What writes the disk are steps of the deployment itself, which the ramdisk has.
  'custom-agent': (node) => agentSteps(node, []),
  ramdisk: (node) => [
    {
      interface: 'deploy',
      step: 'deploy',
      ...fromImage(node, () => node.instance_info.boot_iso),
      priority: 100,
    },
  ],
  noop: () => [{ interface: 'deploy', step: 'deploy', acts: ['power_on'], priority: 100 }],
  fake: () => [{ interface: 'deploy', step: 'deploy', acts: ['power_on'], priority: 100 }],
};

/** The steps that a caller gives with a deployment; those of the driver's own may only get another priority. Throws as planSteps does. */
export const planDeploySteps = (
  given: readonly (GivenStep & { readonly priority?: number })[],
  node: PlannedNode,
): PlannedStep[] => {
  const doubled = given.map(nameOf).find((name, at, names) => names.indexOf(name) !== at);
  if (doubled) raise('InvalidSteps', { reason: `Step ${doubled} is given twice; give each once, with its priority.` });
  const own = new Set(deployNames(node));
  return given.map((step) => {
    const priority = step.priority ?? 0;
    if (own.has(nameOf(step)))
      return { ...planned({ interface: step.interface, step: step.step, acts: [] }), priority };
    return { ...planSteps([step], 'deploy', node)[0]!, priority };
  });
};

const deployNames = (node: PlannedNode): string[] =>
  (deployOwn[interfaceOf(node, 'deploy')] ?? []).map((step) => `deploy.${step}`);

/** The caller's steps replace the driver's of the same name; priority 0 leaves one out. The core step cannot move. */
const deploying = ({ node, steps }: PlanWanted): Plan => {
  const own = (deployRows[interfaceOf(node, 'deploy')] ?? deployRows.noop!)(node).map(planned);
  const asked = new Map(steps.map((step) => [nameOf(step), step]));
  const moved = own.map((step) => {
    const other = asked.get(nameOf(step));
    asked.delete(nameOf(step));
    return other ? { ...step, priority: other.priority ?? 0 } : step;
  });
  const core = moved.find((step) => step.step === 'deploy')!;
  const rest = byPriority(
    [...moved.filter((step) => step !== core), ...asked.values()].filter((step) => (step.priority ?? 0) > 0),
  );
  const ramdisk = core.awaits !== undefined;
  if ((core.priority ?? 0) === 0 || (!ramdisk && needsRamdisk(rest)))
    raise('InvalidSteps', {
      reason:
        (core.priority ?? 0) === 0
          ? 'deploy.deploy cannot be left out.'
          : `Deploy interface ${interfaceOf(node, 'deploy')} boots no ramdisk, which these steps need.`,
    });
  const away = [removeRamdisk(node, 'clean_up')];
  return plan([core, ...(ramdisk ? [listSteps] : []), ...rest], {
    tidy: { failed: away, aborted: away },
    joins: 'deploy',
  });
};

const tearingDown = (wanted: PlanWanted): Plan => {
  const { node } = wanted;
  const down = planned({
    interface: 'deploy',
    step: 'tear_down',
    acts: ['power_off', ...eject(node)],
    args: { device_type: 'cdrom' },
    hidden: true,
  });
  const clean = cleaning(wanted);
  const [first, ...more] = clean.steps;
  const after = first ? [{ ...first, event: 'clean' as const }, ...more] : [];
  // The disc of the instance or of a ramdisk leaves the drive however the run ends: the next start would be from it.
  const away = [...(clean.tidy ? [removeRamdisk(node)] : []), ...emptied(node)];
  const tidy = { failed: away, aborted: away, ...(byMedia(node) && { unbooted: emptied(node) }) };
  return plan([down, ...after], { ...((clean.tidy || byMedia(node)) && { tidy }), joins: clean.joins });
};

const inspecting = ({ node }: PlanWanted): Plan => {
  const implementation = interfaceOf(node, 'inspect');
  if (implementation !== 'agent')
    return plan([planned({ interface: 'management', step: 'inspect', acts: ['inspect'], hidden: true })]);
  const away = [removeRamdisk(node)];
  return plan([bootRamdisk(node, 'inspection'), ...away], { tidy: { failed: away, aborted: away } });
};

const rescuing = ({ node, args }: PlanWanted): Plan => {
  if (interfaceOf(node, 'rescue') === 'fake')
    return plan([planned({ interface: 'deploy', step: 'rescue', acts: ['power_off', 'power_on'], hidden: true })]);
  const away = [removeRamdisk(node, 'clean_up')];
  return plan(
    [
      planned({
        interface: 'deploy',
        step: 'boot_rescue',
        ...toRamdisk(node, 'rescue'),
        awaits: 'heartbeat',
        hidden: true,
      }),
      planned({
        interface: 'deploy',
        step: 'finalize_rescue',
        acts: ['agent_finalize_rescue'],
        args,
        abortable: true,
        hidden: true,
      }),
    ],
    { tidy: { failed: away, aborted: away } },
  );
};

const unrescuing = ({ node }: PlanWanted): Plan => plan([backToInstance(node)]);
const looking = (): Plan => plan([lookStep]);
const given = ({ steps }: PlanWanted): Plan => plan(steps);

const plans: Readonly<Record<Story, (wanted: PlanWanted) => Plan>> = {
  verify: looking,
  adopt: looking,
  inspect: inspecting,
  clean: cleaning,
  service: servicing,
  deploy: deploying,
  undeploy: tearingDown,
  rescue: rescuing,
  unrescue: unrescuing,
  power: given,
  call: given,
};

/** The whole plan of a run. Throws DriverInfoInvalid, InvalidSteps. */
export const planFor = (story: Story, wanted: PlanWanted): Plan => plans[story](wanted);

/** The automatic list of a node: nothing where cleaning is switched off for it. */
export const automaticPlan = (node: PlannedNode): readonly PlannedStep[] => {
  const listed: readonly GivenStep[] = automaticSteps(node);
  return planSteps(listed, 'clean', node);
};

/** A step of the ramdisk's own list. */
export const asReported = (step: Omit<ReportedStep, 'argsinfo'>): PlannedStep => ({
  index: 0,
  interface: step.interface as StepInterface,
  step: step.step,
  args: {},
  acts: planActs(['agent_step']),
  waits: null,
  abortable: step.abortable ?? false,
  parks: true,
  priority: step.priority,
});

/**
 * The rest of a plan once the ramdisk has reported what it has: with its own steps among it, or checked against them.
 * @param rest what was still to come
 * @param from index of the first of them
 * Throws InvalidSteps naming what the ramdisk does not have.
 */
export const joined = (
  joins: Joins,
  rest: readonly PlannedStep[],
  reported: readonly ReportedStep[],
  from: number,
): PlannedStep[] => {
  const known = new Map(reported.map((step) => [nameOf(step), step]));
  const wantsAgent = (step: PlannedStep) => step.acts.some(({ act }) => act === 'agent_step');
  const missing = rest.filter((step) => wantsAgent(step) && !known.has(nameOf(step))).map(nameOf);
  if (missing.length > 0)
    raise('InvalidSteps', {
      reason: `The ramdisk on the node does not have ${missing.join(', ')}; it has ${[...known.keys()].join(', ') || 'no steps'}.`,
    });
  if (joins === 'check') return numbered(rest, from);
  const own = reported
    .filter((step) => step.priority > 0 && !rest.some((other) => nameOf(other) === nameOf(step)))
    .map(asReported);
  const [last, others] = [rest.filter((step) => step.system), rest.filter((step) => !step.system)];
  return numbered([...byPriority([...others, ...own]), ...last], from);
};
