/** Acts of callers on rollouts and targets: allowed states, effects, and reasons why a target has not begun. */

import { unreachable } from '../errors';
import { type GateRecord, isKeptByGate } from './gates';
import { endedRollouts, type RolloutState, rolloutActs, type TargetState } from './states';

const possibleIn = {
  approve: rolloutActs.start,
  reject: rolloutActs.start,
  submit: rolloutActs.submit,
  start: rolloutActs.start,
  advance: rolloutActs.advance,
  resume: rolloutActs.resume,
  pause: rolloutActs.pause,
  adopt: rolloutActs.adopt,
  abort: rolloutActs.abort,
} as const satisfies Readonly<Record<string, readonly RolloutState[]>>;
export type RolloutAct = keyof typeof possibleIn;

/** First those that decide about a waiting rollout. */
export const offeredRolloutActs = Object.keys(possibleIn) as RolloutAct[];

/** `state` and `code` as in the API. */
type RolloutStanding = {
  readonly state: RolloutState;
  readonly code?: string | null;
  /** Counted from 1; absent if the caller sees only its own nodes. */
  readonly wave?: number;
  readonly waves?: readonly { readonly gate?: GateRecord | null }[];
};

/** Undefined if the act is possible. */
export const rolloutStateSays = (act: RolloutAct, standing: RolloutStanding): string | undefined => {
  const { state, code, wave = 1, waves = [] } = standing;
  const from: readonly RolloutState[] = possibleIn[act];
  if (!from.includes(state)) return `The rollout is ${state}; this is possible while it is ${from.join(', ')}.`;
  if (act === 'advance' && code !== 'wave_gate' && !isKeptByGate(waves[wave - 1]?.gate, code))
    return 'The rollout does not wait at the end of a wave.';
  if (act === 'resume' && code === 'wave_gate') return 'The rollout waits at the end of a wave; advance it.';
  return undefined;
};

export const rolloutWill: Readonly<Record<RolloutAct, string>> = {
  submit: 'Other users are asked to approve this plan; nothing begins.',
  approve: 'Your vote counts for this plan alone; the rollout can be started when enough users have approved it.',
  reject: 'Your vote is against this plan; the rollout goes back to planned.',
  start: 'Opens wave 1 with your permissions, within the budget.',
  pause: 'No more nodes are started. Runs in progress continue.',
  resume: 'The rollout continues with the nodes of the open wave.',
  advance: 'The next wave opens.',
  abort: 'The rollout ends and starts no more nodes. Runs in progress finish, or are asked to end.',
  adopt: 'The rollout acts with your permissions from now on.',
};

type ActedRollout = { readonly state?: RolloutState; readonly wave?: number; readonly start_at?: string | null };

/** Result of an act. @param rollout as the API shows it afterwards; votes have no state */
export const rolloutDid = (act: RolloutAct, { state, wave = 1, start_at }: ActedRollout): string => {
  switch (act) {
    case 'approve':
      return 'Your approval counts for this plan.';
    case 'reject':
      return 'Your vote counts against this plan.';
    case 'submit':
      return 'Other users are asked to approve this plan.';
    case 'start':
      return state === 'scheduled' ? `The rollout begins at ${start_at}.` : 'The rollout has started: wave 1 is open.';
    case 'pause':
      return 'The rollout is paused. Runs in progress continue.';
    case 'resume':
      return 'The rollout continues with the nodes of the open wave.';
    case 'advance':
      return `The rollout is ${state}, in wave ${wave}.`;
    case 'abort':
      return 'The rollout is aborted and starts no more nodes.';
    case 'adopt':
      return 'The rollout acts with your permissions now.';
    default:
      return unreachable(act);
  }
};

export const targetActs = ['consent', 'refuse', 'skip', 'retry'] as const;
export type TargetAct = (typeof targetActs)[number];

type TargetStanding = { readonly state: TargetState };

/** Undefined if the act is possible. */
export const targetStateSays = (
  act: TargetAct,
  { state }: TargetStanding,
  rollout: RolloutStanding,
): string | undefined => {
  const operators = act === 'skip' || act === 'retry';
  if (operators && rollout.state !== 'running' && rollout.state !== 'paused')
    return `The rollout is ${rollout.state}; this is possible while it is running or paused.`;
  if (act === 'retry')
    return state === 'failed' ? undefined : `The node is ${state}; only a failed one can be retried.`;
  return state === 'pending' || state === 'asked' ? undefined : `The node is ${state} in this rollout.`;
};

export const targetWill: Readonly<Record<TargetAct, string>> = {
  consent: 'The rollout may work on this node: now, or from the time that you name.',
  refuse: 'The rollout skips this node.',
  skip: 'The rollout skips this node and continues with the others.',
  retry:
    'The work on the node starts again. The node keeps its place in the budget meanwhile. Resume a paused rollout, too.',
};

type AnsweredTarget = {
  readonly answer: { readonly answer: string; readonly at: string | null; readonly window: string | null } | null;
};

const consentSays = ({ answer }: AnsweredTarget): string => {
  if (answer?.window) return `You have consented: the rollout works on the node in the window ${answer.window}.`;
  if (answer?.at) return `You have consented: the rollout works on the node from ${answer.at} on.`;
  return 'You have consented: the rollout works on the node as soon as its turn comes.';
};

/** Result of an act. @param target as the API shows it afterwards */
export const targetDid = (act: TargetAct, target: AnsweredTarget): string => {
  switch (act) {
    case 'consent':
      return consentSays(target);
    case 'refuse':
      return 'You have refused: the rollout skips the node.';
    case 'skip':
      return 'The rollout skips the node and continues with the others.';
    case 'retry':
      return 'Its work starts again as soon as the rollout has room; until then it counts as failed. Resume a paused rollout, too.';
    default:
      return unreachable(act);
  }
};

type ScopeCounter = {
  readonly scope: string;
  readonly value: string;
  readonly budget: number | null;
  readonly most: number | null;
  readonly in_flight: number;
  readonly failed: number;
  readonly parked: number;
};

type BeginningRollout = RolloutStanding & {
  readonly reason?: string | null;
  /** ISO 8601; the automatic start of a scheduled rollout. */
  readonly start_at?: string | null;
  readonly counters?: readonly ScopeCounter[];
};

type BeginningTarget = TargetStanding & {
  readonly wave: number | null;
  readonly code: string | null;
  readonly reason: string | null;
  /** ISO 8601. */
  readonly not_before: string | null;
  /** The newest answer of the project that uses the node. */
  readonly answer?: { readonly answer: string; readonly window: string | null } | null;
};

const notRunning: Partial<Readonly<Record<RolloutState, string>>> = {
  planned: 'The rollout is not started.',
  awaiting_approval: 'The rollout waits for its approval.',
  scheduled: 'The rollout is approved, and not started.',
};

const consented = 'The project that uses the node has consented. Its turn comes in the order of the plan.';

/** Reason why a node that a tenant uses has not begun. */
const whyLeased = ({ answer }: BeginningTarget): string => {
  if (!answer) return 'The project that uses the node is asked when its turn comes.';
  return answer.window ? `The project that uses the node has consented, in its window ${answer.window}.` : consented;
};

/** Undefined if the counter has room. */
const whyFull = ({ scope, value, budget, most, in_flight, failed, parked }: ScopeCounter): string | undefined => {
  const of = scope === 'total' ? 'the rollout' : `${scope} ${value}`;
  if (budget !== null && failed + parked + in_flight >= budget)
    return `The budget of ${of} has no room: ${failed} failed, ${parked} parked and ${in_flight} under way, of ${budget}.`;
  if (most !== null && in_flight + (scope === 'total' ? 0 : parked) >= most)
    return `The limit of ${of} is reached: ${most} nodes under way at once.`;
  return undefined;
};

const whyPending = (rollout: BeginningRollout, target: BeginningTarget, now: number): string => {
  const { state, reason, wave, counters = [] } = rollout;
  if (state === 'paused') return `The rollout is paused${reason ? `: ${reason}` : '.'}`;
  if (endedRollouts.includes(state)) return `The rollout is ${state}; no more nodes are started.`;
  if (state === 'scheduled' && rollout.start_at) return `The rollout begins automatically at ${rollout.start_at}.`;
  const before = notRunning[state];
  if (before) return before;
  if (wave !== undefined && target.wave !== null && target.wave > wave)
    return `Wave ${target.wave} is not open; wave ${wave} is under way.`;
  if (target.not_before !== null && Date.parse(target.not_before) > now)
    return target.reason ?? 'The project that uses the node has postponed it.';
  if (reason) return reason;
  const own = counters.filter(({ scope, value }) => scope === 'total' || (scope === 'wave' && value === `${wave}`));
  const full = own.map(whyFull).find((why) => why !== undefined);
  if (full) return full;
  if (target.code === 'leased') return whyLeased(target);
  return 'Its turn comes in the order of the plan. Others go first while the node is locked or frozen, or a limit of its domain or project is reached.';
};

/** Undefined if the target has begun. @param now epoch milliseconds */
export const whyNotBegun = (rollout: BeginningRollout, target: BeginningTarget, now: number): string | undefined => {
  switch (target.state) {
    case 'pending':
      return whyPending(rollout, target, now);
    case 'asked':
      return 'The project that uses the node is asked first. Without an answer in time, the node is skipped, unless a rule lets the rollout work without consent.';
    case 'refused':
    case 'skipped':
      return target.reason ?? target.code ?? undefined;
    default:
      return undefined;
  }
};
