/** Routes of rollouts: plan, replan, show, list, and list targets. */

import { z } from 'zod';
import { seesBmcRule } from '../../../admission/bmc-texts';
import { requesterOf } from '../../../admission/requester';
import { visibleNode } from '../../../admission/visibility';
import type { RolloutRow } from '../../../inventory/rollouts/rollouts';
import { raise } from '../../../model/errors';
import type { NodeUuid } from '../../../model/ids';
import { never } from '../../../model/predicates';
import { maxMinor } from '../../../model/resources/microversions';
import { rolloutStates, targetStates } from '../../../model/rollouts/states';
import { replacePlan } from '../../../rollouts/plan';
import type { Person } from '../../../wire/parts';
import * as shapes from '../../../wire/rollouts';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { csv, wantsCsv } from '../../resource/csv';
import { markedRecord, readPage, unless, uuidPage } from '../../resource/own-pages';
import { pageLimit } from '../../resource/validation';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { type RolloutBody, rolloutBody, specOf } from './body';
import { createRollout, planningRules, planRollout, planRule } from './planning';
import {
  headView,
  ownRows,
  partView,
  rolloutColumns,
  rolloutRules,
  targetOf,
  targetView,
  targetWords,
  visibleRollout,
  wholeRollout,
  wholeView,
} from './views';

export const rolloutsPath = '/temper/v1/rollouts';
export const rolloutPath = `${rolloutsPath}/:rollout`;
const targetsPath = `${rolloutPath}/targets`;

export type OfRollout = { rollout: string };
type Request<Params, Body> = ApiRequest<Params, unknown, Body>;

const create = async (request: Request<unknown, RolloutBody>, ctx: ApiContext) => {
  const { who, body } = request;
  const spec = specOf(body, who);
  ctx.policy().require(planRule, who, targetOf({ project: spec.project, requester: requesterOf(request) }));
  return createRollout(ctx, request, spec, { rule: planRule });
};

const replan = async (request: Request<OfRollout, { readonly reason: string }>, ctx: ApiContext) => {
  const { who, params, body } = request;
  const row = await wholeRollout(ctx, who, params.rollout);
  const policy = ctx.policy();
  policy.require(planRule, who, targetOf(row));
  const plan = await planRollout(ctx, request, row.spec, row.plan_number + 1);
  await ctx.inventory.transaction(async (store) => {
    const by = { requester: requesterOf(request), approvers: ctx.settings.rolloutApprovers };
    if (!(await replacePlan(store, row, plan, by)))
      raise('Conflict', { reason: `Rollout ${row.id} has begun, or was planned again meanwhile; look at it.` });
    await auditAndEvent(store, policy, request, {
      action: 'rollout.replan',
      kind: 'rollout.replanned',
      rule: planRule,
      resource: 'rollout',
      resource_id: row.id,
      project: row.project,
      data: { before: row.plan_hash, plan_hash: plan.planned.plan_hash, reason: body.reason },
    });
  });
  return ok(await wholeView(ctx, (await ctx.inventory.rollouts.find(row.id))!, request.base));
};

const showRollout = async ({ who, params, base }: Request<OfRollout, unknown>, ctx: ApiContext) => {
  const { row, whole } = await visibleRollout(ctx, who, params.rollout);
  return ok(whole ? await wholeView(ctx, row, base) : partView(row, base));
};

const listQuery = z.strictObject({
  ...uuidPage,
  state: z.enum(rolloutStates).optional(),
  project: z.string().min(1).optional(),
});
type ListQuery = z.output<typeof listQuery>;

const listRollouts = async (request: ApiRequest<unknown, ListQuery, unknown>, ctx: ApiContext) => {
  const { who, query, base } = request;
  const policy = ctx.policy();
  const after = await markedRecord(
    query.marker,
    unless('RolloutNotFound', (ident) => visibleRollout(ctx, who, ident)),
  );
  const rows = ownRows(policy, who);
  const wanted = {
    visible: policy.filter(rolloutRules.get, who, rolloutColumns),
    // Tenants do not see a rollout's project, so they may not filter by it.
    nodes: query.project === undefined ? rows.visible : never,
    own: rows.own,
    state: query.state,
    project: query.project,
    after: after?.row.id,
  };
  const found = await readPage(
    request,
    rolloutsPath,
    (limit) => ctx.inventory.rollouts.list({ ...wanted, limit }),
    ({ id }) => id,
  );
  const view = (row: RolloutRow) =>
    policy.allows(rolloutRules.get, who, targetOf(row)) ? headView(row, base) : partView(row, base);
  return ok({ rollouts: found.rows.map(view), ...found.next });
};

/** Of PostgreSQL's type integer. */
const mostPosition = 2_147_483_647;

const targetsQuery = z.strictObject({
  limit: pageLimit,
  /** The position that the page follows. */
  marker: z.coerce.number().int().min(0).max(mostPosition).optional(),
  state: z.enum(targetStates).optional(),
  wave: z.coerce.number().int().min(1).max(mostPosition).optional(),
  reason: z.string().min(1).max(64).optional(),
  node: z.string().min(1).max(255).optional(),
});
type TargetsQuery = z.output<typeof targetsQuery>;

const sheetColumns = [
  'position', 'node_uuid', 'node_name', 'wave', 'state', 'code', 'reason', 'run', 'admitted_at', 'ended_at', 'seconds', 'power_cycles', 'erases',
  'requested_by', 'requested_for', 'answer', 'answered_by', 'answered_at', 'answer_reason',
] as const; // biome-ignore format: one row of names

const nameOf = ({ user_name, user_id }: Person): string | null => user_name ?? user_id;

const secondsBetween = (begun: string | null, ended: string | null): number | null =>
  begun && ended ? Math.round((Date.parse(ended) - Date.parse(begun)) / 1_000) : null;

/** A target as one row of a sheet. */
const sheetRow = ({ request, answer, ...view }: ReturnType<typeof targetView>) => ({
  ...view,
  seconds: secondsBetween(view.admitted_at, view.ended_at),
  requested_by: nameOf(request.by),
  requested_for: request.reason,
  answer: answer?.answer ?? null,
  answered_by: answer && nameOf(answer.by),
  answered_at: answer?.given_at ?? null,
  answer_reason: answer?.reason ?? null,
});

const targets = async (request: ApiRequest<OfRollout, TargetsQuery, unknown>, ctx: ApiContext) => {
  const { who, params, query } = request;
  const { row, rows, whole } = await visibleRollout(ctx, who, params.rollout);
  // Tenants do not see waves, so they may not filter by them.
  if (!whole && query.wave !== undefined)
    return wantsCsv(request) ? csv<ReturnType<typeof sheetRow>>(sheetColumns, []) : ok({ targets: [] });
  const node = query.node === undefined ? undefined : await visibleNode(ctx, { who, version: maxMinor }, query.node);
  const wanted = {
    ...rows,
    ...(node && { node: node.uuid as NodeUuid }),
    state: query.state,
    ...(query.wave !== undefined && { wave: query.wave - 1 }),
    code: query.reason,
    after: query.marker,
  };
  const { rows: found, next } = await readPage(
    request,
    targetsPath,
    (limit) => ctx.inventory.rolloutTargets.list(row.id, { ...wanted, limit }),
    ({ position }) => position,
  );
  // Domains are part of the plan, which tenants do not see.
  const [domains, words] = await Promise.all([
    whole ? ctx.inventory.rolloutTargets.domains(row.id, found) : undefined,
    targetWords(ctx, row, found),
  ]);
  const views = found.map((target) => targetView(ctx.policy(), who, target, whole, words));
  if (wantsCsv(request)) return csv(sheetColumns, views.map(sheetRow), next.next);
  return ok({
    targets: views.map((view) => ({ ...view, ...(domains && { domains: domains.get(view.position) ?? {} }) })),
    ...next,
  });
};

const seeing = [rolloutRules.get, rolloutRules.own, rolloutRules.node, seesBmcRule];

export const rolloutRoutes: Route[] = [
  route({
    method: 'POST',
    path: rolloutsPath,
    answers: { 201: shapes.rollout },
    rules: planningRules,
    body: rolloutBody,
    handler: create,
  }),
  route({
    method: 'GET',
    path: rolloutsPath,
    answers: { 200: shapes.rolloutList },
    rules: seeing,
    query: listQuery,
    handler: listRollouts,
  }),
  route({
    method: 'GET',
    path: rolloutPath,
    answers: { 200: shapes.rollout },
    rules: seeing,
    handler: showRollout,
  }),
  route({
    method: 'GET',
    path: targetsPath,
    answers: { 200: shapes.rolloutTargets },
    csv: true,
    rules: seeing,
    query: targetsQuery,
    handler: targets,
  }),
  route({
    method: 'POST',
    path: `${rolloutPath}/replan`,
    answers: { 200: shapes.rollout },
    rules: planningRules,
    body: z.strictObject({ reason: z.string().trim().min(1).max(1_000) }),
    handler: replan,
  }),
];
