/** Input of the checks of one provision request on one node. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Checks } from './checks';
import type { OrderContext } from './context';
import type { ProvisionAsked } from './request';

export type Admission = {
  readonly ctx: OrderContext;
  readonly request: ProvisionAsked;
  readonly node: NodeRow;
  readonly ident: string;
  readonly checks: Checks;
};
