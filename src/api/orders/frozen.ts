/** What a frozen node refuses: every request that would make a worker write to its BMC at once. */
import type { Freeze } from '../../inventory/nodes/freezes';
import { raise } from '../../model/errors';
import type { NodeUuid } from '../../model/ids';
import type { OrderContext } from './context';

const whoOf = ({ requester }: Freeze): string => requester.user_name ?? requester.user_id ?? 'an unnamed caller';

/**
 * Throws NodeFrozen, naming who froze the node, why and until when, while a freeze is active.
 * Asked after the caller's rights and before the request is accepted; a run that is accepted all the same waits by itself.
 */
export const refuseFrozen = async (
  ctx: Pick<OrderContext, 'inventory'>,
  node: { readonly uuid: NodeUuid },
  ident: string,
): Promise<void> => {
  const freeze = await ctx.inventory.freezes.active(node.uuid);
  if (!freeze) return;
  raise('NodeFrozen', {
    node: ident,
    who: whoOf(freeze),
    until: freeze.until ? `until ${freeze.until.toISOString()}` : 'until an operator ends it',
    reason: freeze.reason,
    freeze: freeze.id,
  });
};
