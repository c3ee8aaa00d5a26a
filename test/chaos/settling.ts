/** Waits for many runs at once, with one question to the store at a time. */
import type { Standing, System } from './system';

export type Settling = ReturnType<typeof settlingOf>;

const everyMs = 250;

// A run that does not settle in this time is stuck: none takes half as long by itself.
const withinMs = 240_000;

type Waiting = {
  readonly run: string;
  readonly met: (standing: Standing) => boolean;
  readonly deadline: number;
  readonly go: (standing: Standing) => void;
  readonly giveUp: () => void;
};

const look = (waiting: Set<Waiting>, standings: ReadonlyMap<string, Standing>): void => {
  for (const one of [...waiting]) {
    const standing = standings.get(one.run);
    const met = standing && one.met(standing);
    if (!met && Date.now() < one.deadline) continue;
    waiting.delete(one);
    if (met) one.go(standing);
    else one.giveUp();
  }
};

/** @returns waits until a run stands as `met` says; throws when it never does */
export const settlingOf = (system: Pick<System, 'standing'>) => {
  const waiting = new Set<Waiting>();
  let looking = false;
  const lookOn = async (): Promise<void> => {
    looking = true;
    while (waiting.size > 0) {
      const runs = [...new Set([...waiting].map(({ run }) => run))];
      look(waiting, (await system.standing(runs)) ?? new Map());
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    looking = false;
  };
  return (run: string, what: string, met: (standing: Standing) => boolean): Promise<Standing> =>
    new Promise((go, reject) => {
      const giveUp = () => reject(new Error(`waited ${withinMs / 1_000} s in vain for run ${run} to ${what}`));
      waiting.add({ run, met, deadline: Date.now() + withinMs, go, giveUp });
      if (!looking) void lookOn();
    });
};
