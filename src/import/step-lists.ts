/** Converts runbooks and deploy templates of Ironic. */
import { isTemperError } from '../model/errors';
import { type StepInterface, stepInterfaces } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import { checkTemplateSteps } from '../model/resources/deploy-templates';
import { checkRunbook } from '../model/resources/runbook-check';
import { checkRunbookSteps, inOrder, type RunbookStep } from '../model/resources/runbook-steps';
import { isTrait, traitRefusal } from '../model/resources/traits';
import { documentOf, refuseReserved } from './nodes';
import type { SourceRow } from './source';

export type ListVerdict =
  | { readonly values: Readonly<Record<string, unknown>>; readonly warnings: readonly string[] }
  | { readonly refused: string };

type Step = Omit<RunbookStep, 'order'>;

const stepOf = (row: SourceRow): Step => ({
  interface: row.interface as StepInterface,
  step: String(row.step),
  args: documentOf(row, 'args'),
});

const refusedStep = (steps: readonly Step[]): string | undefined => {
  if (steps.length === 0) return 'it has no step';
  const unknown = steps.find((step) => !stepInterfaces.includes(step.interface));
  if (unknown) return `Temper has no steps of interface ${unknown.interface} (${nameOf(unknown)})`;
  return undefined;
};

const faultOf = (check: () => void): string | undefined => {
  try {
    check();
    return undefined;
  } catch (thrown) {
    if (isTemperError(thrown)) return thrown.message;
    throw thrown;
  }
};

/** Steps that would probably fail in Temper. */
const warningsOf = (steps: readonly RunbookStep[]): string[] =>
  checkRunbook(steps, () => []).map(({ says }) => says.replace(/\.$/, ''));

/**
 * Without traits, a runbook's name approves it, as in Ironic's own migration to traits
 * (ironic/db/sqlalchemy/alembic/versions/e2d316b60d9e). Throws RowFault.
 */
export const judgeRunbook = (row: SourceRow, stepRows: readonly SourceRow[], given: readonly string[]): ListVerdict => {
  const steps = inOrder(stepRows.map((each) => ({ ...stepOf(each), order: Number(each.order) })));
  const refused = refusedStep(steps) ?? faultOf(() => checkRunbookSteps(steps));
  if (refused) return { refused };
  refuseReserved([steps, documentOf(row, 'extra')]);
  const isPublic = row.public === true;
  const name = String(row.name);
  const traits = given.length === 0 && isTrait(name) ? [name] : given;
  return {
    values: {
      name,
      steps,
      traits,
      public: isPublic,
      owner: isPublic ? null : (row.owner ?? null),
      disable_ramdisk: row.disable_ramdisk === true,
      description: row.description ?? null,
      extra: documentOf(row, 'extra'),
    },
    warnings: warningsOf(steps),
  };
};

/** Throws RowFault. */
export const judgeTemplate = (row: SourceRow, stepRows: readonly SourceRow[]): ListVerdict => {
  const steps = stepRows.map((each) => ({ ...stepOf(each), priority: Number(each.priority) }));
  const name = String(row.name);
  const refused =
    (isTrait(name) ? undefined : traitRefusal(name)) ?? refusedStep(steps) ?? faultOf(() => checkTemplateSteps(steps));
  if (refused) return { refused };
  refuseReserved([steps, documentOf(row, 'extra')]);
  // In Ironic only system administrators write them; the user of an import vouches for them.
  return {
    values: { name, steps, extra: documentOf(row, 'extra'), vouched: true },
    warnings: warningsOf(inOrder(steps.map(({ priority, ...step }) => ({ ...step, order: -priority })))),
  };
};
