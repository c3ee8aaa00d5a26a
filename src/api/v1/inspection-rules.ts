/** /v1/inspection_rules: actions on inspection data. Workers run them when they process the data. */

import { z } from 'zod';
import { document } from '../../admission/schemas';
import { masked, replaceSecrets } from '../../model/access/secrets';
import { raise } from '../../model/errors';
import { type RuleStep, stepFault } from '../../model/inspection/rule-ops';
import {
  actionOps,
  checkStaysSensitive,
  conditionOps,
  hiddenWhenSensitive,
  type InspectionRule,
  inspectionRulesSince,
  inspectionRuleTable,
  multiples,
} from '../../model/resources/inspection-rules';
import type { Resource } from '../resource/kit';
import { editRoutes } from '../resource/kit-edits';
import { shownRoutes } from '../resource/kit-lists';
import { type Extra, linksTo, projections } from '../resource/representation';
import type { StoredValues } from '../resource/values';
import { schemaError } from '../server/errors';
import type { Route } from '../server/route';

const ruleKeys = {
  args: z.union([document, z.array(z.unknown())]).optional(),
  loop: z.union([document, z.array(z.unknown()), z.string()]).optional(),
};

const schemas = {
  actions: z
    .array(z.strictObject({ op: z.enum(actionOps as [string, ...string[]]), ...ruleKeys }))
    .min(1, { error: 'a rule needs at least one action' }),
  conditions: z.array(
    z.strictObject({
      op: z.enum(conditionOps as [string, ...string[]]),
      multiple: z.enum(multiples).optional(),
      ...ruleKeys,
    }),
  ),
};

const holdsSecret = (step: RuleStep): boolean => {
  let found = false;
  replaceSecrets(step, (value) => {
    found ||= value !== masked;
    return value;
  });
  return found;
};

/** Refuses rules that cannot run, so that their author corrects them now. */
const runnable = (name: string, steps: readonly RuleStep[]): readonly RuleStep[] => {
  for (const [at, step] of steps.entries()) {
    const fault =
      stepFault(step) ?? (holdsSecret(step) ? 'holds a secret, which nothing that runs rules may read' : undefined);
    if (fault !== undefined) raise('InvalidInput', { field: `${name}.${at}`, reason: fault });
  }
  return steps;
};

const checkedRule: Resource<InspectionRule>['checked'] = (values, _write, stored) => {
  if (stored) checkStaysSensitive(stored, values);
  const lists = Object.entries(schemas).flatMap(([name, schema]) => {
    if (values[name] === undefined) return [];
    const parsed = schema.safeParse(values[name]);
    if (parsed.success) return [[name, runnable(name, parsed.data as RuleStep[])]];
    const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [name, ...issue.path] }));
    throw schemaError(new z.ZodError(issues), name);
  });
  return { ...values, ...Object.fromEntries(lists) };
};

const unlessSensitive =
  (name: string): Extra =>
  (row) =>
    row.sensitive ? null : row[name];

/** For a sensitive rule the record omits the values of hidden fields. */
const recordedOf = (values: StoredValues, row: InspectionRule): StoredValues =>
  row.sensitive
    ? Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, hiddenWhenSensitive.includes(name) ? null : value]),
      )
    : values;

const inspectionRuleResource: Resource<InspectionRule> = {
  table: inspectionRuleTable,
  what: 'inspection_rule',
  path: 'inspection_rules',
  since: inspectionRulesSince,
  tooOld: 405,
  // Each action and condition is validated separately, which takes several times longer than for other values.
  bodyValues: 2_000,
  rules: 'baremetal:inspection_rule',
  // Ironic's code uses the first rule, its documentation names the second.
  listRules: ['baremetal:inspection_rule:get', 'baremetal:inspection_rule:list_all'],
  missing: 'InspectionRuleNotFound',
  store: (inventory) => inventory.inspectionRules,
  shown: projections(
    inspectionRuleTable,
    {
      links: linksTo('inspection_rules'),
      ...Object.fromEntries(hiddenWhenSensitive.map((name) => [name, unlessSensitive(name)])),
    },
    ['uuid', 'sensitive'],
  ),
  sealing: { holder: 'inspection_rule', fields: hiddenWhenSensitive },
  checked: checkedRule,
  recorded: (row, { values }) => ({ values: recordedOf(values, row) }),
};

export const inspectionRuleRoutes: Route[] = [
  ...shownRoutes(inspectionRuleResource),
  ...editRoutes(inspectionRuleResource),
];
