/** Blow after blow while rollouts are under way, and how long after each one the next target is begun. */
import { setTimeout as sleep } from 'node:timers/promises';
import { allKills, allPauses, type Victim } from '../blows';
import { shuffled } from '../random';
import type { System } from '../system';
import type { Random } from './shapes';

export type Blown = {
  readonly victim: Victim;
  /** From the moment at which all processes run again to the next admission; null where none was to be expected. */
  readonly seconds: number | null;
};

// The longest that a lease or a heartbeat of theirs lasts is a few seconds; single runs are paused for longer elsewhere.
const longPauses: readonly Victim[] = ['control worker 25 s', 'BMC worker 25 s', 'Postgres 25 s', 'all 25 s'];

/** Kills of each process, and pauses. */
export const rolloutVictims: readonly Victim[] = [
  ...allKills,
  ...allPauses.filter((victim) => victim.endsWith(' 10 s') || longPauses.includes(victim)),
];

const lookEveryMs = 200;
const givenUpAfterMs = 60_000;
const roomWithinMs = 10_000;

const answered = <T>(ask: () => Promise<T>): Promise<T | undefined> => ask().catch(() => undefined);

/**
 * Seconds until the next admission after `back`, or after the first target had room since; null where none has room for a while,
 * or the rollouts are over.
 */
const admissionAfter = async (
  { store }: System,
  { rollouts, over }: { readonly rollouts: readonly string[]; readonly over: () => boolean },
  back: number,
): Promise<number | null> => {
  // Since when a target has room, as far as is known; the last time at which none had.
  let since: number | null = back;
  let without = back;
  while (!over()) {
    const now = Date.now();
    const at = await answered(() => store.begunAfter(rollouts, back));
    if (at !== undefined) return Math.max(0, at - (since ?? without)) / 1_000;
    const able = await answered(() => store.able(rollouts));
    if (able?.length === 0) [since, without] = [null, now];
    else if (able) since ??= without;
    if (since === null && now - back > roomWithinMs) return null;
    if (since !== null && now - since > givenUpAfterMs) return givenUpAfterMs / 1_000;
    await sleep(lookEveryMs);
  }
  return null;
};

/** Strikes until `over`, with pauses of some seconds in between. @returns what each blow came to */
export const strikeUntil = async (
  system: System,
  {
    rollouts,
    over,
    random,
    say,
  }: {
    readonly rollouts: readonly string[];
    readonly over: () => boolean;
    readonly random: Random;
    readonly say: (line: string) => void;
  },
): Promise<Blown[]> => {
  const blown: Blown[] = [];
  let left: Victim[] = [];
  for (;;) {
    for (const until = Date.now() + 3_000 + random() * 7_000; Date.now() < until && !over(); ) await sleep(lookEveryMs);
    if (over()) return blown;
    if (left.length === 0) left = shuffled(rolloutVictims, random);
    const victim = left.shift()!;
    const nothing = async () => {};
    await system.strike(victim, { open: nothing, later: nothing, note: () => {}, say });
    const seconds = await admissionAfter(system, { rollouts, over }, Date.now());
    blown.push({ victim, seconds });
    say(`  ${victim}: ${seconds === null ? 'nothing was to be begun' : `begun again after ${seconds.toFixed(1)} s`}`);
  }
};
