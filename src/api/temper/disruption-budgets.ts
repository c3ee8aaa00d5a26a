/** Disruption budgets on the wire: a project says how many of the nodes that it owns or leases may be missing at once. */
import { z } from 'zod';
import type { DisruptionBudget } from '../../inventory/disruption-budgets';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { asUuid } from '../../model/ids';
import {
  type Amount,
  budgetColumns,
  budgetUuids,
  type DisruptionLimit,
  type DisruptionQuery,
  isBudgetKey,
  mayBeMissing,
} from '../../model/rollouts/disruption';
import { disruptionTarget } from '../../policy';
import { auditAndEvent, type Change } from '../audit/record';
import type { ApiContext } from '../context';
import { created, noContent, ok, route } from '../http/route';
import { pageLimit, uuid } from '../resource/validation';
import { nodeColumns } from '../resource/visibility';
import * as shapes from './shapes';

const base = '/temper/v1/disruption-budgets';
/** Every admission locks and counts the budgets of its node's projects. */
const mostOfOneProject = 50;

const budgetRules = {
  node: 'baremetal:node:get',
  get: 'temper:disruption_budget:get',
  create: 'temper:disruption_budget:create',
  update: 'temper:disruption_budget:update',
  delete: 'temper:disruption_budget:delete',
} as const;
const columns = { 'disruption_budget.project': 'project' } as const;

const share = z.string().regex(/^(100|[1-9]\d?)%$/, { error: 'must be a number of nodes, or a share from 1% to 100%' });
const upTo = (least: number) => z.union([z.int().min(least).max(100_000), share]);

const values = z.union([
  z.string().transform((text) => text.split(',').map((part) => part.trim())),
  z.array(z.string().max(255)).max(1_000),
]);
const query = z
  .record(z.string(), values.pipe(z.array(z.string().min(1).max(255)).min(1)))
  .superRefine((keys, context) => {
    const fault = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    for (const [key, texts] of Object.entries(keys)) {
      if (!isBudgetKey(key))
        fault(key, `is nothing to choose nodes by; it can be ${budgetColumns.join(', ')}, traits or properties.<key>`);
      else if (budgetUuids.includes(key) && texts.some((text) => asUuid(text) !== text)) fault(key, 'must be UUIDs');
    }
  });

const fields = {
  query,
  max_unavailable: upTo(0),
  min_available: upTo(1),
  description: z.string().max(255).nullable(),
};
const bothLimits = 'give max_unavailable or min_available, not both';
const creation = z
  .strictObject({
    project: z.string().min(1).max(255).optional(),
    query: fields.query.default({}),
    max_unavailable: fields.max_unavailable.optional(),
    min_available: fields.min_available.optional(),
    description: fields.description.default(null),
  })
  .refine(({ max_unavailable, min_available }) => (max_unavailable === undefined) !== (min_available === undefined), {
    path: ['max_unavailable'],
    error: bothLimits,
  });
const changeBody = z
  .strictObject(fields)
  .partial()
  .refine(({ max_unavailable, min_available }) => max_unavailable === undefined || min_available === undefined, {
    path: ['max_unavailable'],
    error: bothLimits,
  });
const page = z.strictObject({ limit: pageLimit, marker: uuid.optional() });
const budgetParams = z.object({ budget: uuid });
type One = z.output<typeof budgetParams>;

/** A budget with what it says of its nodes now, as far as the reader may see them. */
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
    links: { self: `${link}${base}/${row.uuid}` },
  };
};

const findVisible = async (ctx: ApiContext, who: Caller, budget: string): Promise<DisruptionBudget | undefined> => {
  const row = await ctx.inventory.disruptionBudgets.find(budget);
  return row && ctx.policy().allows(budgetRules.get, who, disruptionTarget(row)) ? row : undefined;
};

/** Throws DisruptionBudgetNotFound alike for missing and hidden ones. */
const visibleBudget = async (ctx: ApiContext, who: Caller, budget: string): Promise<DisruptionBudget> =>
  (await findVisible(ctx, who, budget)) ?? raise('DisruptionBudgetNotFound', { budget });

const limitOf = (given: { max_unavailable?: Amount; min_available?: Amount }): DisruptionLimit | undefined =>
  given.max_unavailable === undefined && given.min_available === undefined
    ? undefined
    : { max_unavailable: given.max_unavailable ?? null, min_available: given.min_available ?? null };

const budgetActs = { create: 'created', update: 'updated', delete: 'deleted' } as const;

const changeOf = (act: keyof typeof budgetActs, row: DisruptionBudget): Change => ({
  action: `disruption_budget.${act}`,
  kind: `disruption_budget.${budgetActs[act]}`,
  rule: budgetRules[act],
  resource: 'disruption_budget',
  resource_id: row.uuid,
  project: row.project,
  data: {
    project: row.project,
    query: row.query,
    max_unavailable: row.max_unavailable,
    min_available: row.min_available,
  },
});

const listBudgets = route<unknown, z.output<typeof page>>({
  method: 'GET',
  path: base,
  answers: { 200: shapes.disruptionBudgets },
  rules: [budgetRules.get, budgetRules.node],
  query: page,
  async handler({ who, query: { limit, marker: after }, base: link }, ctx) {
    const visible = ctx.policy().filter(budgetRules.get, who, columns);
    if (visible.is === 'false') ctx.policy().require(budgetRules.get, who);
    if (after !== undefined && !(await findVisible(ctx, who, after))) raise('MarkerNotFound', { marker: after });
    const rows = await ctx.inventory.disruptionBudgets.list({ visible, limit, after });
    return ok({ disruption_budgets: await Promise.all(rows.map((row) => budgetView(ctx, who, row, link))) });
  },
});

const createBudget = route<unknown, unknown, z.output<typeof creation>>({
  method: 'POST',
  path: base,
  answers: { 201: shapes.disruptionBudget },
  rules: [budgetRules.create, budgetRules.node],
  body: creation,
  async handler(request, ctx) {
    const { who, body } = request;
    const project = body.project ?? who.project_id;
    ctx.policy().require(budgetRules.create, who, disruptionTarget({ project }));
    if (project === null)
      return raise('InvalidInput', { field: 'project', reason: 'is missing; a caller of the system has none' });
    const row = await ctx.inventory.transaction(async (store) => {
      if ((await store.disruptionBudgets.count(project)) >= mostOfOneProject)
        raise('Conflict', {
          reason: `Project ${project} has ${mostOfOneProject} disruption budgets; delete one first.`,
        });
      const made = await store.disruptionBudgets.create({
        project,
        query: body.query,
        description: body.description,
        ...limitOf(body)!,
      });
      await auditAndEvent(store, ctx.policy(), request, changeOf('create', made));
      return made;
    });
    return created(await budgetView(ctx, who, row, request.base), `${request.base}${base}/${row.uuid}`);
  },
});

const showBudget = route<One>({
  method: 'GET',
  path: `${base}/:budget`,
  answers: { 200: shapes.disruptionBudget },
  rules: [budgetRules.get, budgetRules.node],
  params: budgetParams,
  async handler({ who, params, base: link }, ctx) {
    return ok(await budgetView(ctx, who, await visibleBudget(ctx, who, params.budget), link));
  },
});

const updateBudget = route<One, unknown, z.output<typeof changeBody>>({
  method: 'PATCH',
  path: `${base}/:budget`,
  answers: { 200: shapes.disruptionBudget },
  rules: [budgetRules.get, budgetRules.update, budgetRules.node],
  params: budgetParams,
  body: changeBody,
  async handler(request, ctx) {
    const { who, body, params } = request;
    const before = await visibleBudget(ctx, who, params.budget);
    ctx.policy().require(budgetRules.update, who, disruptionTarget(before));
    const given: { query?: DisruptionQuery; description?: string | null } = {
      ...(body.query && { query: body.query }),
      ...(body.description !== undefined && { description: body.description }),
    };
    const row = await ctx.inventory.transaction(async (store) => {
      const changed =
        (await store.disruptionBudgets.update(before.uuid, { ...before, ...given, ...limitOf(body) })) ??
        raise('DisruptionBudgetNotFound', { budget: params.budget });
      await auditAndEvent(store, ctx.policy(), request, changeOf('update', changed));
      return changed;
    });
    return ok(await budgetView(ctx, who, row, request.base));
  },
});

const deleteBudget = route<One>({
  method: 'DELETE',
  path: `${base}/:budget`,
  rules: [budgetRules.get, budgetRules.delete],
  params: budgetParams,
  async handler(request, ctx) {
    const { who, params } = request;
    const row = await visibleBudget(ctx, who, params.budget);
    ctx.policy().require(budgetRules.delete, who, disruptionTarget(row));
    await ctx.inventory.transaction(async (store) => {
      if (!(await store.disruptionBudgets.delete(row.uuid)))
        raise('DisruptionBudgetNotFound', { budget: params.budget });
      await auditAndEvent(store, ctx.policy(), request, changeOf('delete', row));
    });
    return noContent();
  },
});

export const disruptionBudgetRoutes = [listBudgets, createBudget, showBudget, updateBudget, deleteBudget];
