/** /v1/deploy_templates: steps for deployments whose instance has the trait of the template's name. */

import { z } from 'zod';
import { deployStep } from '../../../admission/schemas';
import { raise } from '../../../model/errors';
import { nameOf } from '../../../model/lifecycle/steps';
import {
  checkTemplateSteps,
  type DeployTemplate,
  type TemplateStep,
  templatesSince,
  templateTable,
} from '../../../model/resources/deploy-templates';
import { restoreSecrets } from '../../resource/document-secrets';
import type { Resource } from '../../resource/kit';
import { editRoutes } from '../../resource/kit-edits';
import { shownRoutes } from '../../resource/kit-lists';
import { linksTo, projections } from '../../resource/representation';
import { schemaError } from '../../server/errors';
import type { Route } from '../../server/route';

const templateSteps = z.array(deployStep).min(1, { error: 'a deploy template needs at least one step' });

const parsedSteps = (given: unknown): TemplateStep[] => {
  const parsed = templateSteps.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => ({ ...issue, path: ['steps', ...issue.path] }));
  throw schemaError(new z.ZodError(issues), 'steps');
};

/** The given steps, with stored secrets in place of returned masks, also for moved steps. */
const checkedSteps = (
  given: unknown,
  stored: readonly TemplateStep[],
  disallowed: readonly string[],
): TemplateStep[] => {
  const parsed = parsedSteps(given);
  checkTemplateSteps(parsed);
  const before = new Map(stored.map((step) => [nameOf(step), step]));
  return parsed.map((step) => {
    const name = nameOf(step);
    if (disallowed.includes(name)) raise('InvalidSteps', { reason: `Step ${name} is switched off by the operator.` });
    const args = restoreSecrets(`step ${name}`, step.args, before.get(name)?.args) as TemplateStep['args'];
    return { ...step, args };
  });
};

/**
 * A caller who may choose steps for all nodes approves these steps. A project caller does not.
 * So a project caller may change neither the steps nor the name, which selects nodes by trait.
 */
const checkedTemplate: Resource<DeployTemplate>['checked'] = (values, { ctx, request: { who } }, stored) => {
  const ofSystem = who.system_scope !== null || who.all_powerful;
  const renamed = values.name !== undefined && values.name !== stored?.name;
  if (values.steps === undefined) return renamed && !ofSystem ? { ...values, vouched: false } : values;
  const before = stored?.steps ?? [];
  return {
    ...values,
    steps: checkedSteps(values.steps, before, ctx.settings.disallowedSteps),
    vouched: ofSystem,
  };
};

const template: Resource<DeployTemplate> = {
  table: templateTable,
  what: 'deploy_template',
  path: 'deploy_templates',
  since: templatesSince,
  tooOld: 405,
  rules: 'baremetal:deploy_template',
  missing: 'DeployTemplateNotFound',
  named: {},
  badMarker: 'MarkerNotFound',
  store: (inventory) => inventory.deployTemplates,
  shown: projections(templateTable, { links: linksTo('deploy_templates') }),
  sealing: { holder: 'deploy_template', fields: ['steps'] },
  checked: checkedTemplate,
};

export const deployTemplateRoutes: Route[] = [...shownRoutes(template), ...editRoutes(template)];
