/** Where a node's BMC is, in texts: for those alone who may read driver_info, by the same rule. */

import { withoutBmc } from '../../model/access/bmc-texts';
import type { Caller } from '../../model/access/callers';
import { nodeTarget, type Policy } from '../../policy';

/** The rule of driver_info, which holds the address. */
export const seesBmcRule = 'baremetal:node:get:driver_info';

type Home = { readonly owner: string | null; readonly lessee: string | null };

/** A text as this caller may read it; null stays null. @param home whose the node is now; undefined where it is gone */
export type BmcText = <Text extends string | null>(text: Text) => Text;

export const bmcTextFor = (policy: Policy, who: Caller, home: Home | undefined): BmcText =>
  policy.allows(seesBmcRule, who, nodeTarget(home ?? { owner: null, lessee: null })) ? (text) => text : withoutBmc;

/** Whether a caller reads the whole installation: it would see where the BMC of a node is that no project owns. */
export const readsEverything = (policy: Policy, who: Caller): boolean =>
  policy.allows(seesBmcRule, who, nodeTarget({ owner: null, lessee: null }));

/** The document with every text of it as this caller may read it. */
export const bmcTextsIn = (value: unknown, text: BmcText): unknown => {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((item) => bmcTextsIn(item, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bmcTextsIn(item, text)]));
};
