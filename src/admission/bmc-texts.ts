/** BMC addresses in texts: shown only to callers who may read driver_info. */

import { withoutBmc } from '../model/access/bmc-texts';
import type { Caller } from '../model/access/callers';
import { nodeTarget, type Policy } from '../policy';

/** driver_info holds the BMC address. */
export const seesBmcRule = 'baremetal:node:get:driver_info';

type Home = { readonly owner: string | null; readonly lessee: string | null };

/** A text as this caller may read it; null stays null. @param home current owner and lessee; undefined if the node is gone */
export type BmcText = <Text extends string | null>(text: Text) => Text;

export const bmcTextFor = (policy: Policy, who: Caller, home: Home | undefined): BmcText =>
  policy.allows(seesBmcRule, who, nodeTarget(home ?? { owner: null, lessee: null })) ? (text) => text : withoutBmc;

/** True if the caller may see the BMC address of a node without owner, and so reads the whole installation. */
export const readsEverything = (policy: Policy, who: Caller): boolean =>
  policy.allows(seesBmcRule, who, nodeTarget({ owner: null, lessee: null }));

/** Filters every text of the document. */
export const bmcTextsIn = (value: unknown, text: BmcText): unknown => {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((item) => bmcTextsIn(item, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bmcTextsIn(item, text)]));
};
