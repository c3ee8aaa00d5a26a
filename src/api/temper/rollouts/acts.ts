/** Rollout acts: submit, start, pause, resume, advance, abort, adopt and rollback. */

import { z } from 'zod';
import { quotasOf } from '../../../admission/context';
import type { Queries } from '../../../inventory';
import type { RolloutChange, RolloutRow } from '../../../inventory/rollouts/rollouts';
import { raise } from '../../../model/errors';
import { always } from '../../../model/predicates';
import type { EventKind } from '../../../model/resources/event-kinds';
import { type RolloutState, rolloutActs } from '../../../model/rollouts/states';
import { requireApproved, startAloneRule, wantedOf } from '../../../rollouts/approvals';
import * as shapes from '../../../wire/rollouts';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { type Answer, type ApiRequest, ok, type Route, route } from '../../server/route';
import { hasNextWave, openNext } from './advance';
import { type RollbackBody, rollbackBody, specOf } from './body';
import { createRollout, planningRules, quotaOwner } from './planning';
import { type OfRollout, rolloutPath, rolloutsPath } from './rollouts';
import { rolloutRules, targetOf, wholeRollout, wholeView } from './views';

const actBody = z.strictObject({
  reason: z.string().trim().min(1, { error: 'say why; it stands in the audit trail' }).max(1_000),
  /** 409 if the plan's hash differs. */
  plan_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** Counted from 1; 409 if the wave differs. */
  expected_wave: z.int().min(1).optional(),
});
const hashedBody = actBody.required({ plan_hash: true });
const startBody = hashedBody.extend({
  /** Absent: at once. */
  start_at: z.iso
    .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-30T18:00:00Z' })
    .transform((text) => new Date(text))
    .optional(),
});
const abortBody = actBody.extend({ running: z.enum(['finish', 'abort']).default('finish') });
type ActBody = z.output<typeof actBody> & { readonly running?: 'finish' | 'abort'; readonly start_at?: Date };
type ActRequest = ApiRequest<OfRollout, unknown, ActBody>;

type Act = Exclude<keyof typeof rolloutActs, 'replan' | 'rollback'>;

/** Throws Conflict. */
type ActRow = {
  readonly to: (row: RolloutRow, request: ActRequest) => RolloutState;
  readonly change: (row: RolloutRow, request: ActRequest) => RolloutChange;
  /** Runs in the act's transaction. @returns more data for the audit row */
  readonly more?: (store: Queries, row: RolloutRow, request: ActRequest) => Promise<object | undefined>;
  readonly done: EventKind;
};

/** A rollout runs with the rights in its grant. Only an act of the same user renews the grant. */
const refreshGrant = ({ granted }: RolloutRow, { who }: ActRequest): RolloutChange =>
  granted && granted.user_id === who.user_id && granted.strategy === who.strategy ? { granted: who } : {};

const clear = { code: null, reason: null } as const;

const refuseGate = ({ id, code }: RolloutRow): void => {
  if (code === 'wave_gate') raise('Conflict', { reason: `Rollout ${id} waits at the end of a wave; advance it.` });
};

const acts: Readonly<Record<Act, ActRow>> = {
  submit: { to: () => 'awaiting_approval', change: () => ({ submitted_at: new Date() }), done: 'rollout.submitted' },
  start: {
    to: (_, { body }) => (body.start_at ? 'scheduled' : 'running'),
    change: (_, { who, body: { start_at } }) =>
      start_at
        ? { ...clear, granted: who, start_at }
        : { ...clear, granted: who, start_at: null, started_at: new Date() },
    more: async (store, { id }, { body }) => {
      if (!body.start_at) await store.rollouts.openWave(id, 0);
      return undefined;
    },
    done: 'rollout.started',
  },
  pause: {
    to: () => 'paused',
    change: (_, { body }) => ({ code: 'operator', reason: body.reason }),
    done: 'rollout.paused',
  },
  resume: {
    to: () => 'running',
    change: (row, request) => {
      refuseGate(row);
      return { ...clear, refused_in_row: 0, ...refreshGrant(row, request) };
    },
    done: 'rollout.resumed',
  },
  advance: {
    to: () => 'running',
    change: (row, request) => ({
      ...clear,
      ...(hasNextWave(row) && { wave: row.wave + 1 }),
      ...refreshGrant(row, request),
    }),
    more: (store, row, { who, body: { reason } }) => openNext(store, row, { who, reason }),
    done: 'rollout.advanced',
  },
  abort: {
    to: () => 'aborted',
    change: (_, { body }) => ({
      code: null,
      reason: body.reason,
      ending: body.running ?? 'finish',
      finished_at: new Date(),
    }),
    done: 'rollout.aborted',
  },
  adopt: { to: ({ state }) => state, change: (_, { who }) => ({ granted: who }), done: 'rollout.adopted' },
};

const requireSeen = ({ id, plan_hash, wave }: RolloutRow, { body }: ActRequest): void => {
  if (body.plan_hash !== undefined && body.plan_hash !== plan_hash)
    raise('Conflict', { reason: `Rollout ${id} was planned again; look at the plan and ask again.` });
  if (body.expected_wave !== undefined && body.expected_wave !== wave + 1)
    raise('Conflict', { reason: `Rollout ${id} is in wave ${wave + 1}, not in wave ${body.expected_wave}.` });
};

const requireState = (act: Act, { id, state }: RolloutRow): void => {
  const from: readonly RolloutState[] = rolloutActs[act];
  if (!from.includes(state))
    raise('Conflict', { reason: `Rollout ${id} is ${state}; ${act} is possible while it is ${from.join(', ')}.` });
};

/** Throws InvalidInput for a past time, RolloutNotApproved if votes are missing or expire before the start. */
const requireStartable = async (ctx: ApiContext, { who, body: { start_at } }: ActRequest, row: RolloutRow) => {
  if (start_at && start_at.getTime() <= (await ctx.inventory.clock()))
    raise('InvalidInput', { field: 'start_at', reason: 'is over already; leave it out to start now' });
  await requireApproved(ctx, who, row, { wanted: wantedOf(row, ctx.settings), at: start_at });
  if (row.state !== 'scheduled')
    await ctx.inventory.quotas.require('rollouts', quotaOwner(who, row), quotasOf(ctx).rollouts);
};

/** Writes an audit row and event. Throws Conflict if the rollout has changed since it was read. */
const perform = async (ctx: ApiContext, request: ActRequest, act: Act): Promise<RolloutRow> => {
  const row = await wholeRollout(ctx, request.who, request.params.rollout);
  const policy = ctx.policy();
  const rule = `temper:rollout:${act}`;
  const { reason, start_at } = request.body;
  policy.require(rule, request.who, targetOf(row));
  requireState(act, row);
  requireSeen(row, request);
  if (act === 'start') await requireStartable(ctx, request, row);
  const { change, more, done } = acts[act];
  const to = acts[act].to(row, request);
  const changes = {
    ...change(row, request),
    // A later start counts by this number, whatever settings its process has.
    ...(act === 'start' && { approvers: wantedOf(row, ctx.settings) }),
  };
  return ctx.inventory.transaction(async (store) => {
    const facts = await more?.(store, row, request);
    if (!(await store.rollouts.move(row, [row.state], to, changes)))
      raise('Conflict', { reason: `Rollout ${row.id} has changed meanwhile; look at it and ask again.` });
    await auditAndEvent(store, policy, request, {
      action: `rollout.${act}`,
      kind: to === 'scheduled' ? 'rollout.scheduled' : done,
      rule,
      resource: 'rollout',
      resource_id: row.id,
      project: row.project,
      data: {
        plan_hash: row.plan_hash,
        wave: row.wave + 1,
        from: row.state,
        to,
        ...(start_at && { start_at }),
        ...facts,
        reason,
      },
    });
    return (await store.rollouts.find(row.id))!;
  });
};

const handlerOf = (act: Act) => async (request: ActRequest, ctx: ApiContext) =>
  ok(await wholeView(ctx, await perform(ctx, request, act), request.base));

const abortConsequences = {
  finish: 'goes on to its end',
  abort: 'gets a request to end; a step that must not be cut short is done first',
} as const;

/** Lists the runs that still run: an abort never interrupts a command. */
const abort = async (request: ActRequest, ctx: ApiContext) => {
  const row = await perform(ctx, request, 'abort');
  const visible = { visible: always, limit: 1_000 };
  const running = await Promise.all(
    (['admitted', 'parked', 'soaking'] as const).map((state) =>
      ctx.inventory.rolloutTargets.list(row.id, { ...visible, state }),
    ),
  );
  const will = abortConsequences[row.ending ?? 'finish'];
  return ok({
    rollout: await wholeView(ctx, row, request.base),
    running: running.flat().map(({ node_uuid, node_name, run_id }) => ({ node_uuid, node_name, run: run_id, will })),
  });
};

const rollbackRule = 'temper:rollout:rollback';

/** Plans another rollout on the nodes of this one. The plan alone reverts nothing. */
const rollback = async (request: ApiRequest<OfRollout, unknown, RollbackBody>, ctx: ApiContext) => {
  const row = await wholeRollout(ctx, request.who, request.params.rollout);
  ctx.policy().require(rollbackRule, request.who, targetOf(row));
  const { targets: state, reason: _, ...body } = request.body;
  const rows = await ctx.inventory.rolloutTargets.list(row.id, { visible: always, state, limit: 100_000 });
  if (rows.length === 0) raise('NothingToDo', { selected: 0, reasons: '' });
  const select = { nodes: rows.map(({ node_uuid }) => node_uuid) };
  const spec = specOf({ ...body, select, project: row.project ?? undefined }, request.who);
  return createRollout(ctx, request, { ...spec, project: row.project }, { rule: rollbackRule, reverts: row });
};

const seeing = [rolloutRules.get, rolloutRules.own, rolloutRules.node];

const actRoute = <View>(
  act: Act,
  answer: z.ZodType<View>,
  handler: (request: ActRequest, ctx: ApiContext) => Promise<Answer<NoInfer<View>>>,
  body: z.ZodType<ActBody> = actBody,
): Route =>
  route({
    method: 'POST',
    path: `${rolloutPath}/${act}`,
    answers: { 200: answer },
    rules: [...seeing, `temper:rollout:${act}`, ...(act === 'start' ? [startAloneRule, 'temper:rollout:approve'] : [])],
    body,
    handler,
  });

const moveRoute = (act: Act, body?: z.ZodType<ActBody>): Route => actRoute(act, shapes.rollout, handlerOf(act), body);

export const rolloutActRoutes: Route[] = [
  moveRoute('submit', hashedBody),
  moveRoute('start', startBody),
  moveRoute('pause'),
  moveRoute('resume'),
  moveRoute('advance'),
  actRoute('abort', shapes.rolloutAborted, abort, abortBody),
  moveRoute('adopt'),
  route({
    method: 'POST',
    path: `${rolloutPath}/rollback`,
    madeIn: rolloutsPath,
    answers: { 201: shapes.rollout },
    rules: [rollbackRule, ...planningRules],
    body: rollbackBody,
    handler: rollback,
  }),
];
