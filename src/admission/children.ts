/** Steps on child nodes: planning and checks. */

import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import type { NodeUuid } from '../model/ids';
import { jsonBytes, PlanRoom } from '../model/lifecycle/plan-size';
import { planSteps } from '../model/lifecycle/plan-steps';
import type { NodeOfStep, PlannedStep, StepVerb } from '../model/lifecycle/step-types';
import { actRow, maxSteps, nameOf } from '../model/lifecycle/steps';
import { inOrder } from '../model/resources/runbook-steps';
import { nodeTarget, stepTarget } from '../policy';
import type { Checks } from './checks';
import type { AdmissionContext } from './context';
import { checkWorkable } from './driver-info';
import { memoized } from './prefetched';
import { requireStepRules, stepRules, type WireStep } from './steps';
import { visibleNode } from './visibility';

type Asking = { readonly who: Caller; readonly version: number; readonly checks: Checks };

/** The node of a step that runs there. */
export const placeOf = ({ uuid, name, conductor_group }: NodeRow): NodeOfStep => ({
  node_uuid: uuid,
  name,
  conductor_group,
});

/** A child needs the same rules for raw steps as the node itself. Throws PolicyDenied. */
const requireOn = (
  { policy }: AdmissionContext,
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

/** The named children, or all. Throws NodeNotFound for hidden nodes and for nodes of another parent. */
const childrenOf = (all: ReadonlyMap<string, NodeRow>, { limit_child_node_execution: wanted }: WireStep): NodeRow[] =>
  wanted?.length
    ? [...new Set(wanted)].map((uuid) => all.get(uuid) ?? raise('NodeNotFound', { node: uuid }))
    : [...all.values()];

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

/** Reads the children, and the caller's access to each, once per request. */
const childrenOnce = ({ ctx, request, parent }: { ctx: AdmissionContext; request: Asking; parent: NodeRow }) => ({
  all: memoized(
    async () => new Map((await ctx.inventory.nodes.children(parent.uuid)).map((child) => [child.uuid, child])),
  ),
  see: memoized((uuid: NodeUuid) => visibleNode(ctx, request, uuid)),
});

/** Throws InvalidSteps. */
const requireSteps = (count: number): void => {
  if (count > maxSteps)
    raise('InvalidSteps', {
      reason: `A run has at most ${maxSteps} steps; with those on child nodes these are more. Split them into several runs.`,
    });
};

/** The caller's steps as a plan. A step for children becomes one step per child, in its place. Throws as planning does. */
export const planWithChildren = async (
  ctx: AdmissionContext,
  request: Asking,
  node: NodeRow,
  steps: readonly WireStep[],
  verb: StepVerb,
): Promise<PlannedStep[]> => {
  requireSteps(steps.length);
  const planned: PlannedStep[] = [];
  const { checks } = request;
  const add = (plan: () => PlannedStep): void => {
    const step = checks.try(plan);
    if (step) planned.push(step);
  };
  const { all, see } = childrenOnce({ ctx, request, parent: node });
  const room = new PlanRoom();
  // Counted before each child: the number of steps is steps times children.
  let count = 0;
  for (const step of inOrder(steps.map((one) => ({ ...one, order: one.order ?? 0 })))) {
    const bytes = jsonBytes(step.args ?? {});
    const take = (): void => {
      requireSteps(++count);
      room.take(bytes);
    };
    if (!step.execute_on_child_nodes) {
      take();
      add(() => planSteps([step], verb, node)[0]!);
    } else
      for (const child of childrenOf(await all(), step)) {
        await see(child.uuid);
        requireOn(ctx, request, child, step, verb);
        take();
        add(() => onChild(step, verb, child, checks));
      }
  }
  return planned.map((step, index) => ({ ...step, index }));
};
