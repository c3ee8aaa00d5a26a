/** The part of the audit trail that a caller may read: all of it, or that of one node. */
import { identOf, visibleNode } from '../../../admission/visibility';
import type { AuditPart } from '../../../inventory/audit-list';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import type { NodeUuid } from '../../../model/ids';
import { maxMinor } from '../../../model/resources/microversions';
import { nodeTarget } from '../../../policy';
import type { ApiContext } from '../../context';

export const auditRule = 'temper:audit:get';
export const nodeAuditRule = 'temper:node:audit:get';

export type AuditReach = { readonly rule: string } & (
  | { readonly node?: NodeUuid; readonly part?: undefined }
  | { readonly node: NodeUuid; readonly part: AuditPart }
);

/** The whole trail also has nodes that are gone, by their UUID. */
const anyNode = async ({ inventory }: ApiContext, ident: string): Promise<NodeUuid> => {
  const named = identOf(ident, maxMinor);
  if ('uuid' in named) return named.uuid as NodeUuid;
  return (await inventory.nodes.find(named))?.uuid ?? raise('NodeNotFound', { node: ident });
};

// The columns of `AuditPart`.
const sinceColumns = { 'node.owner': 'since_owner', 'node.lessee': 'since_lessee' } as const;

const nodePart = async (ctx: ApiContext, who: Caller, ident: string): Promise<AuditReach> => {
  const node = await visibleNode(ctx, { who, version: maxMinor }, ident);
  const policy = ctx.policy();
  policy.require(nodeAuditRule, who, nodeTarget(node));
  const visible = policy.filter(nodeAuditRule, who, sinceColumns);
  return { rule: nodeAuditRule, node: node.uuid, part: { visible, project: who.project_id } };
};

/** Throws PolicyDenied without a node, NodeNotFound. */
export const auditReach = async (ctx: ApiContext, who: Caller, ident: string | undefined): Promise<AuditReach> => {
  if (ctx.policy().allows(auditRule, who))
    return { rule: auditRule, ...(ident !== undefined && { node: await anyNode(ctx, ident) }) };
  if (ident === undefined) return raise('PolicyDenied', { rule: auditRule });
  return nodePart(ctx, who, ident);
};
