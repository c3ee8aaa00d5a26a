/** Steps on child nodes, and what powering one node means for its parent and children. May I do it, can it happen. */
import type { NodeRow } from '../../inventory/nodes';
import type { Caller } from '../../model/callers';
import { raise } from '../../model/errors';
import { planSteps } from '../../model/plan-steps';
import type { PowerTarget } from '../../model/states';
import { maxSteps, type NodeOfStep, nameOf, type PlannedStep, powerSteps, type StepVerb } from '../../model/steps';
import { nodeTarget } from '../../policy';
import type { Rooms } from '../rooms';
import { visibleNode } from '../visibility';
import { checkWorkable } from './node-orders';
import type { WireStep } from './node-steps';

type Asking = { readonly who: Caller; readonly version: number };

const place = ({ uuid, name, conductor_group }: NodeRow): NodeOfStep => ({ node_uuid: uuid, name, conductor_group });

/** The children that a step names, or all of them. Throws NodeNotFound alike for hidden nodes and for those of another parent. */
const childrenOf = async (rooms: Rooms, asking: Asking, parent: NodeRow, step: WireStep): Promise<NodeRow[]> => {
  const all = await rooms.inventory.nodes.children(parent.uuid);
  const wanted = step.limit_child_node_execution;
  const chosen = wanted?.length
    ? wanted.map((uuid) => all.find((child) => child.uuid === uuid) ?? raise('NodeNotFound', { node: uuid }))
    : all;
  for (const child of chosen) {
    await visibleNode(rooms, asking, child.uuid);
    rooms.policy().require('baremetal:node:set_provision_state', asking.who, nodeTarget(child));
  }
  return chosen;
};

const onChild = (step: WireStep, verb: StepVerb, child: NodeRow): PlannedStep => {
  if (child.reservation !== null) raise('NodeLocked', { node: child.name ?? child.uuid });
  checkWorkable(child, child.name ?? child.uuid);
  const [planned] = planSteps([step], verb, child);
  if (planned!.waits !== null || planned!.awaits || planned!.acts.some(({ act }) => act.startsWith('agent_')))
    raise('InvalidSteps', {
      reason: `Step ${nameOf(step)} cannot run on a child node: it waits, or needs the ramdisk there. Run it on ${child.name ?? child.uuid} itself.`,
    });
  return { ...planned!, on: place(child) };
};

/** The caller's steps as a plan, those for children once for each child, in their place. Throws as planning does. */
export const planWithChildren = async (
  rooms: Rooms,
  asking: Asking,
  node: NodeRow,
  steps: readonly WireStep[],
  verb: StepVerb,
): Promise<PlannedStep[]> => {
  const ordered = steps
    .map((step, position) => ({ step, position }))
    .sort((a, b) => (a.step.order ?? 0) - (b.step.order ?? 0) || a.position - b.position);
  const planned: PlannedStep[] = [];
  for (const { step } of ordered)
    if (step.execute_on_child_nodes)
      planned.push(...(await childrenOf(rooms, asking, node, step)).map((child) => onChild(step, verb, child)));
    else planned.push(planSteps([step], verb, node)[0]!);
  if (planned.length > maxSteps)
    raise('InvalidSteps', {
      reason: `A run has at most ${maxSteps} steps; with those on child nodes these are ${planned.length}.`,
    });
  return planned.map((step, index) => ({ ...step, index }));
};

const hasOwnSupply = ({ driver_info }: NodeRow): boolean =>
  driver_info.has_dedicated_power_supply === true || driver_info.has_dedicated_power_supply === 'true';

const onto = (row: NodeRow, target: PowerTarget): PlannedStep => {
  if (row.reservation !== null) raise('NodeLocked', { node: row.name ?? row.uuid });
  return { ...powerSteps(target)[0]!, on: place(row) };
};

/**
 * The steps of a power request. A child draws its power from its parent, unless it has a supply of its own: the parent is
 * powered on before it, and children are powered off before their parent.
 */
export const powerPlan = async (rooms: Rooms, node: NodeRow, target: PowerTarget): Promise<PlannedStep[]> => {
  const own = powerSteps(target);
  const before: PlannedStep[] = [];
  if (target === 'power on' && node.parent_node && !hasOwnSupply(node)) {
    const parent = await rooms.inventory.nodes.find({ uuid: node.parent_node });
    if (parent && parent.power_state !== 'power on') before.push(onto(parent, 'power on'));
  }
  if (target === 'power off' || target === 'soft power off')
    for (const child of await rooms.inventory.nodes.children(node.uuid))
      if (!hasOwnSupply(child) && child.power_state !== 'power off') before.push(onto(child, 'power off'));
  return [...before, ...own].map((step, index) => ({ ...step, index }));
};
