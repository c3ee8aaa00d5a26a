/** Views of rollouts. A tenant sees the state and its own nodes. */

import { bmcTextFor } from '../../../admission/bmc-texts';
import { eventRules } from '../../../admission/events';
import type { Queries } from '../../../inventory';
import type { AnswerGiven, Opening } from '../../../inventory/rollouts/openings';
import type { RolloutRow } from '../../../inventory/rollouts/rollouts';
import type { TargetRow } from '../../../inventory/rollouts/targets';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { asUuid, type NodeUuid, type RolloutUuid } from '../../../model/ids';
import { always, and, type Predicate } from '../../../model/predicates';
import { type Policy, rolloutTarget } from '../../../policy';
import { pinnedRunbook } from '../../../rollouts/admit';
import type { Person } from '../../../wire/parts';
import type { ApiContext } from '../../context';
import { isoTime } from '../../resource/times';
import { nodeColumns } from '../../resource/visibility';

export const rolloutRules = { get: eventRules.rollout, own: eventRules.target, node: eventRules.node } as const;
export const rolloutColumns = { 'rollout.project': 'project' } as const;

export const targetOf = ({ project, requester }: Pick<RolloutRow, 'project' | 'requester'>) =>
  rolloutTarget({ project, requester: requester.user_id });

/** Targets for a caller who may not see the whole rollout. */
export type OwnRows = {
  /** Over the present columns of nodes. */
  readonly visible: Predicate;
  /** Over owner and lessee in the plan: the next lessee does not see work for the previous one. */
  readonly own: Predicate;
};

export const ownRows = (policy: Policy, who: Caller): OwnRows => {
  const own = policy.filter(rolloutRules.own, who, nodeColumns);
  return { visible: and(own, policy.filter(rolloutRules.node, who, nodeColumns)), own };
};

export type SeenRollout = { readonly row: RolloutRow; readonly whole: boolean; readonly rows: OwnRows };

/** Whole, or with the caller's own nodes. Throws RolloutNotFound, also for hidden rollouts. */
export const visibleRollout = async (ctx: ApiContext, who: Caller, ident: string): Promise<SeenRollout> => {
  const id = asUuid(ident) as RolloutUuid | undefined;
  const row = id && (await ctx.inventory.rollouts.find(id));
  if (!row) return raise('RolloutNotFound', { rollout: ident });
  const policy = ctx.policy();
  if (policy.allows(rolloutRules.get, who, targetOf(row)))
    return { row, whole: true, rows: { visible: always, own: always } };
  const rows = ownRows(policy, who);
  const seen =
    rows.visible.is === 'false' ? [] : await ctx.inventory.rolloutTargets.list(row.id, { ...rows, limit: 1 });
  return seen.length > 0 ? { row, whole: false, rows } : raise('RolloutNotFound', { rollout: ident });
};

/** Throws RolloutNotFound, or PolicyDenied if the caller sees only its own nodes. */
export const wholeRollout = async (ctx: ApiContext, who: Caller, ident: string): Promise<RolloutRow> => {
  const { row, whole } = await visibleRollout(ctx, who, ident);
  return whole ? row : raise('PolicyDenied', { rule: rolloutRules.get });
};

/** The fields that tenants see too. */
export const partView = (row: RolloutRow, base: string) => ({
  uuid: row.id,
  state: row.state,
  verb: row.verb,
  runbook: pinnedRunbook(row),
  created_at: isoTime(row.created_at),
  started_at: isoTime(row.started_at),
  finished_at: isoTime(row.finished_at),
  links: { self: `${base}/temper/v1/rollouts/${row.id}` },
});

const grantView = ({ granted, granted_at }: RolloutRow) =>
  granted && {
    user_id: granted.user_id,
    user_name: granted.user_name,
    project_id: granted.project_id,
    system_scope: granted.system_scope,
    roles: granted.roles,
    at: isoTime(granted_at),
  };

export const headView = (row: RolloutRow, base: string) => ({
  ...partView(row, base),
  name: row.name,
  project: row.project,
  code: row.code,
  reason: row.reason,
  wave: row.wave + 1,
  waves_total: row.summary.waves.length,
  plan_hash: row.plan_hash,
  plan_number: row.plan_number,
  requester: row.requester,
  approvers: row.approvers,
  grant: grantView(row),
  reverts: row.reverts,
  ending: row.ending,
  submitted_at: isoTime(row.submitted_at),
  start_at: isoTime(row.start_at),
  updated_at: isoTime(row.updated_at),
});

type RolloutCounts = Awaited<ReturnType<Queries['rollouts']['counts']>>;

const statesOf = (counts: RolloutCounts): Record<string, number> => {
  const states: Record<string, number> = {};
  for (const { state, targets } of counts) states[state] = (states[state] ?? 0) + targets;
  return states;
};

const personView = ({ user_id, user_name }: Person): Person => ({ user_id, user_name });

const openedBy = (opening: Opening | null | undefined) => ({
  opened_by: opening ? personView(opening.by) : null,
  opened_reason: opening?.reason ?? null,
});

export const wholeView = async (ctx: Pick<ApiContext, 'inventory'>, row: RolloutRow, base: string) => {
  const { rollouts } = ctx.inventory;
  const [waves, counters, counts, openings] = await Promise.all([
    rollouts.waves(row.id),
    rollouts.counters(row.id),
    rollouts.counts(row.id),
    ctx.inventory.rolloutOpenings.list(row.id),
  ]);
  return {
    ...headView(row, base),
    spec: row.spec,
    summary: row.summary,
    seed: row.seed,
    guard: row.guard,
    waves: waves.map(({ opened_at, closed_at, wave, ...rest }) => ({
      ...rest,
      wave: wave + 1,
      opened_at: isoTime(opened_at),
      closed_at: isoTime(closed_at),
      ...openedBy(opened_at && openings.findLast((one) => one.wave === wave + 1)),
      states: statesOf(counts.filter((row) => row.wave === wave)),
    })),
    counters: counters.map(({ number: _, ...counter }) =>
      counter.scope === 'wave' ? { ...counter, value: String(Number(counter.value) + 1) } : counter,
    ),
    states: statesOf(counts),
  };
};

const answerView = ({ answer, at, window, by, reason, given_at }: AnswerGiven) => ({
  answer,
  at: isoTime(at),
  window,
  by: personView(by),
  reason,
  given_at: isoTime(given_at),
});

/** The request to tenants, and their answers. */
type TargetWords = {
  readonly request: { readonly by: Person; readonly reason: string | null };
  readonly answers: ReadonlyMap<NodeUuid, AnswerGiven>;
};

export const targetWords = async (
  { inventory }: Pick<ApiContext, 'inventory'>,
  { id, granted, requester }: RolloutRow,
  targets: readonly Pick<TargetRow, 'node_uuid'>[],
): Promise<TargetWords> => {
  const nodes = targets.map(({ node_uuid }) => node_uuid);
  const [openings, answers] = await Promise.all([
    inventory.rolloutOpenings.list(id),
    inventory.rolloutOpenings.answers(id, nodes),
  ]);
  // A plan that was made again has no start yet; the start of the plan before is not its reason.
  const reason = (granted && openings.findLast(({ wave }) => wave === 1)?.reason) ?? null;
  return {
    request: { by: personView(granted ?? requester), reason },
    answers: new Map(answers.map((one) => [one.node_uuid, one])),
  };
};

const retryOf = ({ state, ended_at, retry_asked_at }: TargetRow): Date | null =>
  state === 'failed' && retry_asked_at && ended_at && retry_asked_at > ended_at ? retry_asked_at : null;

/**
 * The reason is masked because it may name the BMC.
 * @param whole false hides the wave, which reveals nodes in earlier waves
 */
export const targetView = (policy: Policy, who: Caller, row: TargetRow, whole: boolean, words: TargetWords) => ({
  position: row.position,
  node_uuid: row.node_uuid,
  node_name: row.node_name,
  wave: row.wave === null || !whole ? null : row.wave + 1,
  state: row.state,
  code: row.code,
  rule: row.rule,
  reason: bmcTextFor(policy, who, row)(row.reason),
  power_cycles: row.power_cycles,
  erases: row.erases,
  expected_ms: row.expected_ms,
  p95_ms: row.p95_ms,
  not_before: isoTime(row.not_before),
  run: row.run_id,
  admitted_at: isoTime(row.admitted_at),
  soak_until: isoTime(row.soak_until),
  ended_at: isoTime(row.ended_at),
  retry_requested_at: isoTime(retryOf(row)),
  request: words.request,
  answer: words.answers.has(row.node_uuid) ? answerView(words.answers.get(row.node_uuid)!) : null,
});
