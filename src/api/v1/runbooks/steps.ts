/** Validation of a runbook's steps. */

import { z } from 'zod';
import { runbookStep } from '../../../admission/schemas';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { nameOf } from '../../../model/lifecycle/steps';
import { checkOpenArgs } from '../../../model/resources/runbook-parameters';
import {
  checkRunbookSteps,
  inOrder,
  labelsOf,
  type RunbookStep,
  withStored,
} from '../../../model/resources/runbook-steps';
import type { Runbook } from '../../../model/resources/runbooks';
import { type Policy, runbookTarget, stepRulePrefix } from '../../../policy';
import { restoreSecrets } from '../../resource/document-secrets';
import { schemaError } from '../../server/errors';

const runbookSteps = z.array(runbookStep).min(1, { error: 'a runbook needs at least one step' });

/**
 * The steps in running order, with stored secrets in place of returned masks. A runbook may serve several drivers, so
 * driver support is checked on use. Throws InvalidInput, InvalidSteps.
 */
export const checkedSteps = (
  given: unknown,
  stored: readonly RunbookStep[],
  disallowed: readonly string[],
): RunbookStep[] => {
  const parsed = runbookSteps.safeParse(given);
  if (!parsed.success) throw inSteps(parsed.error);
  const ordered = inOrder<RunbookStep>(parsed.data);
  checkRunbookSteps(ordered);
  checkOpenArgs(ordered);
  for (const one of ordered)
    if (disallowed.includes(nameOf(one)))
      raise('InvalidSteps', { reason: `Step ${nameOf(one)} is switched off by the operator.` });
  const labels = labelsOf(ordered);
  return withStored(ordered, stored).map(({ step: one, before }, at) => ({
    ...one,
    args: restoreSecrets(`step ${labels[at]}`, one.args, before?.args) as RunbookStep['args'],
  }));
};

const inSteps = (error: z.ZodError) =>
  schemaError(new z.ZodError(error.issues.map((issue) => ({ ...issue, path: ['steps', ...issue.path] }))), 'steps');

/** Applies the operator's rules for single steps; a step without rule is free. Throws PolicyDenied. */
export const requireSteps = (
  policy: Policy,
  who: Caller,
  runbook: Pick<Runbook, 'owner' | 'public'> & { readonly steps: readonly RunbookStep[] },
): void => {
  for (const one of runbook.steps) {
    const rule = `${stepRulePrefix}${nameOf(one)}`;
    if (policy.has(rule)) policy.require(rule, who, runbookTarget(runbook));
  }
};
