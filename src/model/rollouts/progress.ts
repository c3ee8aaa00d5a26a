/** Progress of a rollout: parts that sum up to its nodes, the time left, and the bounds that slow it down. */
import { endedRollouts, type RolloutState, type TargetState } from './states';

/** States of targets in a wave; `postponed` ones wait for a time that their project named. */
export const progressParts = [
  'done',
  'failed',
  'aborted',
  'skipped',
  'admitted',
  'soaking',
  'parked',
  'asked',
  'postponed',
  'pending',
] as const;
export type ProgressPart = (typeof progressParts)[number];

const endedParts: readonly ProgressPart[] = ['done', 'failed', 'aborted', 'skipped'];

/** A row of rollout_counters; `value` of a wave begins at 0. */
export type Bound = {
  readonly number: number;
  readonly scope: string;
  readonly value: string;
  readonly budget: number | null;
  readonly most: number | null;
  readonly in_flight: number;
  readonly failed: number;
  readonly parked: number;
};

/** Work left of a wave that counts in a bound. `known`: the duration of each target is known. */
export type WorkLeft = {
  readonly wave: number;
  readonly number: number;
  readonly targets: number;
  readonly ms: number | null;
  readonly longest_ms: number | null;
  readonly known: boolean;
};

/** Targets of the open wave and of earlier ones that have not begun. */
export type Waiting = {
  /** May begin as soon as there is room. */
  readonly ready: number;
  /** Of these, on locked or frozen nodes. */
  readonly held: number;
  readonly asked: number;
  readonly asked_until: Date | null;
  readonly postponed: number;
  readonly postponed_until: Date | null;
  /** Ready targets by the number of a bound. */
  readonly by: ReadonlyMap<number, number>;
};

type WaveGate = { readonly advance: 'manual' | 'auto'; readonly size: number };

export type ProgressFacts = {
  readonly state: RolloutState;
  readonly reason: string | null;
  /** The open one, from 0. */
  readonly wave: number;
  readonly waves: readonly WaveGate[];
  readonly counts: readonly { readonly wave: number | null; readonly state: TargetState; readonly targets: number }[];
  readonly bounds: readonly Bound[];
  readonly work: readonly WorkLeft[];
  readonly waiting: Waiting;
};

export type Slowing = {
  readonly code: 'paused' | 'budget' | 'at_once' | 'spread' | 'held' | 'consent' | 'window' | 'person' | 'waits';
  /** Of the bound; null if no bound is meant. */
  readonly scope: string | null;
  readonly value: string | null;
  readonly limit: number | null;
  /** Nodes that wait for it. */
  readonly nodes: number;
  readonly until: Date | null;
  readonly says: string;
};

/** The last wave that opens without a person, from the open one on. */
export const lastByItself = ({ wave, waves }: Pick<ProgressFacts, 'wave' | 'waves'>): number => {
  let last = wave;
  while (last + 1 < waves.length && waves[last]!.advance === 'auto') last += 1;
  return last;
};

/** Nodes that may work at the same time; null without a bound. */
const roomOf = ({ scope, budget, most, failed, parked }: Bound): number | null => {
  const bounds = [
    ...(budget === null ? [] : [budget - failed - parked]),
    ...(most === null ? [] : [most - (scope === 'total' ? 0 : parked)]),
  ];
  return bounds.length === 0 ? null : Math.min(...bounds);
};

/** Null if it is not known, or if the bound has no room. */
const timeWithin = (work: WorkLeft, bound: Bound | undefined): number | null => {
  const { targets, ms, longest_ms, known } = work;
  if (!known || !bound || ms === null || longest_ms === null) return null;
  const room = roomOf(bound) ?? targets;
  return room <= 0 ? null : Math.max(longest_ms, ms / Math.min(room, targets));
};

/** Each wave takes as long as its tightest bound; waves follow one another. */
const timeLeft = ({ bounds, work }: ProgressFacts, left: number): number | null => {
  if (left === 0) return 0;
  if (work.length === 0) return null;
  // A plan may have a bound for each of its nodes.
  const byNumber = new Map(bounds.map((bound) => [bound.number, bound]));
  const ofWaves = new Map<number, number>();
  for (const one of work) {
    const ms = timeWithin(one, byNumber.get(one.number));
    if (ms === null) return null;
    ofWaves.set(one.wave, Math.max(ofWaves.get(one.wave) ?? 0, ms));
  }
  return Math.round([...ofWaves.values()].reduce((sum, ms) => sum + ms, 0));
};

const partsOf = ({ counts, waiting }: ProgressFacts): Record<ProgressPart, number> => {
  const parts = Object.fromEntries(progressParts.map((part) => [part, 0])) as Record<ProgressPart, number>;
  for (const { wave, state, targets } of counts) if (wave !== null && state !== 'refused') parts[state] += targets;
  const postponed = Math.min(waiting.postponed, parts.pending);
  return { ...parts, pending: parts.pending - postponed, postponed };
};

const many = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

const unbounded = { scope: null, value: null, limit: null, until: null } as const;

const ofBound = ({ scope, value }: Bound): string =>
  scope === 'wave' ? `wave ${Number(value) + 1}` : `${scope} ${value}`;

/** Undefined if the bound has room. */
const fullBound = (bound: Bound, nodes: number): Slowing | undefined => {
  const { scope, value, budget, most, in_flight, failed, parked } = bound;
  const named = { scope, value: scope === 'wave' ? `${Number(value) + 1}` : value, nodes, until: null };
  const within = scope === 'total' ? '' : ` in ${ofBound(bound)}`;
  const taken = failed + parked;
  if (budget !== null && taken + in_flight >= budget)
    return {
      ...named,
      code: 'budget',
      limit: budget,
      says: `At most ${many(budget, 'failure')}${within} also means ${many(budget, 'node')} at once.${taken > 0 ? ` Failed or parked nodes take ${many(taken, 'place')}.` : ''}`,
    };
  if (most !== null && in_flight + (scope === 'total' ? 0 : parked) >= most)
    return {
      ...named,
      code: scope === 'total' ? 'at_once' : 'spread',
      limit: most,
      says: `At most ${many(most, 'node')} at once${within}.`,
    };
  return undefined;
};

const mostBounds = 5;

/** The most nodes first. A full bound of the whole rollout hides those of its domains. */
const fullBounds = ({ bounds, waiting }: ProgressFacts): readonly Slowing[] => {
  const full = bounds.flatMap((bound) => {
    const nodes = bound.scope === 'total' ? waiting.ready : (waiting.by.get(bound.number) ?? 0);
    return (nodes > 0 && fullBound(bound, nodes)) || [];
  });
  const whole = full.filter(({ scope }) => scope === 'total');
  return whole.length > 0 ? whole : full.toSorted((one, other) => other.nodes - one.nodes).slice(0, mostBounds);
};

const whileRunning = (facts: ProgressFacts, later: number): Slowing[] => {
  const { waiting, reason } = facts;
  const { held, asked, postponed } = waiting;
  const full = fullBounds(facts);
  const nextWave = lastByItself(facts) + 2;
  const others: (Slowing | false)[] = [
    held > 0 && { ...unbounded, code: 'held', nodes: held, says: `${many(held, 'node')} ${held === 1 ? 'is' : 'are'} locked by another run, or frozen.` },
    asked > 0 && { ...unbounded, code: 'consent', nodes: asked, until: waiting.asked_until, says: `${many(asked, 'node')} ${asked === 1 ? 'waits' : 'wait'} for the consent of a tenant.` },
    postponed > 0 && { ...unbounded, code: 'window', nodes: postponed, until: waiting.postponed_until, says: `${many(postponed, 'node')} ${postponed === 1 ? 'waits' : 'wait'} for a window or a time that a tenant named.` },
    later > 0 && { ...unbounded, code: 'person', nodes: later, says: `A person opens wave ${nextWave}.` },
  ]; // biome-ignore format: one reason a row
  const found = [...full, ...others.filter((one) => one !== false)];
  return found.length === 0 && waiting.ready > 0 && reason
    ? [{ ...unbounded, code: 'waits', nodes: waiting.ready, says: reason }]
    : found;
};

const begun: readonly RolloutState[] = ['running', 'paused'];

type RolloutProgress = {
  readonly nodes: number;
  readonly ended: number;
  readonly parts: Readonly<Record<ProgressPart, number>>;
  /** Most nodes that may work at the same time now; null without a bound. */
  readonly at_once: number | null;
  /** Without nodes that wait for a tenant, and up to `until_wave`. Null if it is not known, or not running. */
  readonly time_left_ms: number | null;
  /** The last wave that opens without a person, from 1. */
  readonly until_wave: number;
  readonly slowed_by: readonly Slowing[];
};

export const progressOf = (facts: ProgressFacts): RolloutProgress => {
  const { state, reason, wave, bounds, counts } = facts;
  const parts = partsOf(facts);
  const nodes = Object.values(parts).reduce((sum, count) => sum + count, 0);
  const ended = endedParts.reduce((sum, part) => sum + parts[part], 0);
  const last = lastByItself(facts);
  const unended: readonly TargetState[] = ['pending', 'admitted', 'soaking'];
  const upTo = counts
    .filter((one) => one.wave !== null && one.wave <= last && unended.includes(one.state))
    .reduce((sum, { targets }) => sum + targets, 0);
  const later = counts
    .filter((one) => one.wave !== null && one.wave > last && one.state === 'pending')
    .reduce((sum, { targets }) => sum + targets, 0);
  const total = bounds.find(({ scope }) => scope === 'total');
  const room = total ? roomOf(total) : null;
  const paused: Slowing = {
    ...unbounded,
    code: 'paused',
    nodes: nodes - ended,
    says: reason ?? 'The rollout is paused.',
  };
  return {
    nodes,
    ended,
    parts,
    at_once: room === null ? null : Math.max(0, room),
    time_left_ms:
      state === 'running' ? timeLeft(facts, upTo - parts.postponed) : endedRollouts.includes(state) ? 0 : null,
    until_wave: Math.max(wave, last) + 1,
    slowed_by: !begun.includes(state) ? [] : state === 'paused' ? [paused] : whileRunning(facts, later),
  };
};
