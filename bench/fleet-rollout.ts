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

type Rolled = {
  /** How many came to an end, and how many of them not as they should. */
  readonly nodes: number;
  readonly failed: number;
  /** From the first admission to the last, the ends of runs among them. */
  readonly begun_per_s: number;
  /** Seconds of a node from its admission to its end. */
  readonly run_p50_s: number;
  readonly run_p99_s: number;
};

const outcome = async ({ sql }: System, rollout: RolloutUuid): Promise<Rolled> => {
  const [row] = await sql<Rolled[]>`
    select count(*)::int as nodes, count(*) filter (where state <> 'done')::int as failed,
      (count(*) / extract(epoch from max(admitted_at) - min(admitted_at)))::float8 as begun_per_s,
      percentile_cont(0.5) within group (order by extract(epoch from ended_at - admitted_at))::float8 as run_p50_s,
      percentile_cont(0.99) within group (order by extract(epoch from ended_at - admitted_at))::float8 as run_p99_s
    from rollout_targets where rollout = ${rollout} and ended_at is not null`;
  return row!;
};

/** In one wave, so that no wave waits for the slowest of another. @returns also how many workers were killed */
export const rollOut = async (
  system: System,
  herd: Herd,
  killEveryMs: number,
): Promise<Rolled & { readonly killed: number }> => {
  await addRolloutRunbook(system);
  await prepare(system, herd);
  const rollout = await beginRollout(system, rolledClass, { max_in_flight: atOnce, waves: [{ rest: true }] });
  const stop = killing(killEveryMs);
  try {
    await ended(system, rollout);
  } finally {
    stop();
  }
  return { ...(await outcome(system, rollout)), killed: stop() };
};
