/** The layout of a plan: each node's wave, and counters that limit harmed and concurrent nodes. */
import { type Amount, boundOf } from './amounts';
import { byDomain, domainOf, type SelectedNode } from './domains';
import { inOrder, type TargetOrder, type WaveSpec, waveSizes } from './waves';

type DomainBound = { readonly by: string; readonly max: Amount };

/** Fixed with the plan. */
export type Limits = {
  readonly waves: readonly WaveSpec[];
  readonly order: TargetOrder;
  /** Concurrent nodes of a domain. */
  readonly spread: readonly DomainBound[];
  /** Nodes that may be harmed. */
  readonly budget: {
    /**
     * `strict`: nodes that may still fail count as failed. `stop`: only failed nodes count, and the rollout ends when the budget is
     * spent.
     */
    readonly mode?: 'strict' | 'stop';
    readonly total: Amount;
    readonly wave?: Amount;
    readonly each: readonly DomainBound[];
  };
  /** Power interruptions of a domain's nodes in a minute. */
  readonly power_starts_per_minute?: readonly DomainBound[];
  readonly max_in_flight?: Amount;
  /** Doubles the concurrency from one while nothing fails. */
  readonly ramp: boolean;
  /** After this many skips the rollout waits for an operator. */
  readonly max_skipped?: Amount;
};

/** A row of rollout_counters at the beginning. */
export type Counter = {
  readonly number: number;
  readonly scope: string;
  readonly value: string;
  readonly budget: number | null;
  readonly most: number | null;
  /** Starts per minute of nodes with a power interruption. */
  readonly per_minute: number | null;
};

export type Placed<Node> = { readonly node: Node; readonly wave: number; readonly counters: readonly number[] };

export type Layout<Node> = {
  readonly sizes: readonly number[];
  readonly targets: readonly Placed<Node>[];
  readonly counters: readonly Counter[];
};

const smaller = (one: number | null, other: number): number => (one === null ? other : Math.min(one, other));

const domainCounters = (
  nodes: readonly SelectedNode[],
  by: string,
  { spread, budget, power_starts_per_minute: starts = [] }: Limits,
): Omit<Counter, 'number'>[] =>
  [...byDomain(nodes, by)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([value, { length }]) => {
      const least = (bounds: readonly DomainBound[]): number | null =>
        bounds
          .filter((bound) => bound.by === by)
          .reduce<number | null>((now, { max }) => smaller(now, boundOf(max, length)), null);
      return { scope: by, value, budget: least(budget.each), most: least(spread), per_minute: least(starts) };
    });

const countersOf = (nodes: readonly SelectedNode[], sizes: readonly number[], limits: Limits): Counter[] => {
  const { budget, max_in_flight, ramp, spread, power_starts_per_minute: starts = [] } = limits;
  const total = budget.mode === 'stop' ? null : boundOf(budget.total, nodes.length);
  const most = max_in_flight === undefined ? null : boundOf(max_in_flight, nodes.length);
  const domains = [...new Set([...spread, ...budget.each, ...starts].map(({ by }) => by))].sort();
  return [
    { scope: 'total', value: '', budget: total, most: ramp ? 1 : most, per_minute: null },
    ...sizes.map((size, wave) => ({
      scope: 'wave',
      value: String(wave),
      budget: budget.wave === undefined ? null : boundOf(budget.wave, size),
      most: null,
      per_minute: null,
    })),
    ...domains.flatMap((by) => domainCounters(nodes, by, limits)),
  ].map((counter, index) => ({ number: index + 1, ...counter }));
};

const waveOf = (sizes: readonly number[]): number[] => sizes.flatMap((size, wave) => Array<number>(size).fill(wave));

/** @returns the layout, or the fault of the waves */
export const layOut = <Node extends SelectedNode>(
  nodes: readonly Node[],
  limits: Limits,
  seed: string,
): Layout<Node> | { readonly fault: string } => {
  const sized = waveSizes(limits.waves, nodes.length);
  if ('fault' in sized) return sized;
  const by = limits.spread[0]?.by ?? limits.budget.each[0]?.by;
  const ordered = inOrder(nodes, { order: limits.order, by, seed });
  const counters = countersOf(nodes, sized.sizes, limits);
  const numbers = new Map(counters.map(({ scope, value, number }) => [`${scope}\n${value}`, number]));
  const domains = [...new Set(counters.map(({ scope }) => scope))].filter(
    (scope) => scope !== 'total' && scope !== 'wave',
  );
  const waves = waveOf(sized.sizes);
  const targets = ordered.map((node, place) => ({
    node,
    wave: waves[place]!,
    counters: [
      numbers.get('total\n')!,
      numbers.get(`wave\n${waves[place]}`)!,
      ...domains.map((scope) => numbers.get(`${scope}\n${domainOf(node, scope)}`)!),
    ],
  }));
  return { sizes: sized.sizes, targets, counters };
};

/** The largest number of nodes of one domain in one wave, for each kind of domain. */
export const worstWaves = (targets: readonly Placed<SelectedNode>[], domains: readonly string[]) =>
  domains.map((by) => {
    const counts = new Map<string, { readonly wave: number; readonly value: string; nodes: number }>();
    for (const { node, wave } of targets) {
      const value = domainOf(node, by);
      const key = `${wave}\n${value}`;
      const counted = counts.get(key) ?? { wave, value, nodes: 0 };
      counted.nodes++;
      counts.set(key, counted);
    }
    const [worst] = [...counts.values()].sort((one, other) => other.nodes - one.nodes || one.wave - other.wave);
    return { by, ...worst! };
  });
