/** What a caller may see and do by a node's present lease alone: nothing of what ran under another one. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { nodeTarget } from '../../policy';
import type { OrderContext } from './context';

type Tenants = Pick<NodeRow, 'owner' | 'lessee'>;

/** Whether a rule that admits the caller would not, had the node no lessee. */
export const byLeaseAlone = (ctx: OrderContext, rule: string, who: Caller, { owner, lessee }: Tenants): boolean =>
  lessee !== null && !ctx.policy().allows(rule, who, nodeTarget({ owner, lessee: null }));

/**
 * A run that began under a former lease, or under none, is the owner's to end or to displace. To a lessee the node is
 * simply busy. Throws NodeLocked.
 */
export const requireOwnRun = (ctx: OrderContext, rule: string, who: Caller, node: NodeRow, ident: string): void => {
  if (node.foreign_run && byLeaseAlone(ctx, rule, who, node)) raise('NodeLocked', { node: ident });
};
