/** Disruption budgets: a project limits how many of its owned or leased nodes may be unavailable at once. */
import { z } from 'zod';
import type { DisruptionBudget } from '../../../inventory/disruption-budgets';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import {
  type Amount,
  budgetColumns,
  type DisruptionLimit,
  type DisruptionQuery,
  isBudgetKey,
  mayBeMissing,
} from '../../../model/rollouts/disruption';
import { disruptionTarget } from '../../../policy';
import * as shapes from '../../../wire/records';
import { auditedWrite } from '../../audit/record';
import type { ApiContext } from '../../context';
import { uuidPage } from '../../resource/own-pages';
import { uuid } from '../../resource/validation';
import { nodeColumns } from '../../resource/visibility';
import { created, noContent, ok, route } from '../../server/route';
import { nodeQuery } from '../node-query';
import { projectRecords } from '../records/project-records';

const budgetsPath = '/temper/v1/disruption-budgets';
const budgetRules = {
  node: 'baremetal:node:get',
  get: 'temper:disruption_budget:get',
  create: 'temper:disruption_budget:create',
  update: 'temper:disruption_budget:update',
  delete: 'temper:disruption_budget:delete',
} as const;

const share = z.string().regex(/^(100|[1-9]\d?)%$/, { error: 'must be a number of nodes, or a share from 1% to 100%' });
const upTo = (least: number) => z.union([z.int().min(least).max(100_000), share]);

const query = nodeQuery({
  isKey: isBudgetKey,
  unknown: `is nothing to choose nodes by; it can be ${budgetColumns.join(', ')}, traits or properties.<key>`,
});

const budgetFields = {
  query,
  max_unavailable: upTo(0),
  min_available: upTo(1),
  description: z.string().max(255).nullable(),
};
const bothLimits = 'give max_unavailable or min_available, not both';
const budgetBody = z
  .strictObject({
    project: z.string().min(1).max(255).optional(),
    query: budgetFields.query.default({}),
    max_unavailable: budgetFields.max_unavailable.optional(),
    min_available: budgetFields.min_available.optional(),
    description: budgetFields.description.default(null),
  })
  .refine(({ max_unavailable, min_available }) => (max_unavailable === undefined) !== (min_available === undefined), {
    path: ['max_unavailable'],
    error: bothLimits,
  });
const changeBody = z
  .strictObject(budgetFields)
  .partial()
  .refine(({ max_unavailable, min_available }) => max_unavailable === undefined || min_available === undefined, {
    path: ['max_unavailable'],
    error: bothLimits,
  });
const page = z.strictObject(uuidPage);
const budgetParams = z.object({ budget: uuid });
type BudgetParams = z.output<typeof budgetParams>;

/** Counts only nodes that the reader may see. */
const budgetView = async (ctx: ApiContext, who: Caller, row: DisruptionBudget, link: string) => {
  const seen = ctx.policy().filter(budgetRules.node, who, nodeColumns);
  const { nodes, unavailable } = await ctx.inventory.disruptionBudgets.disruption(row, seen);
  return {
    ...row,
    nodes,
    unavailable,
    may_be_taken: Math.max(0, mayBeMissing(row, nodes) - unavailable),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at?.toISOString() ?? null,
    links: { self: `${link}${budgetsPath}/${row.uuid}` },
  };
};

const budgets = projectRecords<DisruptionBudget>({
  resource: 'disruption_budget',
  plural: 'disruption budgets',
  rules: budgetRules,
  target: disruptionTarget,
  store: ({ disruptionBudgets }) => disruptionBudgets,
  missing: (budget) => raise('DisruptionBudgetNotFound', { budget }),
  values: ({ project, query: nodes, max_unavailable, min_available }) => ({
    project,
    query: nodes,
    max_unavailable,
    min_available,
  }),
});

const limitOf = (given: { max_unavailable?: Amount; min_available?: Amount }): DisruptionLimit | undefined =>
  given.max_unavailable === undefined && given.min_available === undefined
    ? undefined
    : { max_unavailable: given.max_unavailable ?? null, min_available: given.min_available ?? null };

const listBudgets = route<unknown, z.output<typeof page>>({
  method: 'GET',
  path: budgetsPath,
  answers: { 200: shapes.disruptionBudgets },
  rules: [budgetRules.get, budgetRules.node],
  query: page,
  async handler(request, ctx) {
    const { rows, next } = await budgets.page(ctx, request, budgetsPath);
    // Sequential: each view counts the project's nodes, and other requests need database connections.
    const views: Awaited<ReturnType<typeof budgetView>>[] = [];
    for (const row of rows) views.push(await budgetView(ctx, request.who, row, request.base));
    return ok({ disruption_budgets: views, ...next });
  },
});

const createBudget = route<unknown, unknown, z.output<typeof budgetBody>>({
  method: 'POST',
  path: budgetsPath,
  answers: { 201: shapes.disruptionBudget },
  rules: [budgetRules.create, budgetRules.node],
  body: budgetBody,
  async handler(request, ctx) {
    const { who, body } = request;
    const project = budgets.projectOf(ctx, who, body.project);
    const row = await budgets.create(ctx, request, project, (store) =>
      store.disruptionBudgets.create({
        project,
        query: body.query,
        description: body.description,
        ...limitOf(body)!,
      }),
    );
    return created(await budgetView(ctx, who, row, request.base), `${request.base}${budgetsPath}/${row.uuid}`);
  },
});

const showBudget = route<BudgetParams>({
  method: 'GET',
  path: `${budgetsPath}/:budget`,
  answers: { 200: shapes.disruptionBudget },
  rules: [budgetRules.get, budgetRules.node],
  params: budgetParams,
  async handler({ who, params, base: link }, ctx) {
    return ok(await budgetView(ctx, who, await budgets.visible(ctx, who, params.budget), link));
  },
});

const updateBudget = route<BudgetParams, unknown, z.output<typeof changeBody>>({
  method: 'PATCH',
  path: `${budgetsPath}/:budget`,
  answers: { 200: shapes.disruptionBudget },
  rules: [budgetRules.get, budgetRules.update, budgetRules.node],
  params: budgetParams,
  body: changeBody,
  async handler(request, ctx) {
    const { who, body, params } = request;
    const before = await budgets.visible(ctx, who, params.budget);
    ctx.policy().require(budgetRules.update, who, disruptionTarget(before));
    const given: { query?: DisruptionQuery; description?: string | null } = {
      ...(body.query && { query: body.query }),
      ...(body.description !== undefined && { description: body.description }),
    };
    const values = { ...given, ...limitOf(body) };
    const row = await auditedWrite(
      ctx,
      request,
      async (store) =>
        (await store.disruptionBudgets.update(before.uuid, values)) ??
        raise('DisruptionBudgetNotFound', { budget: params.budget }),
      budgets.changeOf('update'),
    );
    return ok(await budgetView(ctx, who, row, request.base));
  },
});

const deleteBudget = route<BudgetParams>({
  method: 'DELETE',
  path: `${budgetsPath}/:budget`,
  rules: [budgetRules.get, budgetRules.delete],
  params: budgetParams,
  async handler(request, ctx) {
    await budgets.delete(ctx, request, request.params.budget);
    return noContent();
  },
});

export const disruptionBudgetRoutes = [listBudgets, createBudget, showBudget, updateBudget, deleteBudget];
