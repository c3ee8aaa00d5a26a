/** Routes of runbook parameters: their names, schemas and defaults. */

import { z } from 'zod';
import { document } from '../../../admission/schemas';
import { stepRuleNames } from '../../../admission/steps';
import { findVisibleRunbook } from '../../../admission/visibility';
import { raise } from '../../../model/errors';
import { schemaFault } from '../../../model/resources/parameter-schema';
import { parameterFault, parameterName, type RunbookParameter } from '../../../model/resources/runbook-parameters';
import type { Runbook } from '../../../model/resources/runbooks';
import { runbookTarget } from '../../../policy';
import * as shapes from '../../../wire/runbooks';
import { auditAndEvent, resourceChange } from '../../audit/record';
import type { ApiContext } from '../../context';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { operatorTraitRules, requireOperatorMarks } from '../../v1/nodes/operator-traits';
import { admitRevision } from '../../v1/runbooks/revisions';
import { runbookFacts } from '../../v1/runbooks/runbooks';
import { requireSteps } from '../../v1/runbooks/steps';

const seesRunbook = 'baremetal:runbook:get';
const changesRunbook = 'baremetal:runbook:update';

const mostParameters = 50;
const ofRunbook = z.object({ runbook: z.string() });
type OfRunbook = z.output<typeof ofRunbook>;

const parameter = z.strictObject({
  name: z.string().regex(parameterName, {
    error: 'must begin with a lower-case letter, and hold lower-case letters, digits and _ only; up to 63',
  }),
  description: z.string().max(1_000).optional(),
  schema: document,
  default: z.unknown().optional(),
  secret: z.boolean().optional(),
});
export const declaredParameters = z
  .array(parameter)
  .max(mostParameters, { error: `a runbook has at most ${mostParameters} parameters` });
const parametersBody = z.strictObject({ parameters: declaredParameters });

/** Throws InvalidInput. */
const checkParameter = (given: RunbookParameter, at: number): void => {
  const refuse = (key: string, reason: string): never =>
    raise('InvalidInput', { field: `parameters.${at}.${key}`, reason });
  const schema = schemaFault(given.schema);
  if (schema) refuse('schema', schema);
  if (given.default === undefined) return;
  if (given.secret) refuse('default', 'a secret parameter has no default; what is stored here is shown');
  const fault = parameterFault(given, given.default);
  if (fault) refuse('default', fault);
};

/** Throws InvalidInput, also for duplicate names. */
export const checkParameters = (given: readonly RunbookParameter[]): void => {
  given.forEach(checkParameter);
  const doubled = given.findIndex(({ name }, at) => given.findIndex((one) => one.name === name) !== at);
  if (doubled >= 0)
    raise('InvalidInput', { field: `parameters.${doubled}.name`, reason: `${given[doubled]!.name} is there twice` });
};

const view = ({ parameters, revision }: Runbook) => ({ revision, parameters });

const showParameters = async ({ who, params }: ApiRequest<OfRunbook, unknown, unknown>, ctx: ApiContext) =>
  ok(view(await findVisibleRunbook(ctx, who, params.runbook)));

/** The rules are those of changing the steps. */
const replace = async (request: ApiRequest<OfRunbook, unknown, z.output<typeof parametersBody>>, ctx: ApiContext) => {
  const { who, params, body } = request;
  const policy = ctx.policy();
  const changed = await ctx.inventory.transaction(async (inventory) => {
    const runbook = await findVisibleRunbook({ ...ctx, inventory }, who, params.runbook, { lock: true });
    policy.require(changesRunbook, who, runbookTarget(runbook));
    requireSteps(policy, who, runbook);
    requireOperatorMarks(ctx, who, runbook, { changes: ['steps'] });
    checkParameters(body.parameters);
    await admitRevision(ctx, inventory, request);
    const after = await inventory.runbooks.setParameters(runbook.uuid, body.parameters);
    const values = { parameters: body.parameters };
    const write = { resource: 'runbook', act: 'update', rule: changesRunbook, uuid: runbook.uuid, values } as const;
    await auditAndEvent(inventory, policy, request, resourceChange({ ...write, ...runbookFacts(runbook) }));
    return after;
  });
  return ok(view(changed));
};

const parametersPath = '/temper/v1/runbooks/:runbook/parameters';

export const runbookParameterRoutes: Route[] = [
  route({
    method: 'GET',
    path: parametersPath,
    answers: { 200: shapes.runbookParameters },
    rules: [seesRunbook],
    params: ofRunbook,
    handler: showParameters,
  }),
  route({
    method: 'PUT',
    path: parametersPath,
    answers: { 200: shapes.runbookParameters },
    rules: [seesRunbook, changesRunbook, operatorTraitRules.runbook, ...stepRuleNames],
    params: ofRunbook,
    body: parametersBody,
    handler: replace,
  }),
];
