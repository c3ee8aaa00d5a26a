/** What rollouts under blows came to, for people and for reports/chaos.md. */
import type { RolloutResult, TurnResult } from '.';
import type { Blown } from './blows';
import { rolloutVictims } from './blows';

/** How soon targets are begun again after a blow, at the latest. */
const againWithinS = 15;

/** All that should not be, each with the seed that leads to it. */
const wrongOf = (turns: readonly TurnResult[]): string[] =>
  turns.flatMap(({ seed, rollouts, wrong }) =>
    [...rollouts.flatMap((one) => one.wrong), ...wrong].map((what) => `seed ${seed}: ${what}`),
  );

const lateOf = (turns: readonly TurnResult[]): Blown[] =>
  turns.flatMap(({ blows }) => blows.filter(({ seconds }) => seconds !== null && seconds > againWithinS));

export const isWell = (turns: readonly TurnResult[]): boolean =>
  wrongOf(turns).length === 0 && lateOf(turns).length === 0;

const statesOf = (rollouts: readonly RolloutResult[]): Map<string, number> => {
  const states = new Map<string, number>();
  for (const one of rollouts)
    for (const [state, many] of Object.entries(one.states)) states.set(state, (states.get(state) ?? 0) + many);
  return states;
};
const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([state, many]) => `${many} ${state}`).join(', ');

const sum = (many: readonly number[]): number => many.reduce((all, one) => all + one, 0);

const spanOf = (some: readonly (number | string)[]): string => {
  const [first, last] = [some[0], some.at(-1)];
  return first === last ? `${first}` : `${first} to ${last}`;
};
const ascending = (some: readonly number[]): number[] => [...some].sort((one, other) => one - other);

/** When and with what all of it was measured; in how many minutes, where several systems at once count each for itself. */
export const measuredBy = (turns: readonly TurnResult[]): string => {
  const days = turns.map(({ at }) => at.slice(0, 10)).sort();
  const minutes = Math.ceil(sum(turns.map(({ seconds }) => seconds)) / 60);
  const racks = spanOf(ascending(turns.map(({ rack }) => rack)));
  return `${spanOf(days)}, ${turns.length} turn${turns.length === 1 ? '' : 's'} on racks of ${racks} nodes, together ${minutes} minutes, seed ${spanOf(ascending(turns.map(({ seed }) => seed)))}`;
};

export const summaryOf = (turns: readonly TurnResult[]): string => {
  const rollouts = turns.flatMap((turn) => turn.rollouts);
  const ended = new Map<string, number>();
  for (const { state } of rollouts) ended.set(state, (ended.get(state) ?? 0) + 1);
  const nodes = sum(rollouts.map((one) => one.nodes));
  const retries = sum(rollouts.map((one) => one.retries));
  return (
    `${rollouts.length} rollouts (${listed(ended)}) of ${nodes} nodes: ${listed(statesOf(rollouts))}; ${retries} tried again. ` +
    `${sum(turns.map(({ blows }) => blows.length))} blows. ${wrongOf(turns).length} oddities; ` +
    `${lateOf(turns).length} blows after which nothing was begun within ${againWithinS} s.`
  );
};

const middle = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)]!;
const seconds = (value: number | undefined): string => (value === undefined ? '' : `${value.toFixed(1)} s`);

/** One line for each kind of blow. */
export const tableOf = (turns: readonly TurnResult[]): string[] => {
  const blows = turns.flatMap((turn) => turn.blows);
  const rows = rolloutVictims.flatMap((victim) => {
    const own = blows.filter((one) => one.victim === victim);
    if (own.length === 0) return [];
    const times = own.flatMap((one) => one.seconds ?? []).sort((one, other) => one - other);
    const [mid, last] = times.length === 0 ? [] : [middle(times), times.at(-1)];
    return `| ${victim} | ${own.length} | ${times.length} | ${seconds(mid)} | ${seconds(last)} |`;
  });
  return [
    '| blow | times | with targets to begin | begun again after (median) | at the latest |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ];
};

/** What was wrong, each once; nothing where all was well. */
export const wrongList = (turns: readonly TurnResult[]): string[] => [
  ...new Set([
    ...wrongOf(turns),
    ...lateOf(turns).map(({ victim, seconds: took }) => `${victim}: begun again after ${took?.toFixed(1)} s`),
  ]),
];
