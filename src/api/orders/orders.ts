/** Shared parts of orders: the node, the caller, and the checks for a worker. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import { raise } from '../../model/errors';
import type { Policy } from '../../policy';
import type { OrderedNode, RunAudit } from '../../runs/contract';
import { type AuditContext, auditedBy } from '../audit/record';
import { checkDriverInfo, requireDriver } from '../v1/nodes/checks';
import { type Checks, firstRefusal } from './checks';

/** The part of a node that acceptance compares. */
export const orderedNode = (node: NodeRow): OrderedNode => ({
  uuid: node.uuid,
  name: node.name,
  driver: node.driver,
  conductor_group: node.conductor_group,
  provision_state: node.provision_state,
  revision: node.revision,
});

/** The caller and the rule; for a crossing also the second rule and its reason. */
export const askedBy = (
  policy: Policy,
  request: AuditContext,
  rule: string,
  also?: { readonly rule: string; readonly reason: string },
): RunAudit => ({
  ...auditedBy(request),
  rule: also ? `${rule}, ${also.rule}` : rule,
  ...(also && { reason: also.reason }),
  rule_set: policy.hash,
});

/** Throws DriverInfoInvalid if driver_info is incomplete or wrong, NoWorker if no worker serves the node. */
export const checkWorkable = (node: NodeRow, ident: string, checks: Checks = firstRefusal): void => {
  checks.try(() => checkDriverInfo(ident, requireDriver(node.driver), node.driver_info, { missing: true }));
  // The query fills in a live worker's name, if there is one.
  if (node.conductor === null)
    checks.try(() => raise('NoWorker', { group: node.conductor_group, driver: node.driver }));
};
