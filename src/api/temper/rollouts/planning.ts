/** Plans a rollout: selects nodes, checks the rules on each, and stores the plan. */

import { randomUUID } from 'node:crypto';
import { provisionRules } from '../../../admission/admit';
import { quotasOf } from '../../../admission/context';
import { setPower } from '../../../admission/power';
import { requesterOf } from '../../../admission/requester';
import { findVisibleRunbook, identOf } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { RolloutRow } from '../../../inventory/rollouts/rollouts';
import { type Caller, quotaProject } from '../../../model/access/callers';
import { invalidInput, raise } from '../../../model/errors';
import type { NodeUuid, RolloutUuid } from '../../../model/ids';
import type { Predicate } from '../../../model/predicates';
import { maxMinor } from '../../../model/resources/microversions';
import { secretGiven } from '../../../model/resources/runbook-parameters';
import { boundOf } from '../../../model/rollouts/amounts';
import type { RolloutSpec } from '../../../model/rollouts/spec';
import { sampleOf } from '../../../model/rollouts/waves';
import { nodeTarget } from '../../../policy';
import type { PinnedRunbook } from '../../../rollouts/contract';
import { withoutConsent } from '../../../rollouts/overriding';
import { makePlan, type RolloutPlan, storePlan } from '../../../rollouts/plan';
import { createPrepareFor } from '../../../rollouts/prepare';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { namedNodes } from '../../resource/named-nodes';
import { nodeColumns } from '../../resource/visibility';
import { type ApiRequest, created } from '../../server/route';
import { gateRule, requireGates } from './gates';
import { rolloutRules, wholeRollout, wholeView } from './views';

export const planRule = 'temper:rollout:plan';
const overrideBudget = 'temper:rollout:override_budget';
const mostTargets = 100_000;

export const planningRules: readonly string[] = [
  planRule,
  rolloutRules.node,
  rolloutRules.get,
  rolloutRules.own,
  ...provisionRules,
  setPower,
  withoutConsent,
  gateRule,
  overrideBudget,
];

/** Throws NodeNotFound, RolloutNotFound, InvalidInput. */
const selectedNodes = async (ctx: ApiContext, who: Caller, { select, seed }: RolloutSpec & { seed: string }) => {
  const policy = ctx.policy();
  const visible = policy.filter(rolloutRules.node, who, nodeColumns);
  const exclude: RolloutUuid[] = [];
  for (const ident of select.exclude_rollouts ?? []) exclude.push((await wholeRollout(ctx, who, ident)).id);
  const named = select.nodes && (await chosenNodes(ctx, visible, select.nodes));
  const found = await ctx.inventory.rolloutSelection.find({
    visible,
    ...(named && { nodes: named }),
    query: select.query,
    exclude,
    limit: mostTargets + 1,
  });
  if (found.length > mostTargets)
    return invalidInput('select', `means more than ${mostTargets} nodes, which is the most that one rollout may have`);
  const part = select.limit ?? (select.percent && boundOf(select.percent, found.length));
  return part === undefined ? found : sampleOf(found, part, seed);
};

/** Throws NodeNotFound, also for hidden nodes, and InvalidInput for what is neither a UUID nor a name. */
const chosenNodes = async (ctx: ApiContext, visible: Predicate, named: readonly string[]): Promise<NodeUuid[]> => {
  const idents = [...new Set(named)];
  for (const ident of idents) identOf(ident, maxMinor);
  const find = await namedNodes(ctx, visible, idents);
  return idents.map((ident) => find(ident) ?? raise('NodeNotFound', { node: ident }));
};

/** Throws InvalidInput for secret values: the plan is stored and shown with its values. */
const pinOf = async (
  ctx: ApiContext,
  who: Caller,
  { runbook: ident, parameters = {} }: RolloutSpec,
): Promise<PinnedRunbook | null> => {
  if (ident === null) return null;
  const runbook = await findVisibleRunbook(ctx, who, ident);
  const secret = secretGiven(runbook, parameters);
  if (secret !== undefined)
    invalidInput(
      'parameters',
      `${secret} is secret, and a rollout is shown as it was asked for; run it on single nodes`,
    );
  const { uuid, name, revision } = runbook;
  return { uuid, name, revision };
};

/** Writes nothing. Throws NothingToDo, InvalidInput, and the errors of the selection. */
export const planRollout = async (
  ctx: ApiContext,
  request: ApiRequest<unknown, unknown, unknown>,
  spec: RolloutSpec,
  number = 1,
): Promise<RolloutPlan> => {
  const { who } = request;
  await requireGates(ctx, who, spec);
  const seed = spec.seed ?? randomUUID();
  const policy = ctx.policy();
  const nodes = await selectedNodes(ctx, who, { ...spec, seed });
  const visible = policy.filter(rolloutRules.node, who, nodeColumns);
  const read = async (some: readonly NodeUuid[]): Promise<readonly NodeRow[]> => {
    const rows = await ctx.inventory.rolloutSelection.read(visible, some);
    // Each admission checks the starter's rights again. Here the plan fails early.
    if (spec.override_budgets) for (const node of rows) policy.require(overrideBudget, who, nodeTarget(node));
    return rows;
  };
  return makePlan(
    { inventory: ctx.inventory, prepareFor: createPrepareFor(ctx) },
    {
      who,
      requester: requesterOf(request),
      spec,
      seed,
      number,
      runbook: await pinOf(ctx, who, spec),
      nodes: nodes.map(({ uuid }) => uuid),
      read,
      rule_set: policy.hash,
      withoutConsent: (node) => policy.allows(withoutConsent, who, nodeTarget(node)),
    },
  );
};

/** Project of the quota; null for a system caller. */
export const quotaOwner = (who: Caller, { project }: Pick<RolloutRow, 'project'>): string | null =>
  quotaProject(who) === null ? null : project;

export const createRollout = async (
  ctx: ApiContext,
  request: ApiRequest<unknown, unknown, unknown>,
  spec: RolloutSpec,
  { rule, reverts = null }: { readonly rule: string; readonly reverts?: RolloutRow | null },
) => {
  await ctx.inventory.quotas.require('rollout_plans', quotaOwner(request.who, spec), quotasOf(ctx).rollout_plans);
  const plan = await planRollout(ctx, request, spec);
  const of = {
    name: spec.name,
    project: spec.project,
    requester: requesterOf(request),
    reverts: reverts?.id ?? null,
    approvers: ctx.settings.rolloutApprovers,
  };
  const row = await ctx.inventory.transaction(async (store) => {
    const made = await storePlan(store, plan, of);
    await auditAndEvent(store, ctx.policy(), request, {
      action: 'rollout.plan',
      kind: 'rollout.planned',
      rule,
      resource: 'rollout',
      resource_id: made.id,
      project: made.project,
      data: { name: made.name, plan_hash: made.plan_hash, runbook: made.runbook_name, revision: made.runbook_revision },
    });
    return made;
  });
  return created(await wholeView(ctx, row, request.base), `${request.base}/temper/v1/rollouts/${row.id}`);
};
