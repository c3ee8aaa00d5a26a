/** Whose a trait on runbooks is: what a project may approve its runbooks by, and what would pass for another's approval. */
import type { Queries } from '../../../inventory';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { marksOf, type Runbook } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import type { ApiContext } from '../../context';

/** The rule by which a trait that belongs to another owner is put on a runbook. */
export const shareTrait = 'temper:runbook:share_trait';

type Claiming = { readonly ctx: Pick<ApiContext, 'policy'>; readonly inventory: Queries; readonly who: Caller };

/**
 * Takes what a runbook newly bears for its owner: traits, and a name that could be one. With another owner it bears all of it
 * newly. Belongs into the transaction of the write. Throws Conflict where it belongs to another project or to the system.
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
