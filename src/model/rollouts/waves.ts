/** Waves: their sizes, and the order of nodes. */
import { sha256Of } from '../digests';
import { type Amount, shareOf } from './amounts';
import { byDomain, type SelectedNode } from './domains';
import type { Gate } from './gates';

/** Opened by a caller or by the end of the previous one. */
export type WaveSpec = {
  readonly size: Amount | 'rest';
  readonly advance: 'manual' | 'auto';
  readonly soak_ms: number;
  /** Checked when the wave is over. */
  readonly gate?: Gate;
};

export const targetOrders = ['spread', 'random', 'domain', 'name'] as const;
export type TargetOrder = (typeof targetOrders)[number];

/**
 * Sums sizes before rounding, so that a small percentage of few nodes still gives nodes.
 * @returns the sizes, or the fault: an empty wave, or nodes without a wave
 */
export const waveSizes = (
  waves: readonly Pick<WaveSpec, 'size'>[],
  all: number,
): { readonly sizes: number[] } | { readonly fault: string } => {
  let wanted = 0;
  let begun = 0;
  const sizes: number[] = [];
  for (const [index, { size }] of waves.entries()) {
    wanted += size === 'rest' ? all : shareOf(size, all);
    const until = Math.min(all, Math.round(wanted));
    if (until <= begun)
      return {
        fault: `wave ${index + 1} would be empty: ${all} ${all === 1 ? 'node' : 'nodes'} would run, and ${begun} ${begun === 1 ? 'is' : 'are'} in waves before it`,
      };
    sizes.push(until - begun);
    begun = until;
  }
  if (begun < all) return { fault: `${all - begun} of ${all} nodes are in no wave; end with {"rest": true}` };
  return { sizes };
};

const selectedName = ({ name, uuid }: SelectedNode): string => name ?? uuid;
const numbered = new Intl.Collator('en', { numeric: true });
const byName = (one: SelectedNode, other: SelectedNode): number =>
  numbered.compare(selectedName(one), selectedName(other)) || (one.uuid < other.uuid ? -1 : 1);

const lot = (seed: string, { uuid }: Pick<SelectedNode, 'uuid'>): string => sha256Of(`${seed}/${uuid}`);

/** The same seed and nodes give the same order. */
const shuffled = <Node extends Pick<SelectedNode, 'uuid'>>(nodes: readonly Node[], seed: string): Node[] =>
  nodes
    .map((node) => ({ node, lot: lot(seed, node) }))
    .sort((one, other) => (one.lot < other.lot ? -1 : 1))
    .map(({ node }) => node);

const roundRobin = <Node>(groups: readonly (readonly Node[])[]): Node[] => {
  const longest = groups.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, place) => groups.flatMap((group) => group.slice(place, place + 1))).flat();
};

/**
 * `spread` alternates between domains, `domain` completes one before the next, `random` uses the seed, `name` compares numbers by value.
 */
export const inOrder = <Node extends SelectedNode>(
  nodes: readonly Node[],
  { order, by, seed }: { readonly order: TargetOrder; readonly by?: string; readonly seed: string },
): Node[] => {
  if (order === 'random') return shuffled(nodes, seed);
  const named = [...nodes].sort(byName);
  if (order === 'name' || by === undefined) return named;
  const groups = [...byDomain(named, by)]
    .sort(([one], [other]) => numbered.compare(one, other))
    .map(([, group]) => group);
  return order === 'domain' ? groups.flat() : roundRobin(groups);
};

/** Chosen by the seed. */
export const sampleOf = <Node extends Pick<SelectedNode, 'uuid'>>(
  nodes: readonly Node[],
  many: number,
  seed: string,
): Node[] => shuffled(nodes, `sample/${seed}`).slice(0, many);
