/**
 * One look at a rollout: soaks that are over are closed, waves are ended and opened, targets are begun. All that it decides, it
 * decides by the store; two of them at once do what one does, only sooner.
 */
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { RolloutUuid } from '../model/ids';
import { guardMs } from '../model/rollouts/gates';
import { endedRollouts } from '../model/rollouts/states';
import { nextOverdue, passOverdue } from './admit';
import { beginDue, type Follows } from './begin-due';
import { grow, stopBySpent } from './bounds';
import type { RolloutDeps, RolloutSpec } from './contract';
import { pause, sayWhy } from './moving';
import { beginScheduled } from './scheduled';
import { spentByParts } from './spent';
import { standstill, windowClosed } from './standstill';
import { targetsIn, underWay, unended, type View, viewOf } from './view';
import { endWave, gateOpens } from './wave-end';

/** When to look again, in ms; null when something happens. `over` where nothing more can come of it. */
export type Progress = { readonly over: boolean; readonly nextMs: number | null };

// What is asked again although nothing has happened: a freeze, a missing worker, a budget of a tenant.
const againMs = 10_000;
const longestAgainMs = 60_000;
// So much of the time for which nothing has happened: what ends by itself is seen late by a sixth of the time that it took, at most.
const againPart = 6;
const longestLook = 2;

/** When to look again at a rollout that waits, after nothing has happened to it for so long. */
const againAfter = (quietMs: number): number => Math.min(longestAgainMs, Math.max(againMs, quietMs / againPart));

/** Targets whose soak is over are done, or have failed where something is wrong with their nodes by then. */
const closeSoaks = async ({ inventory }: RolloutDeps, id: RolloutUuid): Promise<void> => {
  for (const { position } of await inventory.rolloutTargets.soaked(id))
    await inventory.rolloutTargets.closeSoak(id, position);
};

const advance = async (deps: RolloutDeps, view: View): Promise<Follows> => {
  const { rollout, counts } = view;
  if (await stopBySpent(deps, view)) return 'nothing';
  // A wave is over when nothing of it is to come, nor of an earlier one that is tried again; what was skipped, or has failed
  // within the budget, is over as well.
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

/** The runs that an abort is to end are asked to; a run that has ended meanwhile, or cannot be asked now, is for the next look. */
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

/** When time alone changes something; null where nothing does before something happens. */
const nextOf = async (deps: RolloutDeps, rollout: RolloutRow, follows: Follows): Promise<number | null> => {
  const { inventory } = deps;
  const due = await inventory.rolloutDue.nextTime(rollout.id, rollout.wave);
  const times = [due?.getTime() ?? null, await nextOverdue(deps, rollout)].filter((time) => time !== null);
  const ms = times.length > 0 ? Math.max(100, Math.min(...times) - (await inventory.clock())) : null;
  if (follows === 'waits') {
    const again = againAfter(await inventory.rolloutWakes.quietMs(rollout.id));
    return Math.min(again, ms ?? again);
  }
  // What guards a rollout is asked while its nodes work as well.
  const isGuarded = rollout.state === 'running' && (rollout.spec as Partial<RolloutSpec>).guard !== undefined;
  return isGuarded ? Math.min(guardMs, ms ?? guardMs) : ms;
};

/** @returns when to look again. Throws where the store is away. */
export const advanceRollout = async (deps: RolloutDeps, id: RolloutUuid): Promise<Progress> => {
  const { inventory } = deps;
  if (await inventory.recovery.current()) return { over: false, nextMs: againMs };
  for (let pass = 0; ; pass++) {
    const rollout = await inventory.rollouts.find(id);
    if (!rollout) return { over: true, nextMs: null };
    await inventory.rolloutWakes.tended(id);
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
    // Others' rollouts, and this one's person, have their turn between long looks.
    if (follows === 'more' && pass < longestLook) continue;
    return { over: false, nextMs: follows === 'more' ? 0 : await nextOf(deps, rollout, follows) };
  }
};
