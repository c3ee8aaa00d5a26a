/** Limits of a lease: a lessee sees and ends only what runs under the present lease. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { nodeTarget } from '../../policy';
import type { OrderContext } from './context';

type Tenants = Pick<NodeRow, 'owner' | 'lessee'>;

/** True if the rule admits the caller only because of the node's lessee. */
export const byLeaseAlone = (ctx: OrderContext, rule: string, who: Caller, { owner, lessee }: Tenants): boolean =>
  lessee !== null && !ctx.policy().allows(rule, who, nodeTarget({ owner, lessee: null }));

/** Only the owner may end or displace a run from before the present lease. For a lessee the node is busy. Throws NodeLocked. */
export const requireOwnRun = (ctx: OrderContext, rule: string, who: Caller, node: NodeRow, ident: string): void => {
  if (node.foreign_run && byLeaseAlone(ctx, rule, who, node)) raise('NodeLocked', { node: ident });
};
