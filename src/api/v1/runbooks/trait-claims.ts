/** Ownership of runbook traits: a project approves runbooks only by traits that no other owner uses. */
import type { Queries } from '../../../inventory';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { marksOf, type Runbook } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import type { ApiContext } from '../../context';

/** The rule to put another owner's trait on a runbook. */
export const shareTrait = 'temper:runbook:share_trait';

type Claiming = { readonly ctx: Pick<ApiContext, 'policy'>; readonly inventory: Queries; readonly who: Caller };

/**
 * Claims a runbook's new traits, and a name that could be a trait, for its owner. A new owner claims all of them.
 * Call it in the write's transaction. Throws Conflict if a trait belongs to another project or to the system.
 * @param before undefined for a new runbook
 * @returns the rules that admitted it
 */
export const claimMarks = async (
  { ctx, inventory, who }: Claiming,
  before: Runbook | undefined,
  after: Runbook,
): Promise<string[]> => {
  const known = before && before.owner === after.owner ? marksOf(before) : [];
  const added = marksOf(after).filter((mark) => !known.includes(mark));
  const others = await inventory.runbookTraits.claim(after.uuid, after.owner, added);
  if (others.length === 0) return [];
  if (!ctx.policy().allows(shareTrait, who, runbookTarget(after)))
    return raise('Conflict', {
      reason: `${others.join(', ')}: on runbooks, ${others.length === 1 ? 'this trait belongs' : 'these traits belong'} to another project or to the system, which approves its own runbooks by it. Use another; whom ${shareTrait} admits may share it.`,
    });
  if (after.owner === null) await inventory.runbookTraits.takeOver(others);
  return [shareTrait];
};
