/** Steps on child nodes. May I do it, can it happen. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { planSteps } from '../../model/lifecycle/plan-steps';
import type { NodeOfStep, PlannedStep, StepVerb } from '../../model/lifecycle/step-types';
import { actRow, maxSteps, nameOf } from '../../model/lifecycle/steps';
import { nodeTarget, stepTarget } from '../../policy';
import { visibleNode } from '../resource/visibility';
import type { Checks } from './checks';
import type { OrderContext } from './context';
import { checkWorkable } from './orders';
import { requireStepRules, stepRules, type WireStep } from './steps';

type Asking = { readonly who: Caller; readonly version: number; readonly checks: Checks };

/** A node as a step names it that runs there. */
export const placeOf = ({ uuid, name, conductor_group }: NodeRow): NodeOfStep => ({
  node_uuid: uuid,
  name,
  conductor_group,
});

/** What raw steps need on the node itself they need on each child. Throws PolicyDenied. */
const requireOn = (
  { policy }: OrderContext,
  { who, checks }: Asking,
  child: NodeRow,
  step: WireStep,
  verb: StepVerb,
): void => {
  const target = nodeTarget(child);
  for (const rule of ['baremetal:node:set_provision_state', stepRules[`${verb}_steps`]])
    checks.rule(policy(), rule, who, target);
  requireStepRules(policy(), who, stepTarget(child), [step], checks);
};

/** The children that a step names, or all of them. Throws NodeNotFound alike for hidden nodes and for those of another parent. */
const childrenOf = async (
  ctx: OrderContext,
  request: Asking,
  parent: NodeRow,
  step: WireStep,
  verb: StepVerb,
): Promise<NodeRow[]> => {
  const all = await ctx.inventory.nodes.children(parent.uuid);
  const wanted = step.limit_child_node_execution;
  const chosen = wanted?.length
    ? wanted.map((uuid) => all.find((child) => child.uuid === uuid) ?? raise('NodeNotFound', { node: uuid }))
    : all;
  for (const child of chosen) {
    await visibleNode(ctx, request, child.uuid);
    requireOn(ctx, request, child, step, verb);
  }
  return chosen;
};

const onChild = (step: WireStep, verb: StepVerb, child: NodeRow, checks: Checks): PlannedStep => {
  const node = child.name ?? child.uuid;
  if (child.maintenance) checks.try(() => raise('NodeInMaintenance', { verb, node }));
  if (child.reservation !== null) checks.try(() => raise('NodeLocked', { node }));
  checkWorkable(child, node, checks);
  const [planned] = planSteps([step], verb, child);
  if (planned!.waits !== null || planned!.awaits || planned!.acts.some(({ act }) => actRow(act).by === 'agent'))
    raise('InvalidSteps', {
      reason: `Step ${nameOf(step)} cannot run on a child node: it waits, or needs the ramdisk there. Run it on ${child.name ?? child.uuid} itself.`,
    });
  return { ...planned!, on: placeOf(child) };
};

/** The caller's steps as a plan, those for children once for each child, in their place. Throws as planning does. */
export const planWithChildren = async (
  ctx: OrderContext,
  request: Asking,
  node: NodeRow,
  steps: readonly WireStep[],
  verb: StepVerb,
): Promise<PlannedStep[]> => {
  const ordered = steps
    .map((step, position) => ({ step, position }))
    .sort((a, b) => (a.step.order ?? 0) - (b.step.order ?? 0) || a.position - b.position);
  const planned: PlannedStep[] = [];
  const { checks } = request;
  const add = (plan: () => PlannedStep): void => {
    const step = checks.try(plan);
    if (step) planned.push(step);
  };
  for (const { step } of ordered)
    if (step.execute_on_child_nodes)
      for (const child of await childrenOf(ctx, request, node, step, verb))
        add(() => onChild(step, verb, child, checks));
    else add(() => planSteps([step], verb, node)[0]!);
  if (planned.length > maxSteps)
    raise('InvalidSteps', {
      reason: `A run has at most ${maxSteps} steps; with those on child nodes these are ${planned.length}.`,
    });
  return planned.map((step, index) => ({ ...step, index }));
};
