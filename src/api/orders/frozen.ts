/** Refusals of frozen nodes: all requests that make a worker write to the BMC at once. */
import type { Freeze } from '../../inventory/nodes/freezes';
import { raise } from '../../model/errors';
import type { NodeUuid } from '../../model/ids';
import type { OrderContext } from './context';

const whoOf = ({ requester }: Freeze): string => requester.user_name ?? requester.user_id ?? 'an unnamed caller';

/**
 * Throws NodeFrozen with author, reason and end of an active freeze. Called after the rules and before acceptance.
 * A run that is accepted nevertheless waits for the end of the freeze.
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
