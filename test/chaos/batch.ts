/** One blow: many nodes at as many points, one victim, and what became of each. */
import { approach, type Job, letEnd, prepareAll, type Runner, start } from './approach';
import { blowOf, type Victim } from './blows';
import { judge, type Outcome } from './judge';
import { judgeSetBack } from './set-back';
import { settlingOf } from './settling';
import type { System } from './system';

/** Those whose moment cannot be held come to it together, right before the blow. */
const lastMoments = async (system: System, runners: readonly Runner[]): Promise<void> => {
  const fresh = runners.filter(({ point, place }) => point.kind === 'accepted' && place === 'waits');
  const ending = runners.filter(({ point, place }) => point.kind === 'ends' && place === 'there');
  await Promise.all([letEnd(system, ending), startNow(system, fresh)]);
};

const startNow = async (system: System, runners: readonly Runner[]): Promise<void> => {
  await Promise.all(runners.map((runner) => start(system, runner)));
  for (const runner of runners) if (runner.place === 'runs') runner.place = 'there';
};

const unheld = ['accepted', 'later'];

/** Runs the jobs to their points, strikes, and answers with an outcome for each, in their order. */
export const runBatch = async (
  system: System,
  victim: Victim,
  jobs: readonly Job[],
  { note, say }: { readonly note: (what: string) => void; readonly say: (line: string) => void },
): Promise<Map<Job, Outcome>> => {
  const runners = await prepareAll(system, jobs);
  const byJob = new Map(runners.map((runner) => [runner.bmc.index, runner]));
  note('prepared');
  await approach(
    system,
    runners.filter(({ point, place }) => !unheld.includes(point.kind) && place === 'waits'),
  );
  await lastMoments(system, runners);
  note(`${runners.filter(({ place }) => place === 'there').length} there`);
  const since = Date.now();
  await system.strike(victim, {
    open: async () => void (await Promise.all(runners.map(({ bmc }) => system.rack.openGate(bmc.index)))),
    later: () =>
      startNow(
        system,
        runners.filter(({ point, place }) => point.kind === 'later' && place === 'waits'),
      ),
    note,
    say,
  });
  note('back');
  const outcomes = new Map<Job, Outcome>();
  const court = { system, settling: settlingOf(system) };
  const judging = blowOf(victim).does === 'restore' ? judgeSetBack : judge;
  await Promise.all(jobs.map(async (job) => outcomes.set(job, await judging(court, byJob.get(job.bmc.index)!, since))));
  note('judged');
  return outcomes;
};
