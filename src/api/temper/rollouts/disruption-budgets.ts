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
import type { ApiContext } from '../../context';
import { uuid } from '../../resource/validation';
import { nodeColumns } from '../../resource/visibility';
import { nodeQuery } from '../node-query';
import { recordRoutes } from '../records/record-routes';

const nodeRule = 'baremetal:node:get';

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

/** Counts only nodes that the reader may see. */
const budgetView = async (ctx: ApiContext, who: Caller, row: DisruptionBudget, link: string) => {
  const seen = ctx.policy().filter(nodeRule, who, nodeColumns);
  const { nodes, unavailable } = await ctx.inventory.disruptionBudgets.disruption(row, seen);
  return {
    ...row,
    nodes,
    unavailable,
    may_be_taken: Math.max(0, mayBeMissing(row, nodes) - unavailable),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at?.toISOString() ?? null,
    links: { self: `${link}/temper/v1/disruption-budgets/${row.uuid}` },
  };
};

const limitOf = (given: { max_unavailable?: Amount; min_available?: Amount }): DisruptionLimit | undefined =>
  given.max_unavailable === undefined && given.min_available === undefined
    ? undefined
    : { max_unavailable: given.max_unavailable ?? null, min_available: given.min_available ?? null };

export const disruptionBudgetRoutes = recordRoutes({
  resource: 'disruption_budget',
  param: 'budget',
  ident: uuid,
  ofProject: { target: disruptionTarget, count: ({ disruptionBudgets }, project) => disruptionBudgets.count(project) },
  shape: shapes.disruptionBudget,
  viewer:
    async (ctx, { who, base }) =>
    (row: DisruptionBudget) =>
      budgetView(ctx, who, row, base),
  viewRules: [nodeRule],
  store: ({ disruptionBudgets }) => disruptionBudgets,
  missing: (budget) => raise('DisruptionBudgetNotFound', { budget }),
  body: budgetBody,
  create:
    async (_ctx, { query: nodes, description, ...limits }, project) =>
    ({ disruptionBudgets }) =>
      disruptionBudgets.create({ project: project!, query: nodes, description, ...limitOf(limits)! }),
  changes: {
    body: changeBody,
    async write(_ctx, { uuid }, { query: nodes, description, ...limits }) {
      const given: { query?: DisruptionQuery; description?: string | null } = {
        ...(nodes && { query: nodes }),
        ...(description !== undefined && { description }),
      };
      return ({ disruptionBudgets }) => disruptionBudgets.update(uuid, { ...given, ...limitOf(limits) });
    },
  },
  values: ({ project, query: nodes, max_unavailable, min_available }) => ({
    project,
    query: nodes,
    max_unavailable,
    min_available,
  }),
});
