/** Rollouts as chance has them: how many nodes in how many racks, in which waves, within which bounds, and what is wrong with which BMC. Pure. */

/** What runs on each node: `restart` takes its power away and gives it back, `reset` resets its BMC, which must not come twice. */
export const works = {
  restart: { runbook: 'CUSTOM_CHAOS_RESTART', steps: ['management.set_boot_device', 'power.reboot'] },
  reset: { runbook: 'CUSTOM_CHAOS_RESET', steps: ['management.reset_bmc'] },
} as const;
type Work = keyof typeof works;

export type Shape = {
  readonly nodes: number;
  readonly racks: number;
  readonly work: Work;
  /** Which share of the BMCs fails for good. */
  readonly failing: number;
  /** Waves and bounds, as the API takes them. */
  readonly limits: Readonly<Record<string, unknown>>;
  /** What an operator does beside it, once. */
  readonly meddles: 'nothing' | 'pauses' | 'aborts, letting runs end' | 'aborts, ending runs';
};

/** A fault of a BMC from before its run on; null where it works. */
export type Trouble = Readonly<Record<string, unknown>> | null;

export type Random = () => number;

const pick = <T>(random: Random, many: readonly T[]): T => many[Math.floor(random() * many.length)]!;
const between = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));
const maybe = <T>(random: Random, share: number, make: () => T): T | undefined =>
  random() < share ? make() : undefined;

const auto = (wave: object) => ({ ...wave, advance: 'auto' });
const waves = [
  [{ rest: true }],
  [{ size: 1 }, { rest: true }],
  [{ size: '20%' }, { size: '40%' }, { rest: true }],
  [
    { size: 5, soak: '2s' },
    { rest: true, soak: '1s' },
  ],
].map((some) => some.map(auto));

export const sizes = { least: 50, most: 200 } as const;

/** @param most nodes that are free */
export const shapeOf = (random: Random, most: number): Shape => {
  // Small ones more often, so that several stand side by side.
  const nodes = Math.min(most, sizes.least + Math.floor((sizes.most - sizes.least) * random() ** 2));
  const inRack = (least: number, top: number) => [{ by: 'properties.rack', max: between(random, least, top) }];
  const limits = {
    waves: pick(random, waves),
    order: pick(random, ['spread', 'random', 'domain', 'name']),
    budget: {
      total: pick(random, ['10%', '20%', 12, 25, 40]),
      wave: maybe(random, 0.5, () => between(random, 6, 20)),
      each: maybe(random, 0.5, () => inRack(3, 8)),
    },
    spread: maybe(random, 0.5, () => inRack(3, 10)),
    max_in_flight: maybe(random, 0.3, () => between(random, 8, 40)),
    ramp: random() < 0.2,
  };
  return {
    nodes,
    racks: between(random, 2, 8),
    work: random() < 0.7 ? 'restart' : 'reset',
    failing: pick(random, [0.02, 0.05, 0.15, 0.3]),
    limits: JSON.parse(JSON.stringify(limits)),
    meddles: pick(random, [
      'nothing', 'nothing', 'nothing', 'pauses', 'pauses', 'aborts, letting runs end', 'aborts, ending runs',
    ]), // biome-ignore format: one row of names
  };
};

// A tenth of the BMCs misbehaves for a moment, and some for good: of one rollout more than of another.
const passing: readonly Trouble[] = [
  { kind: 'http-500', remaining: 3 },
  { kind: 'latency', ms: 700, seconds: 60 },
  { kind: 'drop-after-write', remaining: 1 },
  { kind: 'drop-before', remaining: 3 },
  { kind: 'hang', ms: 6_000, remaining: 1 },
];
const lasting: readonly Trouble[] = [
  { kind: 'password-changed', seconds: 3_600 },
  { kind: 'power-stuck', seconds: 3_600 },
];

/** @param share of BMCs that fail for good */
export const troubleOf = (random: Random, share: number): Trouble => {
  const die = random();
  if (die < share) return pick(random, lasting);
  return die < share + 0.1 ? pick(random, passing) : null;
};

/** How many nodes of the tenant may be missing at once, of its own among so many nodes of all rollouts beside each other. */
export const tenantsLimit = (random: Random, nodes: number): number =>
  between(random, Math.ceil(nodes / 30), Math.ceil(nodes / 15));
