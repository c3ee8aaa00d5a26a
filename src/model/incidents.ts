/** Incidents: nodes whose faults began together, and that share a possible cause. */

type SharingRow = {
  /** If this part of all nodes that share it is faulty, it explains the faults. */
  readonly part: number;
  readonly fewest: number;
  /** The fewest nodes are an incident, however many others are well. */
  readonly close?: true;
};

/** The most of an answer: faults that are grouped, the newest of all; incidents; nodes of one that are named. */
export const mostIncidents = { faults: 5_000, incidents: 50, nodes: 20 } as const;

/** Properties and fields that nodes may share, the most specific first. */
const sharings = {
  rack: { part: 0.5, fewest: 2, close: true },
  power_feed: { part: 0.5, fewest: 2, close: true },
  conductor_group: { part: 0.8, fewest: 5 },
  driver: { part: 0.8, fewest: 5 },
} as const satisfies Readonly<Record<string, SharingRow>>;
export type Sharing = keyof typeof sharings;
export const sharingNames = Object.keys(sharings) as readonly Sharing[];

export type Shared = Readonly<Record<Sharing, string | null>>;

/** `since` in epoch milliseconds. */
export type Faulty = Shared & { readonly uuid: string; readonly since: number };

/** Number of nodes, well or not, that share this much. */
export type Population = Shared & { readonly nodes: number };

export type Incident<Node extends Faulty> = {
  /** Common to all its nodes. Empty for an incident of one node. */
  readonly shares: Partial<Shared>;
  /** In the order in which their faults began. */
  readonly nodes: readonly Node[];
};

const inOrder = (one: Faulty, other: Faulty): number => one.since - other.since || (one.uuid < other.uuid ? -1 : 1);

/** Splits where no fault began for longer than the gap. @param nodes in order */
const stretches = <Node extends Faulty>(nodes: readonly Node[], gapMs: number): Node[][] => {
  const found: Node[][] = [];
  for (const node of nodes) {
    const last = found.at(-1);
    if (last && node.since - last.at(-1)!.since <= gapMs) last.push(node);
    else found.push([node]);
  }
  return found;
};

const sharedKey = (by: Sharing, value: string): string => `${by} ${value}`;

const populationsOf = (populations: readonly Population[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const population of populations)
    for (const by of sharingNames) {
      const value = population[by];
      if (value !== null) counts.set(sharedKey(by, value), (counts.get(sharedKey(by, value)) ?? 0) + population.nodes);
    }
  return counts;
};

type IncidentCandidate<Node> = { readonly by: Sharing; readonly all: number; readonly nodes: readonly Node[] };

const candidatesOf = <Node extends Faulty>(
  faults: readonly Node[],
  counts: ReadonlyMap<string, number>,
  gapMs: number,
): IncidentCandidate<Node>[] =>
  sharingNames.flatMap((by) => {
    const groups = new Map<string, Node[]>();
    for (const node of faults) {
      const value = node[by];
      if (value !== null)
        groups
          .set(value, groups.get(value) ?? [])
          .get(value)!
          .push(node);
    }
    return [...groups].flatMap(([value, nodes]) =>
      stretches(nodes, gapMs)
        .filter((stretch) => stretch.length >= sharings[by].fewest)
        .map((stretch) => ({ by, all: counts.get(sharedKey(by, value)) ?? stretch.length, nodes: stretch })),
    );
  });

const explains = <Node>({ by, all }: IncidentCandidate<Node>, nodes: readonly Node[]): boolean =>
  nodes.length >= sharings[by].part * all;

const isClose = (by: Sharing): boolean => 'close' in sharings[by];

/** The largest candidate that explains its faults comes first. Of two equal ones, it is the more specific one. */
const ranked = <Node extends Faulty>(candidates: readonly IncidentCandidate<Node>[]): IncidentCandidate<Node>[] => {
  const weight = (one: IncidentCandidate<Node>): number => Number(explains(one, one.nodes));
  return candidates.toSorted(
    (one, other) =>
      weight(other) - weight(one) ||
      other.nodes.length - one.nodes.length ||
      sharingNames.indexOf(one.by) - sharingNames.indexOf(other.by) ||
      inOrder(one.nodes[0]!, other.nodes[0]!),
  );
};

const sharedBy = (nodes: readonly Faulty[]): Partial<Shared> =>
  Object.fromEntries(
    sharingNames.flatMap((by) => {
      const value = nodes[0]![by];
      return value !== null && nodes.every((node) => node[by] === value) ? [[by, value]] : [];
    }),
  );

/**
 * Puts each faulty node into one incident, the largest first. The order of the input does not matter.
 * @param populations of all nodes, well or not
 * @param gapMs the longest time between two faults of one incident
 */
export const incidentsOf = <Node extends Faulty>(
  faults: readonly Node[],
  populations: readonly Population[],
  gapMs: number,
): Incident<Node>[] => {
  const left = new Set(faults.toSorted(inOrder));
  const incidents: Incident<Node>[] = [];
  for (const candidate of ranked(candidatesOf([...left], populationsOf(populations), gapMs))) {
    const free = candidate.nodes.filter((node) => left.has(node));
    for (const nodes of stretches(free, gapMs)) {
      if (nodes.length < sharings[candidate.by].fewest || !(isClose(candidate.by) || explains(candidate, nodes)))
        continue;
      for (const node of nodes) left.delete(node);
      incidents.push({ shares: sharedBy(nodes), nodes });
    }
  }
  for (const node of left) incidents.push({ shares: {}, nodes: [node] });
  return incidents.toSorted(
    (one, other) => other.nodes.length - one.nodes.length || inOrder(other.nodes[0]!, one.nodes[0]!),
  );
};
