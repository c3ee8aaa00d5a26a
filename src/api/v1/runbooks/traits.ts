/** /v1/runbooks/{ident}/traits: a runbook runs only on nodes that share a trait with it. */

import { z } from 'zod';
import { findVisibleRunbook } from '../../../admission/visibility';
import { raise } from '../../../model/errors';
import { runbookTraitsSince } from '../../../model/resources/runbooks';
import { isTrait, maxTraits, traitRefusal } from '../../../model/resources/traits';
import { runbookTarget } from '../../../policy';
import * as shapes from '../../../wire/ironic';
import { auditAndEvent, resourceChange } from '../../audit/record';
import type { ApiContext } from '../../context';
import { type ApiRequest, noContent, ok, route } from '../../server/route';
import { operatorTraitRules, requireOperatorTraits } from '../nodes/operator-traits';
import { admitRevision } from './revisions';
import { runbookFacts } from './runbooks';
import { claimMarks, shareTrait } from './trait-claims';

const runbookTraitRule = 'baremetal:runbook:update';
const allPath = '/v1/runbooks/:runbook_ident/traits';
const onePath = '/v1/runbooks/:runbook_ident/traits/:trait';
const runbookTraitRoutesSince = runbookTraitsSince;
const changing = ['baremetal:runbook:get', runbookTraitRule, operatorTraitRules.runbook, shareTrait];

const runbookParams = z.object({ runbook_ident: z.string() });
const oneParams = runbookParams.extend({ trait: z.string() });
type RunbookTraitParams = z.output<typeof runbookParams>;
const traitsBody = z.strictObject({ traits: z.array(z.string()) });

const checkTraits = (traits: readonly string[]): void => {
  for (const trait of traits)
    if (!isTrait(trait)) raise('InvalidInput', { field: 'traits', reason: traitRefusal(trait) });
};

/** Changes the traits of a visible runbook in one transaction, so concurrent changes are not lost. */
const changeTraits = async (
  request: ApiRequest<RunbookTraitParams, unknown, unknown>,
  ctx: ApiContext,
  next: (traits: readonly string[]) => readonly string[],
): Promise<void> => {
  const { who, params } = request;
  await ctx.inventory.transaction(async (inventory) => {
    const runbook = await findVisibleRunbook({ ...ctx, inventory }, who, params.runbook_ident, { lock: true });
    ctx.policy().require(runbookTraitRule, who, runbookTarget(runbook));
    const traits = [...new Set(next(runbook.traits))];
    if (traits.length > maxTraits)
      raise('InvalidInput', { field: 'traits', reason: `a runbook has at most ${maxTraits} traits` });
    const of = { of: 'runbook', target: runbookTarget(runbook) } as const;
    requireOperatorTraits(ctx, who, of, { before: runbook.traits, after: traits });
    await admitRevision(ctx, inventory, request);
    await inventory.runbooks.setTraits(runbook.uuid, traits);
    const claimed = await claimMarks({ ctx, inventory, who }, runbook, { ...runbook, traits });
    const admitted = [runbookTraitRule, ...claimed].join(', ');
    const write = {
      resource: 'runbook',
      act: 'update',
      rule: admitted,
      uuid: runbook.uuid,
      values: { traits },
    } as const;
    await auditAndEvent(inventory, ctx.policy(), request, resourceChange({ ...write, ...runbookFacts(runbook) }));
  });
};

const listTraits = route({
  method: 'GET',
  path: allPath,
  answers: { 200: shapes.traits },
  since: runbookTraitRoutesSince,
  rules: ['baremetal:runbook:get'],
  params: runbookParams,
  handler: async ({ who, params }, ctx) => {
    const runbook = await findVisibleRunbook(ctx, who, params.runbook_ident);
    return ok({ traits: runbook.traits });
  },
});

const changes = { since: runbookTraitRoutesSince, rules: changing } as const;

const setTraits = route({
  ...changes,
  method: 'PUT',
  path: allPath,
  params: runbookParams,
  body: traitsBody,
  handler: async (request, ctx) => {
    checkTraits(request.body.traits);
    await changeTraits(request, ctx, () => request.body.traits);
    return noContent();
  },
});

const addTrait = route({
  ...changes,
  method: 'PUT',
  path: onePath,
  params: oneParams,
  handler: async (request, ctx) => {
    const { runbook_ident, trait } = request.params;
    checkTraits([trait]);
    await changeTraits(request, ctx, (traits) => [...traits, trait]);
    return noContent(`${request.base}/v1/runbooks/${runbook_ident}/traits/${trait}`);
  },
});

const removal = <Params extends RunbookTraitParams>(
  path: string,
  params: z.ZodType<Params>,
  left: (traits: readonly string[], params: Params) => readonly string[],
) =>
  route({
    ...changes,
    method: 'DELETE',
    path,
    params,
    handler: async (request, ctx) => {
      await changeTraits(request, ctx, (traits) => left(traits, request.params));
      return noContent();
    },
  });

const clearTraits = removal(allPath, runbookParams, () => []);
const removeTrait = removal(onePath, oneParams, (traits, { trait }) => traits.filter((one) => one !== trait));

export const runbookTraitRoutes = [listTraits, setTraits, addTrait, clearTraits, removeTrait];
