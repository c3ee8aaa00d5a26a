/**
 * One look at a rollout: soaks that are over are closed, waves are ended and opened, targets are begun. All that it decides, it
 * decides by the store; two of them at once do what one does, only sooner.
 */
import type { CounterRow, RolloutChange, RolloutRow, WaveRow } from '../inventory/rollouts/rollouts';
import type { TargetRow } from '../inventory/rollouts/targets';
import type { RolloutUuid } from '../model/ids';
import { boundOf, rampedTo } from '../model/rollouts/amounts';
import type { GateAnswer } from '../model/rollouts/gates';
import { endedRollouts, type PauseCode, type RolloutState, type TargetState } from '../model/rollouts/states';
import { type Began, beginTarget, passOverdue } from './admit';
import type { RolloutDeps, RolloutSpec } from './contract';
import { passGate, passGuard } from './passing';
import { beginScheduled } from './scheduled';
import { spentByParts } from './spent';

/** When to look again, in ms; null when something happens. `over` where nothing more can come of it. */
export type Tended = { readonly over: boolean; readonly nextMs: number | null };

const targetsAtOnce = 50;
// What is asked again although nothing has happened: a freeze, a missing worker, a budget of a tenant.
const againMs = 10_000;
const refusedInARow = 10;
const pageSize = 4 * targetsAtOnce;
const seenAtOnce = 5 * pageSize;
const longestLook = 2;

type RolloutCounts = Awaited<ReturnType<RolloutDeps['inventory']['rollouts']['counts']>>;
type View = {
  readonly rollout: RolloutRow;
  readonly waves: readonly WaveRow[];
  readonly counters: readonly CounterRow[];
  readonly counts: RolloutCounts;
};

const underWay: readonly TargetState[] = ['admitted', 'soaking', 'parked'];
const unended: readonly TargetState[] = ['pending', 'asked', ...underWay];

const totalOf = ({ counters }: Pick<View, 'counters'>): CounterRow => counters.find(({ scope }) => scope === 'total')!;
/** @param upTo only targets of this wave and of those before it */
const sum = (counts: RolloutCounts, states: readonly TargetState[], upTo?: number): number =>
  counts
    .filter(({ state, wave }) => states.includes(state) && (upTo === undefined || (wave !== null && wave <= upTo)))
    .reduce((all, { targets }) => all + targets, 0);

const viewOf = async ({ inventory }: RolloutDeps, rollout: RolloutRow): Promise<View> => {
  const { waves, counters, counts } = inventory.rollouts;
  const [allWaves, allCounters, allCounts] = await Promise.all([
    waves(rollout.id),
    counters(rollout.id),
    counts(rollout.id),
  ]);
  return { rollout, waves: allWaves, counters: allCounters, counts: allCounts };
};

/** Moves a rollout by itself, with its event. */
const moveByItself = async (
  { inventory }: Pick<RolloutDeps, 'inventory'>,
  rollout: RolloutRow,
  to: RolloutState,
  change: RolloutChange,
): Promise<void> => {
  await inventory.transaction(async (store) => {
    if (!(await store.rollouts.move(rollout, ['running'], to, change))) return;
    const { id, project } = rollout;
    const { code = null, reason = null } = change;
    await store.events.append({ kind: `rollout.${to}`, project, rollout_id: id, data: { rollout: id, code, reason } });
  });
};

const pause = (deps: RolloutDeps, rollout: RolloutRow, code: PauseCode, reason: string): Promise<void> =>
  moveByItself(deps, rollout, 'paused', { code, reason });

/** Targets whose soak is over are done, or have failed where something is wrong with their nodes by then. */
const closeSoaks = async ({ inventory }: RolloutDeps, id: RolloutUuid): Promise<void> => {
  for (const { position } of await inventory.rolloutTargets.soaked(id))
    await inventory.rolloutTargets.closeSoak(id, position);
};

const mayBeSkipped = ({ rollout, waves }: View): number | undefined => {
  const { max_skipped: most } = rollout.spec as Partial<RolloutSpec>;
  const all = waves.reduce((nodes, { size }) => nodes + size, 0);
  if (most === undefined) return undefined;
  return typeof most === 'number' ? most : Math.floor((Number.parseFloat(most) * all) / 100);
};

/** Why nothing may be begun: until a person has acted, or until it passes. */
type Standstill = { readonly until: 'acted' | 'passed'; readonly code: PauseCode; readonly reason: string };
const pausedFor = (code: PauseCode, reason: string): Standstill => ({ until: 'acted', code, reason });

const identityAway = 'The identity service does not answer';

const gateCodes = { fail: 'gate_failed', inconclusive: 'gate_inconclusive' } as const;

const askedForTime = (by: string, note: string): Standstill => ({
  until: 'passed',
  code: 'gate_inconclusive',
  reason: `The ${by} asks for time. ${note}`.trim(),
});

const guarded = async (deps: RolloutDeps, view: View): Promise<Standstill | undefined> => {
  const answer = await passGuard(deps, view);
  switch (answer.is) {
    case 'pass':
      return undefined;
    case 'later':
      return askedForTime('guard', answer.note);
    default:
      return pausedFor(gateCodes[answer.is], answer.note);
  }
};

/** Undefined where something may be begun. */
const standstill = async (deps: RolloutDeps, view: View): Promise<Standstill | undefined> => {
  const { rollout, counts } = view;
  const { parked, budget } = totalOf(view);
  // What a person has asked to be tried again takes its own place, and no other's.
  const failed = sum(counts, ['failed']);
  if (budget !== null && failed + parked >= budget)
    return pausedFor('budget_spent', `${failed} failed and ${parked} parked: the budget of ${budget} is spent.`);
  if (rollout.refused_in_row >= refusedInARow)
    return pausedFor('policy_refuses', `The rules in force have refused ${rollout.refused_in_row} targets in a row.`);
  const most = mayBeSkipped(view);
  const skipped = sum(counts, ['skipped']);
  if (most !== undefined && skipped > most)
    return pausedFor('too_many_skipped', `${skipped} targets were skipped; ${most} may be.`);
  const authority = await deps.authority(rollout.granted!, rollout.granted_at!);
  if (authority === 'lost')
    return pausedFor(
      'authority_lost',
      'The person by whose rights it runs has them no longer, or must show them again; adopt the rollout.',
    );
  if (authority === 'silent') return pausedFor('identity_unavailable', `${identityAway}.`);
  if (authority === 'waits')
    return {
      until: 'passed',
      code: 'identity_unavailable',
      reason: `${identityAway}; nothing is begun until it does.`,
    };
  return guarded(deps, view);
};

const unsaid = { code: null, reason: null } as const;

/** A running rollout says what it waits for, and no longer than it does. */
const sayWhy = async (
  { inventory }: RolloutDeps,
  rollout: RolloutRow,
  why: { readonly code: PauseCode | null; readonly reason: string } | undefined,
): Promise<void> => {
  const { code = null, reason = null } = why ?? {};
  if (rollout.code === code && rollout.reason === reason) return;
  await inventory.rollouts.move(rollout, ['running'], 'running', { code, reason });
};

/** Asks the wave's gate, where it has one. @returns whether the next wave may come */
const gateOpens = async (deps: RolloutDeps, view: View): Promise<boolean | 'later'> => {
  const { rollout } = view;
  const passing = await passGate(deps, view);
  await deps.inventory.rollouts.closeWave(rollout.id, rollout.wave, passing?.record);
  const answer: GateAnswer = passing?.answer ?? { is: 'pass', note: '' };
  switch (answer.is) {
    case 'pass':
      return true;
    case 'later':
      await sayWhy(deps, rollout, askedForTime('gate', answer.note));
      return 'later';
    default:
      await pause(deps, rollout, gateCodes[answer.is], answer.note);
      return false;
  }
};

/** The wave is over: the next one is opened, a gate or a person is asked, or all is done. */
const endWave = async (deps: RolloutDeps, view: View): Promise<void> => {
  const { rollout, waves } = view;
  const { inventory } = deps;
  const ended = waves[rollout.wave]!;
  const next = waves[rollout.wave + 1];
  if (!next) return moveByItself(deps, rollout, 'succeeded', { ...unsaid, finished_at: new Date() });
  if (ended.advance === 'manual')
    return pause(deps, rollout, 'wave_gate', `Wave ${ended.wave + 1} is over; advance opens wave ${next.wave + 1}.`);
  await inventory.rollouts.openWave(rollout.id, next.wave);
  return moveByItself(deps, rollout, 'running', { ...unsaid, wave: next.wave });
};

/** Whether a refusal by rule counts towards the pause, or a target that came through ends the row. */
const countRefusals = async ({ inventory }: RolloutDeps, rollout: RolloutRow, began: Began): Promise<number> => {
  const refused =
    began.is === 'skipped' && began.code === 'rule'
      ? rollout.refused_in_row + 1
      : began.is === 'begun'
        ? 0
        : rollout.refused_in_row;
  if (refused !== rollout.refused_in_row) await inventory.rollouts.refusedInRow(rollout.id, refused);
  return refused;
};

/** What is to follow: `more` at once, a look in a while because a target `waits` for something, or nothing until something happens. */
type Follows = 'more' | 'waits' | 'nothing';

/** Begins what has room, in the order of the plan. */
const beginDue = async (deps: RolloutDeps, rollout: RolloutRow): Promise<Follows> => {
  let looked: Looked = { rollout, begun: 0, waiting: 0, progressed: false, follows: 'nothing' };
  // Behind targets that wait there may be others that do not.
  for (let seen = 0; seen < seenAtOnce; seen += pageSize) {
    const due = await deps.inventory.rolloutTargets.due(rollout.id, rollout.wave, pageSize, looked.waiting);
    looked = await beginPage(deps, looked, due);
    if (looked.stop) return looked.stop;
    if (due.length < pageSize || looked.progressed) break;
  }
  return looked.progressed ? 'more' : looked.follows;
};

type Looked = {
  readonly rollout: RolloutRow;
  readonly begun: number;
  /** Those that stay due, and wait for something. */
  readonly waiting: number;
  readonly progressed: boolean;
  readonly follows: Follows;
  /** Nothing more is to be begun in this look, and what is to follow. */
  readonly stop?: Follows;
};

const beginPage = async (deps: RolloutDeps, before: Looked, due: readonly TargetRow[]): Promise<Looked> => {
  let looked = before;
  for (const target of due) {
    looked = await beginNext(deps, looked, target);
    if (looked.stop) return looked;
  }
  return looked;
};

const beginNext = async (deps: RolloutDeps, before: Looked, target: TargetRow): Promise<Looked> => {
  if (before.begun >= targetsAtOnce) return { ...before, stop: 'more' };
  const began = await beginTarget(deps, before.rollout, target);
  const rollout = { ...before.rollout, refused_in_row: await countRefusals(deps, before.rollout, began) };
  const begun = before.begun + Number(began.is === 'begun');
  const progressed = before.progressed || began.is === 'begun' || began.is === 'skipped';
  const looked = { ...before, rollout, begun, progressed };
  if (began.is === 'closed') return { ...looked, stop: 'nothing' };
  if (rollout.refused_in_row >= refusedInARow) return { ...looked, stop: 'more' }; // which pauses it
  if (began.is === 'skipped' && began.code === 'withdrawn') {
    await pause(deps, rollout, 'revision_withdrawn', 'The revision that it runs by was withdrawn.');
    return { ...looked, stop: 'nothing' };
  }
  // Of a domain that is full, others may have room; of the whole or its wave, nothing has.
  if (began.is === 'full' && ['total', 'wave'].includes(began.scope)) return { ...looked, stop: before.follows };
  if (began.is === 'waits' || (began.is === 'full' && began.scope === 'disruption_budget'))
    return { ...looked, waiting: before.waiting + 1, follows: 'waits' };
  return looked;
};

const grow = async ({ inventory }: RolloutDeps, view: View): Promise<void> => {
  const { ramp, max_in_flight: wanted } = view.rollout.spec as Partial<RolloutSpec>;
  const { done, failed, parked, most } = totalOf(view);
  if (!ramp || most === null || failed + parked > 0) return;
  const all = view.waves.reduce((nodes, { size }) => nodes + size, 0);
  const top =
    wanted === undefined
      ? all
      : typeof wanted === 'number'
        ? wanted
        : Math.max(1, Math.floor((Number.parseFloat(wanted) * all) / 100));
  const now = rampedTo(done, top);
  if (now > most) await inventory.rollouts.ramp(view.rollout.id, now);
};

/** The budget of mode stop is spent: the rollout ends, and what runs is finished. */
const stopBySpent = async (deps: RolloutDeps, { rollout, waves, counters, counts }: View): Promise<boolean> => {
  const { budget } = rollout.spec as Partial<RolloutSpec>;
  if (budget?.mode !== 'stop') return false;
  const all = waves.reduce((nodes, { size }) => nodes + size, 0);
  const most = boundOf(budget.total, all);
  const { parked } = totalOf({ counters });
  const failed = sum(counts, ['failed']);
  if (failed + parked < most) return false;
  const reason = `${failed} failed and ${parked} parked; it stops at ${most}.`;
  await moveByItself(deps, rollout, 'stopped', { code: 'budget_spent', reason, finished_at: new Date() });
  return true;
};

const advance = async (deps: RolloutDeps, view: View): Promise<Follows> => {
  const { rollout, counts } = view;
  if (await stopBySpent(deps, view)) return 'nothing';
  // A wave is over when nothing of it is to come, nor of an earlier one that is tried again; what was skipped, or has failed
  // within the budget, is over as well.
  if (sum(counts, unended, rollout.wave) === 0) {
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
  await sayWhy(deps, rollout, stop ?? own);
  if (stop || own) return 'waits';
  await grow(deps, view);
  const follows = await beginDue(deps, rollout);
  const spent = follows === 'more' ? undefined : await spentByParts(deps, rollout);
  if (spent === undefined) return follows;
  await pause(deps, rollout, 'budget_spent', spent);
  return 'nothing';
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
const nextOf = async (
  { inventory }: RolloutDeps,
  { id, wave }: RolloutRow,
  follows: Follows,
): Promise<number | null> => {
  const times = [await inventory.rolloutTargets.nextTime(id, wave), await inventory.rolloutConsents.nextOverdue(id)];
  const next = times.filter((time) => time !== null).sort((one, other) => one.getTime() - other.getTime())[0];
  const ms = next ? Math.max(100, next.getTime() - (await inventory.clock())) : null;
  if (follows === 'waits') return Math.min(againMs, ms ?? againMs);
  return ms;
};

/** @returns when to look again. Throws where the store is away. */
export const tend = async (deps: RolloutDeps, id: RolloutUuid): Promise<Tended> => {
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
    if (endedRollouts.includes(rollout.state) && sum(view.counts, underWay) === 0) return { over: true, nextMs: null };
    const follows = rollout.state === 'running' ? await advance(deps, view) : 'nothing';
    // Others' rollouts, and this one's person, have their turn between long looks.
    if (follows === 'more' && pass < longestLook) continue;
    return { over: false, nextMs: follows === 'more' ? 0 : await nextOf(deps, rollout, follows) };
  }
};
