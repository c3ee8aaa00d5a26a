/** Traits with the operator's prefix are approvals. Changing them needs a separate rule. */
import type { Caller } from '../../../model/access/callers';
import type { Runbook } from '../../../model/resources/runbooks';
import { runbookTarget, type Target } from '../../../policy';
import type { ApiContext } from '../../context';

/** These rules come in addition to those of the change. */
export const operatorTraitRules = {
  node: 'temper:node:operator_traits',
  runbook: 'temper:runbook:operator_traits',
} as const;

type OperatorTraitContext = Pick<ApiContext, 'policy' | 'settings'>;

const marksAmong = (
  { settings: { operatorTraitPrefix: prefix } }: OperatorTraitContext,
  traits: readonly string[],
): string[] => (prefix === '' ? [] : traits.filter((trait) => trait.startsWith(prefix)));

/** Evaluates the rule if operator traits are added or removed. Throws PolicyDenied. */
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

/** The behaviour of a runbook, without the fields that do not affect an approval. */
const approvedFields = ['steps', 'disable_ramdisk'];

/**
 * The same for a created or patched runbook. Its name counts, because below 1.112 it acts as a trait.
 * Its behaviour counts while it has such a trait, because that was approved. Throws PolicyDenied.
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
