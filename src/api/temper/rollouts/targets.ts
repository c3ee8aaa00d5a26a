/** Acts on single rollout targets: tenants answer for their nodes, and operators skip or retry a target. */

import { z } from 'zod';
import { seesBmcRule } from '../../../admission/bmc-texts';
import { requesterOf } from '../../../admission/requester';
import { visibleNode } from '../../../admission/visibility';
import type { GivenAnswer } from '../../../inventory/rollouts/consents';
import type { RolloutRow } from '../../../inventory/rollouts/rollouts';
import type { TargetRow } from '../../../inventory/rollouts/targets';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { matches } from '../../../model/predicates';
import type { EventKind } from '../../../model/resources/event-kinds';
import { maxMinor } from '../../../model/resources/microversions';
import { tenantOf } from '../../../model/rollouts/consent';
import { openingFor } from '../../../model/rollouts/windows';
import { plannedTargetOf } from '../../../rollouts/approvals';
import * as shapes from '../../../wire/rollouts';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { uuid } from '../../resource/validation';
import { type Answer, type ApiRequest, ok, type Route, route } from '../../server/route';
import { rolloutRules, type SeenRollout, targetView, targetWords, visibleRollout } from './views';

const reason = z.string().trim().min(1, { error: 'say why' }).max(1_000);
const consentBody = z
  .union([
    z.strictObject({ now: z.literal(true), reason: reason.optional() }),
    z.strictObject({
      at: z.iso
        .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-30T18:00:00Z' })
        .transform((text) => new Date(text)),
      reason: reason.optional(),
    }),
    z.strictObject({ in: uuid, reason: reason.optional() }),
  ])
  .meta({ description: 'now, at a time, or in a window of the project' });
const reasonBody = z.strictObject({ reason });
type OfTarget = { rollout: string; node: string };

type FoundTarget = Pick<SeenRollout, 'whole' | 'rows'> & { readonly rollout: RolloutRow; readonly target: TargetRow };

/** Throws RolloutNotFound, NodeNotFound, also for hidden ones. */
export const visibleTarget = async (ctx: ApiContext, who: Caller, params: OfTarget): Promise<FoundTarget> => {
  const { row: rollout, rows, whole } = await visibleRollout(ctx, who, params.rollout);
  const node = await visibleNode(ctx, { who, version: maxMinor }, params.node);
  const target = await ctx.inventory.rolloutTargets.find(rollout.id, node.uuid);
  const lessee = target?.lease_id === node.lease_id ? node.lessee : null;
  return target && matches(rows.own, { ...target, lessee })
    ? { rollout, target, rows, whole }
    : raise('NodeNotFound', { node: params.node });
};

/** Throws the errors of `visibleTarget`, PolicyDenied. */
const admittedTo = async (
  { who, params }: ApiRequest<OfTarget, unknown, unknown>,
  ctx: ApiContext,
  rule: string,
): Promise<FoundTarget> => {
  const found = await visibleTarget(ctx, who, params);
  ctx.policy().require(rule, who, await plannedTargetOf(ctx, found.rollout, tenantOf(found.target)));
  return found;
};

type TargetRequest = {
  readonly rule: string;
  readonly act: string;
  readonly kind: EventKind;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Writes the change with audit row and event. Throws Conflict if `change` returns false. */
const recorded = async (
  request: ApiRequest<OfTarget, unknown, unknown>,
  ctx: ApiContext,
  { rollout, target, rows, whole }: FoundTarget,
  { rule, act, kind, data }: TargetRequest,
  change: (store: Parameters<Parameters<ApiContext['inventory']['transaction']>[0]>[0]) => Promise<boolean>,
) => {
  await ctx.inventory.transaction(async (store) => {
    if (!(await change(store)))
      raise('Conflict', { reason: `Node ${request.params.node} is ${target.state} in this rollout.` });
    await auditAndEvent(store, ctx.policy(), request, {
      action: `rollout.${act}`,
      kind,
      rule,
      resource: 'rollout',
      resource_id: rollout.id,
      node: { uuid: target.node_uuid, owner: target.owner, lessee: target.lessee },
      data,
    });
  });
  const { node_uuid: node } = target;
  const [changed] = await ctx.inventory.rolloutTargets.list(rollout.id, { ...rows, node, limit: 1 });
  const words = await targetWords(ctx, rollout, [changed!]);
  return ok(targetView(ctx.policy(), request.who, changed!, whole, words));
};

const answerRule = 'temper:rollout:answer';

/** Throws InvalidInput, WindowNotFound. */
const targetAnswer = async (
  ctx: ApiContext,
  target: TargetRow,
  body: z.output<typeof consentBody>,
): Promise<Omit<GivenAnswer, 'requester' | 'reason'>> => {
  if ('now' in body) return { answer: 'now' };
  const now = await ctx.inventory.clock();
  if ('at' in body) {
    if (body.at.getTime() <= now) raise('InvalidInput', { field: 'at', reason: 'is over already; say now' });
    return { answer: 'at', at: body.at };
  }
  const window = await ctx.inventory.projectWindows.find(body.in);
  if (!window || window.project !== tenantOf(target)) return raise('WindowNotFound', { window: body.in });
  if (!openingFor(window, now, target.p95_ms ?? 0))
    raise('InvalidInput', { field: 'in', reason: 'is too short for what is to be done' });
  return { answer: 'in', window };
};

const answering = async (
  request: ApiRequest<OfTarget, unknown, unknown>,
  ctx: ApiContext,
  found: FoundTarget,
  given: Omit<GivenAnswer, 'requester'>,
) =>
  recorded(
    request,
    ctx,
    found,
    {
      rule: answerRule,
      act: 'answer',
      kind: 'rollout.answered',
      data: { answer: given.answer, at: given.at ?? null, window: given.window?.name ?? null, reason: given.reason },
    },
    (store) =>
      store.rolloutConsents.answer(found.rollout.id, found.target.position, {
        ...given,
        requester: requesterOf(request),
      }),
  );

const consent = async (request: ApiRequest<OfTarget, unknown, z.output<typeof consentBody>>, ctx: ApiContext) => {
  const found = await admittedTo(request, ctx, answerRule);
  const answer = await targetAnswer(ctx, found.target, request.body);
  return answering(request, ctx, found, { ...answer, reason: request.body.reason ?? null });
};

const refuseTarget = async (request: ApiRequest<OfTarget, unknown, z.output<typeof reasonBody>>, ctx: ApiContext) => {
  const found = await admittedTo(request, ctx, answerRule);
  return answering(request, ctx, found, { answer: 'refuse', reason: request.body.reason });
};

const acting =
  (act: 'skip' | 'retry') =>
  async (request: ApiRequest<OfTarget, unknown, z.output<typeof reasonBody>>, ctx: ApiContext) => {
    const rule = `temper:rollout:${act}`;
    const found = await admittedTo(request, ctx, rule);
    const { rollout, target } = found;
    return recorded(request, ctx, found, { rule, act, kind: `rollout.${act}`, data: request.body }, async (store) => {
      if (!['running', 'paused'].includes(rollout.state)) return false;
      if (act === 'retry') return store.rolloutConsents.retry(rollout.id, target.position);
      const why = { code: 'operator', rule, reason: request.body.reason };
      const skipped = await store.rolloutTargets.skip(rollout.id, target.position, why);
      if (skipped) await store.rolloutWakes.want(rollout.id);
      return skipped;
    });
  };

const targetPath = '/temper/v1/rollouts/:rollout/targets/:node';
const seen = [rolloutRules.get, rolloutRules.own, rolloutRules.node, seesBmcRule];

const actRoute = <Body>(
  act: string,
  rule: string,
  body: z.ZodType<Body>,
  handler: (request: ApiRequest<OfTarget, unknown, Body>, ctx: ApiContext) => Promise<Answer<shapes.RolloutTarget>>,
): Route =>
  route({
    method: 'POST',
    path: `${targetPath}/${act}`,
    answers: { 200: shapes.rolloutTarget },
    rules: [...seen, rule],
    body,
    handler,
  });

export const rolloutTargetRoutes: Route[] = [
  actRoute('consent', answerRule, consentBody, consent),
  actRoute('refuse', answerRule, reasonBody, refuseTarget),
  actRoute('skip', 'temper:rollout:skip', reasonBody, acting('skip')),
  actRoute('retry', 'temper:rollout:retry', reasonBody, acting('retry')),
];
