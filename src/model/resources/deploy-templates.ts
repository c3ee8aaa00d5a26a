/** Deploy templates: steps for instances that request the trait in the template's name. */
import { raise } from '../errors';
import type { StepInterface, StepSettings } from '../lifecycle/step-types';
import { maxSteps, nameOf } from '../lifecycle/steps';
import { extraField, optionalText, recordFields, uuidField } from './common-fields';
import type { ResourceTable } from './fields';
import { isTrait, maxTraitLength } from './traits';

const updateTemplate = 'baremetal:deploy_template:update';

export const templatesSince = 55;

// Source of rows: openstack/ironic:ironic/api/controllers/v1/deploy_template.py, ironic/api/schemas/v1/deploy_template.py.
export const templateTable: ResourceTable = {
  resource: 'deploy template',
  collection: 'deploy_templates',
  fields: [
    uuidField,
    {
      name: 'name',
      type: 'text',
      inList: true,
      create: 'required',
      patch: updateTemplate,
      max: maxTraitLength,
      form: { is: isTrait, says: 'a trait: CUSTOM_ or a standard namespace, then capitals, digits and underscores' },
    },
    { name: 'steps', type: 'list', create: 'required', patch: updateTemplate, secret: true },
    extraField(updateTemplate),
    // Accepted and dropped.
    optionalText('description', updateTemplate, { hidden: true, column: null }),
    ...recordFields(),
  ],
  filters: [],
};

/** Secrets in `args` are references. */
export type TemplateStep = {
  readonly interface: StepInterface;
  readonly step: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly priority: number;
  readonly temper?: StepSettings;
};

export type DeployTemplate = {
  readonly uuid: string;
  readonly name: string;
  readonly steps: readonly TemplateStep[];
  readonly extra: Readonly<Record<string, unknown>>;
  /** Its steps were written with system scope, so deploying with it needs no permission for own steps. */
  readonly vouched: boolean;
};

/** Throws InvalidSteps for too many or duplicate steps. */
export const checkTemplateSteps = (steps: readonly TemplateStep[]): void => {
  if (steps.length > maxSteps)
    raise('InvalidSteps', { reason: `A deploy template has at most ${maxSteps} steps; ${steps.length} came.` });
  const names = steps.map(nameOf);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice) raise('InvalidSteps', { reason: `Step ${twice} comes twice; a deploy template may hold each step once.` });
};
