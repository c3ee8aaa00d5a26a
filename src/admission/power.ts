/** Power requests: checks of the node, and of the parent and children that are switched with it. */

import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import { type PowerTarget, powerRefusedIn } from '../model/lifecycle/states';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { powerSteps } from '../model/lifecycle/steps';
import { nodeTarget } from '../policy';
import type { RunOrder } from '../runs/contract';
import { placeOf } from './children';
import type { AdmissionContext } from './context';
import { checkWorkable } from './driver-info';
import { refuseFrozen } from './obstacles';
import type { AuditContext } from './requester';
import { askedBy, orderedNode } from './requester';

/** The rule for each node that a power request switches. */
export const setPower = 'baremetal:node:set_power_state';

const checkPower = (node: NodeRow, ident: string, target: PowerTarget): void => {
  if (powerRefusedIn.includes(node.provision_state))
    raise('InvalidState', { verb: target, node: ident, state: node.provision_state });
  if (node.disable_power_off && target.endsWith('power off'))
    raise('Conflict', { reason: `Powering off node ${ident} is disabled (disable_power_off).` });
  if (node.reservation !== null) raise('NodeLocked', { node: ident });
};

/**
 * Checks that the node can be switched now. Throws NodeFrozen, InvalidState, Conflict, NodeLocked, DriverInfoInvalid, NoWorker.
 * @param ident the caller's name for the node
 */
const requirePowerable = async (
  ctx: AdmissionContext,
  node: NodeRow,
  ident: string,
  target: PowerTarget,
): Promise<void> => {
  await refuseFrozen(ctx, node, ident);
  checkPower(node, ident, target);
  checkWorkable(node, ident);
};

const hasOwnSupply = ({ driver_info }: NodeRow): boolean =>
  driver_info.has_dedicated_power_supply === true || driver_info.has_dedicated_power_supply === 'true';

const offTargets: readonly PowerTarget[] = ['power off', 'soft power off'];

type Related = { readonly row: NodeRow; readonly target: PowerTarget };

/** The nodes to switch first: a parent that is off, or children that are on. */
const relatedTo = async ({ inventory }: AdmissionContext, node: NodeRow, target: PowerTarget): Promise<Related[]> => {
  if (offTargets.includes(target))
    return (await inventory.nodes.children(node.uuid))
      .filter((child) => !hasOwnSupply(child) && child.power_state !== 'power off')
      .map((row) => ({ row, target: 'power off' }));
  if (target !== 'power on' || !node.parent_node || hasOwnSupply(node)) return [];
  const parent = await inventory.nodes.find({ uuid: node.parent_node });
  return parent && parent.power_state !== 'power on' ? [{ row: parent, target: 'power on' }] : [];
};

/** A related node's name for this caller. Throws PolicyDenied if the caller may not switch it. */
const labelFor = (ctx: AdmissionContext, who: Caller, row: NodeRow): string => {
  const policy = ctx.policy();
  const target = nodeTarget(row);
  const label = policy.allows('baremetal:node:get', who, target) ? (row.name ?? row.uuid) : undefined;
  if (!policy.allows(setPower, who, target))
    raise('PolicyDeniedFor', {
      rule: setPower,
      reason: `This needs the power of a related node${label === undefined ? '' : ` (${label})`} that you may not switch.`,
    });
  return label ?? 'related to this one';
};

/**
 * The steps of a power request. A child without a power supply draws power from its parent.
 * The parent is powered on before it, and children are powered off before their parent.
 * Each is checked as if the caller named it. Throws PolicyDenied and the errors of requirePowerable.
 */
const powerPlan = async (
  ctx: AdmissionContext,
  who: Caller,
  node: NodeRow,
  target: PowerTarget,
): Promise<PlannedStep[]> => {
  const related = await relatedTo(ctx, node, target);
  const labels = related.map(({ row }) => labelFor(ctx, who, row));
  for (const [at, one] of related.entries()) await requirePowerable(ctx, one.row, labels[at]!, one.target);
  const before = related.map((one) => ({ ...powerSteps(one.target)[0]!, on: placeOf(one.row) }));
  return [...before, ...powerSteps(target)].map((step, index) => ({ ...step, index }));
};

export type PowerWish = { readonly target: PowerTarget; readonly timeoutMs?: number };

/**
 * The run of a power request, checked in Ironic's order. Throws PolicyDenied and the errors of requirePowerable.
 * @param ident the caller's name for the node
 */
export const powerOrder = async (
  ctx: AdmissionContext,
  request: AuditContext,
  node: NodeRow,
  ident: string,
  { target, timeoutMs }: PowerWish,
): Promise<RunOrder> => {
  await requirePowerable(ctx, node, ident, target);
  return {
    node: orderedNode(node),
    verb: 'power',
    kind: 'power',
    event: null,
    ends: null,
    target: null,
    fault: null,
    steps: await powerPlan(ctx, request.who, node, target),
    power: { target, ...(timeoutMs !== undefined && { timeoutMs }) },
    runbook: null,
    asked: askedBy(ctx.policy(), request, setPower),
  };
};
