/** The part of the audit trail that a caller may read: all of it, or that of one node. */
import { identOf } from '../../../admission/visibility';
import type { AuditPart } from '../../../inventory/audit-list';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { asUuid, type NodeUuid } from '../../../model/ids';
import { maxMinor } from '../../../model/resources/microversions';
import { nodeTarget } from '../../../policy';
import type { ApiContext } from '../../context';

export const auditRule = 'temper:audit:get';
export const nodeAuditRule = 'temper:node:audit:get';
export const seesNode = 'baremetal:node:get';

export type AuditReach = { readonly rule: string } & (
  | { readonly node?: NodeUuid; readonly part?: undefined }
  | { readonly node: NodeUuid; readonly part: AuditPart; readonly isSeen: boolean }
);

/** The whole trail also has nodes that are gone, by their UUID. */
const anyNode = async ({ inventory }: ApiContext, ident: string): Promise<NodeUuid> => {
  const named = identOf(ident, maxMinor);
  if ('uuid' in named) return named.uuid as NodeUuid;
  return (await inventory.nodes.find(named))?.uuid ?? raise('NodeNotFound', { node: ident });
};

// The columns of `AuditPart`: owner and lessee at the time of the row.
const thenColumns = { 'node.owner': 'then_owner', 'node.lessee': 'then_lessee' } as const;

const nodePart = async ({ policy: now, inventory }: ApiContext, who: Caller, ident: string): Promise<AuditReach> => {
  const policy = now();
  const node = await inventory.nodes.find(identOf(ident, maxMinor));
  const isSeen = node !== undefined && policy.allows(seesNode, who, nodeTarget(node));
  if (isSeen) policy.require(nodeAuditRule, who, nodeTarget(node));
  // A former tenant knows the UUID. The present name is none of its business.
  const uuid = isSeen ? node.uuid : ((asUuid(ident) as NodeUuid | undefined) ?? raise('NodeNotFound', { node: ident }));
  const visible = policy.filter(nodeAuditRule, who, thenColumns);
  return { rule: nodeAuditRule, node: uuid, isSeen, part: { visible, project: who.project_id } };
};

/** Throws PolicyDenied without a node, NodeNotFound. */
export const auditReach = async (ctx: ApiContext, who: Caller, ident: string | undefined): Promise<AuditReach> => {
  if (ctx.policy().allows(auditRule, who))
    return { rule: auditRule, ...(ident !== undefined && { node: await anyNode(ctx, ident) }) };
  if (ident === undefined) return raise('PolicyDenied', { rule: auditRule });
  return nodePart(ctx, who, ident);
};
