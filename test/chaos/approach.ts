/** Brings many runs to their kill points and holds them there, all at the same time. */

import pLimit from 'p-limit';
import type { RackBmc } from '../../demo/system';
import type { GateLook } from '../../emulator/agent/gate';
import { type Mark, markOf } from './journals';
import { begin, prepare } from './nodes';
import { type Point, standsAt } from './points';
import type { Reference } from './reference';
import type { System } from './system';
import { until } from './until';
import type { ChaosVerb } from './verbs';

/** One node on its way to one kill point. */
export type Job = {
  readonly bmc: RackBmc;
  readonly verb: ChaosVerb;
  readonly point: Point;
  readonly reference: Reference;
};

/** `there`: held at its point. `missed`: it ended, or stopped, before. */
export type Runner = Job & {
  readonly mark: Mark;
  run: string | null;
  place: 'waits' | 'runs' | 'there' | 'missed';
  /** What kept it from starting. */
  trouble?: string;
};

const approachWithinMs = 150_000;
const lookEveryMs = 50;
const preparedAtOnce = 24;

/** Work on many things, so many at a time. */
export const inTurns = async <T>(
  many: readonly T[],
  atOnce: number,
  work: (one: T) => Promise<void>,
): Promise<void> => {
  const limit = pLimit(atOnce);
  await Promise.all(many.map((one) => limit(work, one)));
};

const prepared = async (system: System, job: Job): Promise<Runner> => {
  await prepare(system, job.bmc, job.verb);
  const mark = await markOf(system, job.bmc);
  await system.rack.setGate(job.bmc.index, job.point.gate);
  return { ...job, mark, run: null, place: 'waits' };
};

/** All nodes ready to begin. */
export const prepareAll = async (system: System, jobs: readonly Job[]): Promise<Runner[]> => {
  const runners: Runner[] = [];
  await inTurns(jobs, preparedAtOnce, async (job) => {
    const runner = await prepared(system, job).catch(
      (error: Error): Runner => ({
        ...job,
        mark: { written: 0, ordered: 0 },
        run: null,
        place: 'missed',
        trouble: error.message,
      }),
    );
    runners.push(runner);
  });
  return runners;
};

export const start = async (system: System, runner: Runner): Promise<void> => {
  runner.place = 'runs';
  try {
    runner.run = await begin(system, runner.bmc, runner.verb);
  } catch (error) {
    runner.place = 'missed';
    runner.trouble = (error as Error).message;
  }
};

/** No worker is held for longer than need be: those with a short way begin when the others have no longer one before them. */
const startDue = (system: System, runners: readonly Runner[], gates: readonly GateLook[]): void => {
  const waiting = runners.filter(({ place }) => place === 'waits').sort((a, b) => b.point.depth - a.point.depth);
  const left = runners
    .filter(({ place }) => place === 'runs')
    .map(({ bmc, point }) => point.depth - (gates[bmc.index]?.passed ?? 0));
  const front = Math.max(waiting[0]?.point.depth ?? 0, ...left);
  for (const runner of waiting) if (runner.point.depth >= front) void start(system, runner);
};

const lookAt = async (system: System, runner: Runner, gate: GateLook, standing: Standings): Promise<void> => {
  const where = runner.run ? standing.get(runner.run) : undefined;
  if (!where) return;
  if (standsAt(runner.point, gate, where)) runner.place = 'there';
  else if (where.finished_at || where.state === 'parked') {
    runner.place = 'missed';
    runner.trouble = `the run was ${where.state} before: ${where.last_error ?? where.step_error}`;
  } else if (gate.held.length > 0) await system.rack.stepGate(runner.bmc.index);
};
type Standings = NonNullable<Awaited<ReturnType<System['standing']>>>;

/** Starts runners and walks them through their gates until each is there, or has missed its point. */
export const approach = async (system: System, runners: readonly Runner[]): Promise<void> => {
  const deadline = Date.now() + approachWithinMs;
  const open = () => runners.filter(({ place }) => place === 'waits' || place === 'runs');
  while (open().length > 0 && Date.now() < deadline) {
    // The gates first: what is held then has been begun, so that the store knows of it.
    const gates = await system.rack.gates();
    startDue(system, runners, gates);
    const going = runners.filter(({ place, run }) => place === 'runs' && run);
    const standing = await system.standing(going.map(({ run }) => run!));
    if (standing) await Promise.all(going.map((one) => lookAt(system, one, gates[one.bmc.index]!, standing)));
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  for (const runner of open()) Object.assign(runner, { place: 'missed', trouble: 'it did not come there in time' });
};

/** Runs that are to be hit as they end are let go, and waited for until their last step is done. */
export const letEnd = async (system: System, runners: readonly Runner[]): Promise<void> => {
  if (runners.length === 0) return;
  await Promise.all(runners.map(({ bmc }) => system.rack.openGate(bmc.index)));
  await until(
    'the last steps to be done',
    async () => {
      const standing = await system.standing(runners.map(({ run }) => run!));
      return standing && runners.every(({ run }) => ['done', null].includes(standing.get(run!)?.step_state ?? null));
    },
    { everyMs: 10 },
  );
};
