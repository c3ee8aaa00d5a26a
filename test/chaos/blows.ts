/** What chaos does to a system, by the name that a column of its tables has. Data. */

/** Processes by the names that the supervisor gave. */
const killed = {
  'BMC worker': ['worker-bmc-default'],
  'control worker': ['worker-control'],
  API: ['api'],
  Temporal: ['temporal'],
  Postgres: ['postgres'],
  all: ['worker-bmc-default', 'worker-control', 'api', 'temporal', 'postgres'],
} as const satisfies Record<string, readonly string[]>;

/** Which are paused. Of workers there are two of each kind then, and one of them is paused; `all` are both of each. */
const paused = {
  'BMC worker': ['worker-bmc-default'],
  'control worker': ['worker-control'],
  API: ['api'],
  Temporal: ['temporal'],
  Postgres: ['postgres'],
  rack: ['rack'],
  all: [
    'worker-bmc-default',
    'worker-bmc-default-2',
    'worker-control',
    'worker-control-2',
    'api',
    'temporal',
    'postgres',
  ],
} as const satisfies Record<string, readonly string[]>;

/** Shorter and longer than a heartbeat timeout, the lease of a lane, and a minute's silence after which a worker counts as gone. */
const pauseSeconds = [10, 25, 45, 120] as const;

export type Store = 'postgres' | 'temporal';

/** A backup that is taken, and how long everything goes on after it before the next one, or before the stores are lost. */
export type Backup = { readonly of: Store; readonly thenSeconds: number };

const setBack = {
  'Postgres 5 s': [{ of: 'postgres', thenSeconds: 5 }],
  'Postgres 40 s': [{ of: 'postgres', thenSeconds: 40 }],
  'Temporal 5 s': [{ of: 'temporal', thenSeconds: 5 }],
  'Temporal 40 s': [{ of: 'temporal', thenSeconds: 40 }],
  'Postgres 15 s, Temporal 5 s': [
    { of: 'postgres', thenSeconds: 10 },
    { of: 'temporal', thenSeconds: 5 },
  ],
  'Temporal 15 s, Postgres 5 s': [
    { of: 'temporal', thenSeconds: 10 },
    { of: 'postgres', thenSeconds: 5 },
  ],
} as const satisfies Record<string, readonly Backup[]>;

export type Victim = string;

/** `column` and `tag` say where in a table its results stand. */
export type Blow = { readonly column: string; readonly tag?: string } & (
  | { readonly does: 'kill'; readonly processes: readonly string[] }
  | { readonly does: 'pause'; readonly processes: readonly string[]; readonly seconds: number }
  | { readonly does: 'lose' }
  | { readonly does: 'restore'; readonly backups: readonly Backup[] }
);

const kills = Object.entries(killed).map(([column, processes]): [Victim, Blow] => [
  column,
  { does: 'kill', column, processes },
]);
const pauses = Object.entries(paused).flatMap(([column, processes]) =>
  pauseSeconds.map((seconds): [Victim, Blow] => [
    `${column} ${seconds} s`,
    { does: 'pause', column, tag: `${seconds} s`, processes, seconds },
  ]),
);
const losses: [Victim, Blow][] = [["Temporal's store", { does: 'lose', column: "Temporal's store" }]];
const restores = Object.entries(setBack).map(([column, backups]): [Victim, Blow] => [
  column,
  { does: 'restore', column, backups },
]);

const blows: ReadonlyMap<Victim, Blow> = new Map([...kills, ...pauses, ...losses, ...restores]);

const namesOf = (some: readonly [Victim, Blow][]): readonly Victim[] => some.map(([name]) => name);
export const allKills = namesOf(kills);
export const allPauses = namesOf(pauses);
export const allLosses = namesOf(losses);
export const allRestores = namesOf(restores);

/** Throws where there is none of this name. */
export const blowOf = (victim: Victim): Blow => {
  const found = blows.get(victim);
  if (!found) throw new Error(`chaos does nothing to ${victim}; it knows ${[...blows.keys()].join(', ')}`);
  return found;
};

/** Whether what is struck holds the connections to BMCs, so that a step can be cut anywhere in it. */
export const holdsBmcs = (victim: Victim): boolean => {
  const blow = blowOf(victim);
  return !('processes' in blow) || blow.processes.some((name) => name === 'worker-bmc-default' || name === 'rack');
};
