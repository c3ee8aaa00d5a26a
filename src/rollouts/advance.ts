/** One pass over a rollout. All decisions use PostgreSQL, so concurrent passes are safe. */

import type { RolloutRow } from '../inventory/rollouts/rollouts';
import { isTemperError } from '../model/errors';
import type { RolloutUuid } from '../model/ids';
import { boundOf, rampedTo } from '../model/rollouts/amounts';
import { guardMs } from '../model/rollouts/gates';
import { endedRollouts } from '../model/rollouts/states';
import { nextOverdue, passOverdue } from './admit';
import { requireApproved, wantedOf } from './approvals';
import { beginDue, type Follows } from './begin-due';
import type { RolloutDeps } from './contract';
import { endWave, gateOpens, moveByItself, pause, sayWhy } from './moving';
import { standstill, windowClosed } from './standstill';
import { sizeOf, targetsIn, totalOf, underWay, unended, type View, viewOf } from './view';

// Polls for conditions without an event: a freeze, a missing worker, a tenant's budget, an identity service that is away.
const againMs = 10_000;

/** Ends a due rollout without the necessary votes. */
const expire = async ({ inventory }: RolloutDeps, rollout: RolloutRow): Promise<void> => {
  const reason = 'Its approvals did not count any more when it was to begin.';
  await inventory.transaction(async (store) => {
    if (!(await store.rollouts.move(rollout, ['scheduled'], 'expired', { reason, finished_at: new Date() }))) return;
    const { id, project } = rollout;
    await store.events.append({ kind: 'rollout.expired', project, rollout_id: id, data: { rollout: id, reason } });
  });
};

const begin = async ({ inventory }: RolloutDeps, rollout: RolloutRow): Promise<void> => {
  await inventory.transaction(async (store) => {
    const { id, project, plan_hash, start_at } = rollout;
    if (!(await store.rollouts.move(rollout, ['scheduled'], 'running', { started_at: new Date() }))) return;
    await store.rollouts.openWave(id, 0);
    const data = { rollout: id, plan_hash, wave: 1, from: 'scheduled', to: 'running', start_at };
    await store.events.append({ kind: 'rollout.started', project, rollout_id: id, data });
  });
};

/** `away`: the identity service does not answer, and its answer would decide. */
const isApproved = async (deps: RolloutDeps, rollout: RolloutRow): Promise<'yes' | 'no' | 'away'> => {
  try {
    await requireApproved(deps, rollout.granted!, rollout, { wanted: wantedOf(rollout) });
    return 'yes';
  } catch (thrown) {
    if (isTemperError(thrown, 'RolloutNotApproved')) return 'no';
    if (isTemperError(thrown, 'IdentityUnavailable')) return 'away';
    throw thrown;
  }
};

/**
 * Begins a due rollout, or expires it without approval.
 * @returns 0 if it changed, else milliseconds until the next check; null if only an operator can begin it
 */
const beginScheduled = async (deps: RolloutDeps, rollout: RolloutRow): Promise<number | null> => {
  const { start_at, granted } = rollout;
  if (start_at === null || !granted) return null;
  const waitMs = start_at.getTime() - (await deps.inventory.clock());
  if (waitMs > 0) return waitMs;
  const unready = await deps.unready?.();
  if (unready !== undefined) {
    deps.log.warn('this worker begins no rollouts', { rollout: rollout.id, reason: unready });
    return againMs;
  }
  const approved = await isApproved(deps, rollout);
  if (approved === 'away') return againMs;
  await (approved === 'yes' ? begin(deps, rollout) : expire(deps, rollout));
  return 0;
};

const named = (scope: string, value: string): string => {
  if (scope === 'total') return 'the rollout';
  return scope === 'wave' ? `wave ${Number(value) + 1}` : `${scope} ${value}`;
};

/** The budgets that forbid all opened targets. Undefined if a target is under way, or may begin now or later. */
const spentByParts = async (
  { inventory }: Pick<RolloutDeps, 'inventory'>,
  { id, wave }: Pick<RolloutRow, 'id' | 'wave'>,
): Promise<string | undefined> => {
  const spent = await inventory.rolloutDue.forbiddenBy(id, wave);
  if (!spent) return undefined;
  const { scope, value, budget, failed, parked } = spent;
  return `The budget of ${named(scope, value)} (${budget}) is spent: ${failed} failed and ${parked} parked.`;
};

const grow = async ({ inventory }: RolloutDeps, view: View): Promise<void> => {
  const { ramp, max_in_flight: wanted } = view.rollout.spec;
  const { done, failed, parked, most } = totalOf(view);
  if (!ramp || most === null || failed + parked > 0) return;
  const all = sizeOf(view);
  const top =
    wanted === undefined
      ? all
      : typeof wanted === 'number'
        ? wanted
        : Math.max(1, Math.floor((Number.parseFloat(wanted) * all) / 100));
  const now = rampedTo(done, top);
  if (now > most) await inventory.rollouts.ramp(view.rollout.id, now);
};

/** Stops a rollout with a spent budget of mode `stop`. Running targets are finished. */
const stopBySpent = async (deps: RolloutDeps, view: View): Promise<boolean> => {
  const { rollout, counts } = view;
  const { budget } = rollout.spec;
  if (budget?.mode !== 'stop') return false;
  const most = boundOf(budget.total, sizeOf(view));
  const { parked } = totalOf(view);
  const failed = targetsIn(counts, ['failed']);
  if (failed + parked < most) return false;
  const reason = `${failed} failed and ${parked} parked; it stops at ${most}.`;
  await moveByItself(deps, rollout, 'stopped', { code: 'budget_spent', reason, finished_at: new Date() });
  return true;
};

/** Milliseconds; null to wait for an event. `over` if nothing can follow. */
export type Progress = { readonly over: boolean; readonly nextMs: number | null };

const longestAgainMs = 60_000;
// The pause is a sixth of the quiet time. The end of a condition is noticed late by at most a sixth of its duration.
const againPart = 6;
const longestLook = 2;

const againAfter = (quietMs: number): number => Math.min(longestAgainMs, Math.max(againMs, quietMs / againPart));

/** A soaked target is done, or failed if its node is faulty by then. */
const closeSoaks = async ({ inventory }: RolloutDeps, id: RolloutUuid): Promise<void> => {
  for (const { position } of await inventory.rolloutTargets.soaked(id))
    await inventory.rolloutTargets.closeSoak(id, position);
};

const advance = async (deps: RolloutDeps, view: View): Promise<Follows> => {
  const { rollout, counts } = view;
  if (await stopBySpent(deps, view)) return 'nothing';
  // A wave is over when no target of it or of a retried earlier wave is left. Skipped targets count as ended,
  // and so do failed ones within the budget.
  if (targetsIn(counts, unended, rollout.wave) === 0) {
    const opens = await gateOpens(deps, view);
    if (opens === true) await endWave(deps, view);
    return opens === 'later' ? 'waits' : 'more';
  }
  const stop = await standstill(deps, view);
  if (stop?.until === 'acted') {
    await pause(deps, rollout, stop.code, stop.reason);
    return 'nothing';
  }
  const unready = stop ? undefined : await deps.unready?.();
  if (unready !== undefined) deps.log.warn('this worker begins no targets of rollouts', { reason: unready });
  const own =
    unready === undefined ? undefined : { code: null, reason: `A control worker begins nothing: ${unready}.` };
  if (stop || own) {
    await sayWhy(deps, rollout, stop ?? own);
    return 'waits';
  }
  await grow(deps, view);
  const follows = await beginDue(deps, rollout);
  const spent = follows === 'more' ? undefined : await spentByParts(deps, rollout);
  if (spent !== undefined) {
    await pause(deps, rollout, 'budget_spent', spent);
    return 'nothing';
  }
  await sayWhy(deps, rollout, follows === 'more' ? undefined : await windowClosed(deps, view));
  return follows;
};

/** A run that cannot be aborted now is left to the next pass. */
const endRuns = async (
  { inventory, runs, log }: RolloutDeps,
  { id, requester, rule_set, reason }: RolloutRow,
): Promise<void> => {
  for (const run of await inventory.rolloutTargets.abortAsked(id)) {
    const row = await inventory.runs.find(run);
    if (!row || row.finished_at) continue;
    const asked = { requester, rule: 'temper:rollout:abort', rule_set };
    await runs
      .operate({ run, act: 'abort', cursor: row.cursor, reason: reason ?? 'The rollout was aborted.', asked })
      .catch((thrown) => log.warn('a run of an aborted rollout was not ended', { run, reason: String(thrown) }));
  }
};

/** Milliseconds until time alone changes something; null otherwise. */
const nextOf = async (deps: RolloutDeps, rollout: RolloutRow, follows: Follows): Promise<number | null> => {
  const { inventory } = deps;
  const due = await inventory.rolloutDue.nextTime(rollout.id, rollout.wave);
  const times = [due?.getTime() ?? null, await nextOverdue(deps, rollout)].filter((time) => time !== null);
  const ms = times.length > 0 ? Math.max(100, Math.min(...times) - (await inventory.clock())) : null;
  if (follows === 'waits') {
    const again = againAfter(await inventory.rolloutWakes.quietMs(rollout.id));
    return Math.min(again, ms ?? again);
  }
  // The guard is checked also while nodes work.
  const isGuarded = rollout.state === 'running' && rollout.spec.guard !== undefined;
  return isGuarded ? Math.min(guardMs, ms ?? guardMs) : ms;
};

/** Throws if PostgreSQL is unavailable. */
export const advanceRollout = async (deps: RolloutDeps, id: RolloutUuid): Promise<Progress> => {
  const { inventory } = deps;
  if (await inventory.recovery.current()) return { over: false, nextMs: againMs };
  for (let pass = 0; ; pass++) {
    const rollout = await inventory.rollouts.find(id);
    if (!rollout) return { over: true, nextMs: null };
    await inventory.rolloutWakes.advanced(id);
    if (rollout.state === 'scheduled') {
      const waitMs = await beginScheduled(deps, rollout);
      if (waitMs !== 0) return { over: false, nextMs: waitMs };
      continue;
    }
    await closeSoaks(deps, id);
    await passOverdue(deps, rollout);
    if (rollout.ending === 'abort') await endRuns(deps, rollout);
    const view = await viewOf(deps, rollout);
    if (endedRollouts.includes(rollout.state) && targetsIn(view.counts, underWay) === 0)
      return { over: true, nextMs: null };
    const follows = rollout.state === 'running' ? await advance(deps, view) : 'nothing';
    // Gives way to other rollouts.
    if (follows === 'more' && pass < longestLook) continue;
    return { over: false, nextMs: follows === 'more' ? 0 : await nextOf(deps, rollout, follows) };
  }
};
