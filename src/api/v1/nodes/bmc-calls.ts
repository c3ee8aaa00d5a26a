/** Shared checks of BMC calls: rules, fit to the node, and feasibility now. */

import { bmcTextFor } from '../../../admission/bmc-texts';
import { checkWorkable } from '../../../admission/driver-info';
import { refuseFrozen } from '../../../admission/obstacles';
import { askedBy, orderedNode } from '../../../admission/requester';
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { isTemperError, raise } from '../../../model/errors';
import { planSteps } from '../../../model/lifecycle/plan-steps';
import type { GivenStep } from '../../../model/lifecycle/step-types';
import type { ActName } from '../../../model/lifecycle/steps';
import { nodeTarget } from '../../../policy';
import type { ApiContext } from '../../context';
import type { ApiRequest } from '../../server/route';

type BmcCallRequest = ApiRequest<{ readonly node_ident: string }, unknown, unknown>;
type BmcCallArgs = Readonly<Record<string, unknown>>;

/** The path's node, if visible and admitted. Throws NodeNotFound, PolicyDenied. */
export const allowedNode = async (request: BmcCallRequest, ctx: ApiContext, rule: string): Promise<NodeRow> => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  ctx.policy().require(rule, request.who, nodeTarget(node));
  return node;
};

/** Reads from the BMC, even while a run holds the node. Throws the errors of `Runs.call`, NodeNotFound, PolicyDenied, NoWorker. */
export const lookAt = async (request: BmcCallRequest, ctx: ApiContext, rule: string, act: ActName): Promise<unknown> =>
  lookAtNode(request, ctx, await allowedNode(request, ctx, rule), { rule, act });

/** The same for a node already read. */
export const lookAtNode = async (
  request: BmcCallRequest,
  ctx: ApiContext,
  node: NodeRow,
  { rule, act, args = {} }: { readonly rule: string; readonly act: ActName; readonly args?: BmcCallArgs },
): Promise<unknown> => {
  checkWorkable(node, request.params.node_ident);
  return called(request, ctx, node, {
    node: orderedNode(node),
    act,
    args,
    asked: askedBy(ctx.policy(), request, rule),
  });
};

/** The call. Its error hides the BMC address unless the caller may read driver_info. */
const called = async (
  { who }: BmcCallRequest,
  ctx: ApiContext,
  node: NodeRow,
  order: Parameters<ApiContext['runs']['call']>[0],
): Promise<unknown> => {
  try {
    return await ctx.runs.call(order);
  } catch (thrown) {
    if (isTemperError(thrown)) thrown.message = bmcTextFor(ctx.policy(), who, node)(thrown.message);
    throw thrown;
  }
};

/** A call: a step that is one act, or an act without step. */
export type Deed = {
  readonly rule: string;
  /** A step of the management interface; the step table checks its arguments. */
  readonly step?: string;
  readonly act?: ActName;
  readonly args?: BmcCallArgs;
  /** Further arguments of the act. */
  readonly more?: BmcCallArgs;
  /** The caller does not wait for the end. */
  readonly background?: true;
};

/** The act of a step. Throws InvalidSteps if the node does not offer it, InvalidStepArgs. */
const actOf = (node: NodeRow, { step, act, args }: Deed): ActName => {
  if (step === undefined) return act!;
  const given: GivenStep = { interface: 'management', step, args };
  return planSteps([given], 'service', node)[0]!.acts[0]!.act;
};

/** Acts on the node as a separate run. Throws the errors of `Runs.call` and of starting a run. */
export const actOn = async (request: BmcCallRequest, ctx: ApiContext, deed: Deed): Promise<unknown> =>
  actOnNode(request, ctx, await allowedNode(request, ctx, deed.rule), deed);

/** The same for a node already read. */
export const actOnNode = async (
  request: BmcCallRequest,
  ctx: ApiContext,
  node: NodeRow,
  deed: Deed,
): Promise<unknown> => {
  const ident = request.params.node_ident;
  const act = actOf(node, deed);
  await refuseFrozen(ctx, node, ident);
  if (node.reservation !== null) raise('NodeLocked', { node: ident });
  checkWorkable(node, ident);
  return called(request, ctx, node, {
    node: orderedNode(node),
    act,
    args: { ...deed.args, ...deed.more },
    asked: askedBy(ctx.policy(), request, deed.rule),
    ...(deed.background && { background: true as const }),
  });
};
