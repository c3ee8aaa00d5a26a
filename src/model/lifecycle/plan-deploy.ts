/** Deployments: the steps of each deploy interface, joined or replaced by a caller's. */
import { type PlannedImage, plannedArgument } from '../boot/glance-images';
import { raise } from '../errors';
import { interfaceOf } from './drivers';
import { diskActs, fromImage, listSteps, removeRamdisk, toDisk, toRamdisk } from './plan-boot';
import { needsRamdisk, type Plan, type PlannedNode, type PlanRow, type PlanWanted, plan, planned } from './plan-parts';
import { planSteps } from './plan-steps';
import type { GivenStep, PlannedStep } from './step-types';
import { byPriority, nameOf } from './steps';

const deployOwn: Readonly<Record<string, readonly string[]>> = {
  direct: ['deploy', 'write_image', 'prepare_instance_boot', 'tear_down_agent', 'boot_instance'],
  'custom-agent': ['deploy', 'tear_down_agent', 'boot_instance'],
  ramdisk: ['deploy'],
  noop: ['deploy'],
  fake: ['deploy'],
};

// Priorities as in openstack/ironic:ironic/drivers/modules/agent.py; they order a caller's steps among these.
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

const deployRows: Readonly<Record<string, (node: PlannedNode, image?: PlannedImage) => readonly PlanRow[]>> = {
  direct: (node, image) =>
    agentSteps(node, [
      {
        interface: 'deploy',
        step: 'write_image',
        acts: ['agent_write_image'],
        ...(image && { args: { [plannedArgument]: image } }),
        priority: 80,
        abortable: true,
      },
      { interface: 'deploy', step: 'prepare_instance_boot', acts: ['agent_install_bootloader'], priority: 60 },
    ]),
  // The deployment's own steps write the disk, in the ramdisk.
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

/** They may change only the priority of the driver's own steps. Throws like planSteps. */
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

/** A caller's step replaces the driver's of the same name, and priority 0 removes it. The core step cannot move. */
export const deploying = ({ node, steps, image }: PlanWanted): Plan => {
  const own = (deployRows[interfaceOf(node, 'deploy')] ?? deployRows.noop!)(node, image).map(planned);
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
