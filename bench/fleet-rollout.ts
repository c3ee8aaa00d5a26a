/** A rollout over a part of a fleet whose BMCs fail now and then, while workers are killed. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { RolloutUuid } from '../src/model/ids';
import type { Herd } from './nodes';
import { addRolloutRunbook, beginRollout, rolloutRunbook, rolloutState } from './rollouts';
import type { System } from './system';

const rolledClass = 'bench-fleet-rolled';
const atOnce = 200;
const victims = ['worker-control', 'worker-bmc-default'];

/** Of the supervisor's record: a process that was killed has another number after that. */
const pidOf = (name: string): number | undefined => {
  const { processes } = JSON.parse(readFileSync(process.env.TEMPER_SYSTEM_FILE!, 'utf8'));
  return processes.find((one: { name: string }) => one.name === name)?.pid;
};

/** Kills one worker after the other. @returns how many it has killed by then */
const killing = (everyMs: number): (() => number) => {
  let killed = 0;
  const timer = setInterval(() => {
    const pid = pidOf(victims[killed % victims.length]!);
    if (pid === undefined) return;
    process.kill(pid, 'SIGKILL');
    killed += 1;
  }, everyMs);
  return () => {
    clearInterval(timer);
    return killed;
  };
};

/** Active nodes that the runbook is approved for; that they are is written by hand. */
const prepare = async ({ sql }: System, { uuids }: Herd): Promise<void> => {
  await sql`
    update nodes set resource_class = ${rolledClass}, provision_state = 'active', traits = array[${rolloutRunbook}],
      properties = jsonb_build_object('rack', 'r' || id / 40)
    where uuid = any (${uuids as string[]}::uuid[])`;
};

/** Throws where it stops before its end. */
const ended = async (system: System, rollout: RolloutUuid): Promise<void> => {
  for (;;) {
    const { state, code } = await rolloutState(system, rollout);
    if (state === 'succeeded') return;
    if (state !== 'running') throw new Error(`the rollout of the fleet is ${state}: ${code}`);
    await pause(500);
  }
};

/** How many of a rollout's nodes came to an end, and how many of these not as they should. */
const outcome = async ({ sql }: System, rollout: RolloutUuid) => {
  const [row] = await sql<{ nodes: number; failed: number }[]>`
    select count(*) filter (where ended_at is not null)::int as nodes, count(*) filter (where state <> 'done')::int as failed
    from rollout_targets where rollout = ${rollout}`;
  return row!;
};

/** @returns also how many workers were killed */
export const rollOut = async (
  system: System,
  herd: Herd,
  killEveryMs: number,
): Promise<{ readonly nodes: number; readonly failed: number; readonly killed: number }> => {
  await addRolloutRunbook(system);
  await prepare(system, herd);
  const rollout = await beginRollout(system, rolledClass, atOnce);
  const stop = killing(killEveryMs);
  try {
    await ended(system, rollout);
  } finally {
    stop();
  }
  return { ...(await outcome(system, rollout)), killed: stop() };
};
