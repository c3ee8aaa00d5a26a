/** One kill: many nodes at as many points, one victim, and what became of each. */
import { approach, type Job, letEnd, prepareAll, type Runner, start } from './approach';
import { judge, type Outcome } from './judge';
import { settlingOf } from './settling';
import type { System, Victim } from './system';

/** Those whose moment cannot be held come to it together, right before the kill. */
const lastMoments = async (system: System, runners: readonly Runner[]): Promise<void> => {
  const fresh = runners.filter(({ point, place }) => point.kind === 'accepted' && place === 'waits');
  const ending = runners.filter(({ point, place }) => point.kind === 'ends' && place === 'there');
  await Promise.all([letEnd(system, ending), ...fresh.map((runner) => start(system, runner))]);
  for (const runner of fresh) if (runner.place === 'runs') runner.place = 'there';
};

/** Runs the jobs to their points, kills, and answers with an outcome for each, in their order. */
export const runBatch = async (
  system: System,
  victim: Victim,
  jobs: readonly Job[],
  note: (what: string) => void = () => {},
): Promise<Map<Job, Outcome>> => {
  const runners = await prepareAll(system, jobs);
  const byJob = new Map(runners.map((runner) => [runner.bmc.index, runner]));
  note('prepared');
  await approach(
    system,
    runners.filter(({ point, place }) => point.kind !== 'accepted' && place === 'waits'),
  );
  await lastMoments(system, runners);
  note(`${runners.filter(({ place }) => place === 'there').length} there`);
  const since = Date.now();
  const back = system.strike(victim);
  await Promise.all(runners.map(({ bmc }) => system.rack.openGate(bmc.index)));
  await back();
  note('back');
  const outcomes = new Map<Job, Outcome>();
  const court = { system, settling: settlingOf(system) };
  await Promise.all(jobs.map(async (job) => outcomes.set(job, await judge(court, byJob.get(job.bmc.index)!, since))));
  note('judged');
  return outcomes;
};
