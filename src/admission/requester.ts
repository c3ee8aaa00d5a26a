/** The caller of a change and its node, as audit rows and runs record them. */
import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import type { Origin } from '../model/resources/audit';
import type { Requester } from '../model/runs/runs';
import { shortText } from '../model/texts';
import type { Policy } from '../policy';
import type { OrderedNode, RunAudit } from '../runs/contract';

export type AuditContext = {
  readonly who: Caller;
  readonly requestId: string;
  /** Required, because an omitted origin would be lost silently. */
  readonly origin: Origin;
  /** Called when the handler writes its own row in the change's transaction. */
  readonly leavesRow?: () => void;
};

/** The caller, for a run's record. */
export const requesterOf = ({ who, requestId }: Pick<AuditContext, 'who' | 'requestId'>): Requester => ({
  user_id: who.user_id,
  user_name: who.user_name,
  project_id: who.project_id,
  system_scope: who.system_scope,
  strategy: who.strategy,
  request_id: requestId,
});

// A token can have any number of roles.
const mostRoles = 10;
const longestRole = 64;

/** The origin with the roles of the caller and the name of its project. */
export const originFor = (origin: Origin, { project_name, roles }: Pick<Caller, 'project_name' | 'roles'>): Origin => ({
  ...origin,
  ...(project_name !== null && { project_name }),
  ...(roles.length > 0 && { roles: roles.slice(0, mostRoles).map((role) => shortText(role, longestRole)) }),
});

/** The caller and its origin for the audit trail. Runs omit the origin, because tenants read them. */
export const auditedBy = (context: AuditContext): { requester: Requester; origin: Origin } => {
  context.leavesRow?.();
  return { requester: requesterOf(context), origin: originFor(context.origin, context.who) };
};

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
