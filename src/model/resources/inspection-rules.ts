/** Inspection rules: conditions and actions on the data of an inspection. */
import { raise } from '../errors';
import { optionalText, recordFields, uuidField } from './common-fields';
import type { ResourceTable } from './fields';

const updateInspectionRule = 'baremetal:inspection_rule:update';

export const inspectionRulesSince = 96;

// Source of rows: openstack/ironic:ironic/api/controllers/v1/inspection_rule.py, ironic/api/schemas/v1/inspection_rule.py.
export const inspectionRuleTable: ResourceTable = {
  resource: 'inspection rule',
  collection: 'inspection_rules',
  fields: [
    uuidField,
    optionalText('description', updateInspectionRule, { inList: true }),
    optionalText('phase', updateInspectionRule, { inList: true, min: 1, default: 'main' }),
    {
      name: 'priority',
      type: 'integer',
      inList: true,
      create: 'optional',
      patch: updateInspectionRule,
      default: 0,
      min: 0,
      max: 9999,
    },
    { name: 'sensitive', type: 'boolean', create: 'optional', patch: updateInspectionRule, default: false },
    {
      name: 'conditions',
      type: 'list',
      nullable: true,
      create: 'optional',
      patch: updateInspectionRule,
      secret: true,
      shownNull: true,
    },
    { name: 'actions', type: 'list', create: 'required', patch: updateInspectionRule, secret: true, shownNull: true },
    ...recordFields(),
  ],
  filters: [{ name: 'phase', type: 'text', column: 'phase' }],
};

// openstack/ironic:ironic/common/inspection_rules/validation.py
export const actionOps = (
  'fail log set-attribute extend-attribute del-attribute set-capability unset-capability add-trait remove-trait ' +
  'set-plugin-data extend-plugin-data unset-plugin-data set-port-attribute extend-port-attribute del-port-attribute api-call'
).split(' ');

const plainConditionOps = 'eq lt gt is-empty in-net matches contains one-of is-none is-true is-false'.split(' ');
export const conditionOps: readonly string[] = plainConditionOps.flatMap((op) => [op, `!${op}`]);
export const multiples = ['any', 'all', 'first', 'last'] as const;

/** Secrets in its lists are references. */
export type InspectionRule = {
  readonly uuid: string;
  readonly description: string | null;
  readonly phase: string;
  readonly priority: number;
  readonly sensitive: boolean;
  readonly conditions: readonly unknown[];
  readonly actions: readonly unknown[];
};

/** Hidden even from the author. */
export const hiddenWhenSensitive: readonly string[] = ['conditions', 'actions'];

/** A change from sensitive would reveal the contents. Throws InvalidInput. */
export const checkStaysSensitive = (
  before: { readonly sensitive: boolean },
  after: { readonly sensitive?: unknown },
): void => {
  if (before.sensitive && after.sensitive === false)
    raise('InvalidInput', {
      field: 'sensitive',
      reason: 'cannot be unset: it would show what was hidden; delete the rule and make another',
    });
};
