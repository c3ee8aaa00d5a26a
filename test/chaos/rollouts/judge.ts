/** Whether a rollout kept its word, by what the rack itself wrote down: bounds, waves, and that no target was lost or begun twice. Pure. */

/** A write that a BMC accepted. */
export type Command = {
  readonly seq: number;
  readonly bmc: number;
  readonly effect: 'converge' | 'once';
  readonly content: unknown;
};

export type JudgedTarget = {
  readonly node: string;
  readonly bmc: number;
  readonly rack: string;
  /** Null: the plan refused it. */
  readonly wave: number | null;
  readonly state: string;
  readonly runs: number;
  /** How often a person had it tried again. */
  readonly retries: number;
  /** Where in the rack's journal its BMC was each time before that: what follows is another attempt. */
  readonly again: readonly number[];
};

/** A bound as the API shows it: `value` is empty, a wave from 1 on, or a rack. */
export type Bound = {
  readonly scope: string;
  readonly value: string;
  readonly budget: number | null;
  readonly most: number | null;
};

type Attempt = { readonly from: number; readonly completed: number | null; readonly last: number };
type Work = {
  readonly from: number;
  readonly completed: number | null;
  readonly once: number;
  /** Between two of them nothing is done to the node, which has failed. */
  readonly attempts: readonly Attempt[];
};

/** The last command of each runbook of chaos sets the indicator, so that its journal says when a node was done. */
const completes = ({ content }: Command): boolean => /Indicator/.test(JSON.stringify(content));

const groupedBy = (commands: readonly Command[], keyOf: (command: Command) => number): Map<number, Command[]> => {
  const groups = new Map<number, Command[]>();
  for (const command of commands) groups.set(keyOf(command), [...(groups.get(keyOf(command)) ?? []), command]);
  return groups;
};

const attemptOf = (commands: readonly Command[]): Attempt => ({
  from: commands[0]!.seq,
  completed: commands.find(completes)?.seq ?? null,
  last: commands.at(-1)!.seq,
});

/** The commands of each BMC, by its number, and in which attempts they came. @param commands in the order of the rack's journal */
const workOf = (
  commands: readonly Command[],
  targets: readonly Pick<JudgedTarget, 'bmc' | 'again'>[],
): Map<number, Work> => {
  const own = groupedBy(commands, ({ bmc }) => bmc);
  return new Map(
    targets.flatMap(({ bmc, again }) => {
      const all = own.get(bmc);
      if (!all) return [];
      const attempts = groupedBy(all, ({ seq }) => again.filter((before) => seq > before).length);
      const { from, completed } = attemptOf(all);
      const once = all.filter(({ effect }) => effect === 'once').length;
      return [[bmc, { from, completed, once, attempts: [...attempts.values()].map(attemptOf) }] as const];
    }),
  );
};

type Span = { readonly from: number; readonly to: number };
/** From its first command until it was done; never, where it was not. */
const harmable = ({ from, completed }: Work): Span => ({ from, to: completed ?? Number.POSITIVE_INFINITY });
/** In each attempt from its first command until it was done, or got no more commands. */
const busy = ({ attempts }: Work): Span[] =>
  attempts.map(({ from, completed, last }) => ({ from, to: completed ?? last }));

/** How many there were at once at most. */
const peakOf = (spans: readonly Span[]): number => {
  const turns = spans.flatMap(({ from, to }) => [[from, 1] as const, [to, -1] as const]);
  turns.sort(([one, up], [other, down]) => one - other || up - down);
  let now = 0;
  let peak = 0;
  for (const [, change] of turns) {
    now += change;
    peak = Math.max(peak, now);
  }
  return peak;
};

const within = ({ scope, value }: Bound, { wave, rack }: JudgedTarget): boolean => {
  if (scope === 'total') return true;
  return scope === 'wave' ? String(wave) === value : rack === value;
};

const brokenBound = (bound: Bound, targets: readonly JudgedTarget[], works: ReadonlyMap<number, Work>): string[] => {
  const inside = targets.filter((one) => within(bound, one)).flatMap(({ bmc }) => works.get(bmc) ?? []);
  const [harm, atOnce] = [peakOf(inside.map(harmable)), peakOf(inside.flatMap(busy))];
  const of = `${bound.scope} ${bound.value}`.trim();
  return [
    ...(bound.budget !== null && harm > bound.budget
      ? [`${of}: ${harm} harmed or in danger, budget ${bound.budget}`]
      : []),
    ...(bound.most !== null && atOnce > bound.most
      ? [`${of}: ${atOnce} worked on at once, at most ${bound.most}`]
      : []),
  ];
};

/** No wave begins before all of the one before it is over; what was tried again is left out, for it may come later. */
const brokenWaves = (targets: readonly JudgedTarget[], works: ReadonlyMap<number, Work>): string[] => {
  const last = Math.max(0, ...targets.flatMap(({ wave }) => wave ?? []));
  const of = (wave: number) =>
    targets.filter((one) => one.wave === wave && one.retries === 0).flatMap(({ bmc }) => works.get(bmc) ?? []);
  return Array.from({ length: Math.max(0, last - 1) }, (_, at) => at + 2).flatMap((wave) => {
    const over = Math.max(0, ...of(wave - 1).map(({ completed }) => completed ?? 0));
    const began = Math.min(Number.POSITIVE_INFINITY, ...of(wave).map(({ from }) => from));
    return began < over ? [`wave ${wave} began before wave ${wave - 1} was over`] : [];
  });
};

const unended = ['admitted', 'soaking', 'parked', 'asked'];
const untouched = ['pending', 'skipped', 'refused'];

const wrongTarget = (target: JudgedTarget, work: Work | undefined): string[] => {
  const { node, state, runs, retries } = target;
  const says = [
    [runs > 1 + retries, `begun ${runs} times, tried again ${retries} times`],
    [(work?.once ?? 0) > 1 + retries, `its BMC was given ${work?.once} times what may be given once`],
    [unended.includes(state), `lost: it is ${state} after the end`],
    [state === 'done' && work?.completed == null, 'done, and its BMC was never given the last command'],
    [untouched.includes(state) && work !== undefined, `${state}, and its BMC was given something`],
  ] as const;
  return says.flatMap(([wrong, what]) => (wrong ? [`${node}: ${what}`] : []));
};

/** Everything that should not be; empty where all is well. */
export const judgeRollout = (
  { targets, bounds }: { readonly targets: readonly JudgedTarget[]; readonly bounds: readonly Bound[] },
  commands: readonly Command[],
): string[] => {
  const works = workOf(commands, targets);
  return [
    ...bounds.flatMap((bound) => brokenBound(bound, targets, works)),
    ...brokenWaves(targets, works),
    ...targets.flatMap((target) => wrongTarget(target, works.get(target.bmc))),
  ];
};

/**
 * Whether more of a tenant's nodes were missing at once than its disruption budget allows, whichever rollouts took them.
 * @param targets the tenant's; one that its rollout's abort has ended is back, whatever commands it got
 */
export const judgeTenant = (
  targets: readonly Pick<JudgedTarget, 'bmc' | 'state' | 'again'>[],
  limit: number,
  commands: readonly Command[],
): string[] => {
  const works = workOf(commands, targets);
  const peak = peakOf(
    targets.flatMap(({ bmc, state }) => {
      const work = works.get(bmc);
      if (!work) return [];
      return state === 'aborted' ? busy(work) : [harmable(work)];
    }),
  );
  return peak > limit ? [`disruption budget: ${peak} missing at once, at most ${limit}`] : [];
};
