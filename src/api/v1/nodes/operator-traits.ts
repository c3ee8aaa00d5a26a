/** Traits that are an approval of the operator: with a configured prefix, only who a rule of their own admits changes them. */
import type { Caller } from '../../../model/access/callers';
import type { Runbook } from '../../../model/resources/runbooks';
import { runbookTarget, type Target } from '../../../policy';
import type { ApiContext } from '../../context';

/** The rules that are asked beside those of the change itself. */
export const operatorTraitRules = {
  node: 'temper:node:operator_traits',
  runbook: 'temper:runbook:operator_traits',
} as const;

type OperatorTraitContext = Pick<ApiContext, 'policy' | 'settings'>;

const marksAmong = (
  { settings: { operatorTraitPrefix: prefix } }: OperatorTraitContext,
  traits: readonly string[],
): string[] => (prefix === '' ? [] : traits.filter((trait) => trait.startsWith(prefix)));

/** Asks whether the caller may change operators' traits, where some come or go. Throws PolicyDenied. */
export const requireOperatorTraits = (
  ctx: OperatorTraitContext,
  who: Caller,
  { of, target }: { readonly of: keyof typeof operatorTraitRules; readonly target: Target },
  { before, after }: { readonly before: readonly string[]; readonly after: readonly string[] },
): void => {
  const changed = [
    ...before.filter((trait) => !after.includes(trait)),
    ...after.filter((trait) => !before.includes(trait)),
  ];
  if (marksAmong(ctx, changed).length > 0) ctx.policy().require(operatorTraitRules[of], who, target);
};

type Approved = Pick<Runbook, 'name' | 'traits' | 'owner' | 'public'>;

/** What a runbook does; the rest of it says nothing of what was approved. */
const approvedFields = ['steps', 'disable_ramdisk'];

/**
 * Asks the same of a runbook that is made or patched. Its name counts, for below 1.112 it stands for a trait; and so does
 * what it does while it bears such a mark, for that is what was approved. Throws PolicyDenied.
 */
export const requireOperatorMarks = (
  ctx: OperatorTraitContext,
  who: Caller,
  runbook: Approved,
  { name, changes = [] }: { readonly name?: string; readonly changes?: readonly string[] } = {},
): void => {
  const names = [runbook.name, ...runbook.traits];
  const touched = changes.some((field) => approvedFields.includes(field)) ? names : [];
  const renamed = name !== undefined && name !== runbook.name ? [name, runbook.name] : [];
  if (marksAmong(ctx, [...touched, ...renamed]).length > 0)
    ctx.policy().require(operatorTraitRules.runbook, who, runbookTarget(runbook));
};
