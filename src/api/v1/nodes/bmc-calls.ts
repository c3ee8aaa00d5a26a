/** What every call to a node's BMC has in common: who may, what fits the node, and whether it can happen now. */
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { isTemperError, raise } from '../../../model/errors';
import { planSteps } from '../../../model/lifecycle/plan-steps';
import type { GivenStep } from '../../../model/lifecycle/step-types';
import type { ActName } from '../../../model/lifecycle/steps';
import { nodeTarget } from '../../../policy';
import type { ApiContext } from '../../context';
import type { ApiRequest } from '../../http/route';
import { refuseFrozen } from '../../orders/frozen';
import { askedBy, checkWorkable, orderedNode } from '../../orders/orders';
import { bmcTextFor } from '../../resource/bmc-texts';
import { visibleNode } from '../../resource/visibility';

type BmcCallRequest = ApiRequest<{ readonly node_ident: string }, unknown, unknown>;
type BmcCallArgs = Readonly<Record<string, unknown>>;

/** The node of the path, if the caller may see it and the rule admits. Throws NodeNotFound, PolicyDenied. */
export const allowedNode = async (request: BmcCallRequest, ctx: ApiContext, rule: string): Promise<NodeRow> => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  ctx.policy().require(rule, request.who, nodeTarget(node));
  return node;
};

/** Reads from the BMC now, even while a run holds the node. Throws what `Runs.call` throws, and NodeNotFound, PolicyDenied, NoWorker. */
export const lookAt = async (request: BmcCallRequest, ctx: ApiContext, rule: string, act: ActName): Promise<unknown> =>
  lookAtNode(request, ctx, await allowedNode(request, ctx, rule), { rule, act });

/** The same on a node that was asked for already. */
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

/** The call, its refusal in words that this caller may read: where the BMC is goes by the rule of driver_info. */
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

/** What is to be done: a step of the table that is one act, or an act that is no step. */
export type Deed = {
  readonly rule: string;
  /** Of the management interface; its arguments are checked against the table. */
  readonly step?: string;
  readonly act?: ActName;
  readonly args?: BmcCallArgs;
  /** Arguments of the act beyond those of the step. */
  readonly more?: BmcCallArgs;
  /** The caller does not wait for its end. */
  readonly background?: true;
};

/** The act behind a step. Throws InvalidSteps where the node does not offer it, InvalidStepArgs. */
const actOf = (node: NodeRow, { step, act, args }: Deed): ActName => {
  if (step === undefined) return act!;
  const given: GivenStep = { interface: 'management', step, args };
  return planSteps([given], 'service', node)[0]!.acts[0]!.act;
};

/** Acts on the node as a run of its own. Throws what `Runs.call` throws, and what stands in the way of any run. */
export const actOn = async (request: BmcCallRequest, ctx: ApiContext, deed: Deed): Promise<unknown> =>
  actOnNode(request, ctx, await allowedNode(request, ctx, deed.rule), deed);

/** The same on a node that was asked for already. */
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
