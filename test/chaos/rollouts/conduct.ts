/** One rollout as a person conducts it: planned, started, looked at, put right where it stops, until it is over. */
import type { Json } from '../../../demo/system';
import type { System } from '../system';
import type { Bound, JudgedTarget } from './judge';
import { type Member, mend } from './nodes';
import { type Shape, works } from './shapes';

export type Conducted = {
  readonly state: string;
  readonly targets: readonly JudgedTarget[];
  readonly bounds: readonly Bound[];
  readonly seconds: number;
  /** What should not have been, beside what the rack says. */
  readonly oddities: readonly string[];
};

const lookEveryMs = 1_000;
// Longer than any blow, and than the waits for what a tenant's budget lets go on.
const stillMs = 60_000;
// Its own word is all that a target waits for: nothing comes of waiting longer than a blow lasts.
const tenantStillMs = 30_000;
// Where little may be worked on at once it takes its time: a person has no patience for all of it.
const patienceMs = 300_000;
const endsWithinMs = 900_000;
const mended = 4;
const mostRounds = 2;

type Conducting = {
  readonly system: System;
  readonly path: string;
  readonly members: ReadonlyMap<string, Member>;
  /** By node, where the journal of its BMC was each time before it was tried again. */
  readonly retries: Map<string, number[]>;
  readonly oddities: string[];
  meddles: Shape['meddles'];
  /** Since when nothing has changed, and what was seen then. */
  still: { since: number; seen: string };
  rounds: number;
};

const because = { reason: 'chaos' };

/** Throws where the plan is refused, or leaves nodes out. */
const planned = async (
  { operator }: System,
  { limits, work, nodes }: Shape,
  names: readonly string[],
): Promise<Json> => {
  const made = await operator.must('POST', '/temper/v1/rollouts', {
    ...limits,
    verb: 'clean',
    runbook: works[work].runbook,
    select: { nodes: names },
  });
  if (made.summary.will_run !== nodes)
    throw new Error(`${made.summary.will_run} of ${nodes} would run: ${JSON.stringify(made.summary.refused)}`);
  return made;
};

const targetsOf = async ({ system: { operator }, path }: Conducting): Promise<Json[]> =>
  (await operator.must('GET', `${path}/targets?limit=1000`)).targets;

/** What asked for a decision is decided: the machine was looked at, and the step is left out. */
const decide = async ({ system: { operator } }: Conducting, parked: readonly Json[]): Promise<void> => {
  for (const { run } of parked) await operator.ask('POST', `/temper/v1/runs/${run}/skip`, because);
};

/** The first failed nodes are put right and tried again; a rollout that stops once more is over. */
const again = async (conducting: Conducting): Promise<void> => {
  const { system, path, members, retries } = conducting;
  const failed = (await targetsOf(conducting)).filter(({ state }) => state === 'failed').slice(0, mended);
  conducting.rounds++;
  if (conducting.rounds > mostRounds || failed.length === 0)
    return void (await system.operator.ask('POST', `${path}/abort`, { ...because, running: 'finish' }));
  for (const { node_name, node_uuid } of failed) {
    await mend(system, members.get(node_name)!.bmc);
    const before = (await system.rack.written(members.get(node_name)!.bmc.index)).at(-1)?.seq ?? 0;
    retries.set(node_uuid, [...(retries.get(node_uuid) ?? []), before]);
    await system.operator.ask('POST', `${path}/targets/${node_uuid}/retry`, because);
  }
  await system.operator.ask('POST', `${path}/resume`, because);
};

const meddle = async (conducting: Conducting, { state, states }: Json): Promise<void> => {
  const { meddles, path, system } = conducting;
  if (meddles === 'nothing' || state !== 'running' || (states.done ?? 0) < 15) return;
  conducting.meddles = 'nothing';
  if (meddles === 'pauses') {
    await system.operator.ask('POST', `${path}/pause`, because);
    return void (await system.operator.ask('POST', `${path}/resume`, because));
  }
  const running = meddles === 'aborts, ending runs' ? 'abort' : 'finish';
  await system.operator.ask('POST', `${path}/abort`, { ...because, running });
};

const underWay = ({ states }: Json): number => (states.admitted ?? 0) + (states.soaking ?? 0) + (states.parked ?? 0);

/** Whether all that is to come of the wave is the tenant's, whose budget is spent by nodes that have failed. */
const waitsForTenant = async (conducting: Conducting): Promise<boolean> => {
  const left = (await targetsOf(conducting)).filter(({ state }) => state === 'pending');
  const wave = Math.min(...left.map((one) => one.wave));
  return left.filter((one) => one.wave === wave).every(({ node_name }) => conducting.members.get(node_name)!.tenant);
};

/** What is done about a rollout that stands as it does. @returns whether it is over */
const tended = async (conducting: Conducting, now: Json): Promise<boolean> => {
  const { system, path, oddities } = conducting;
  if (now.states.parked)
    await decide(
      conducting,
      (await targetsOf(conducting)).filter(({ state }) => state === 'parked'),
    );
  if (now.state === 'succeeded' || now.state === 'aborted') return underWay(now) === 0;
  await meddle(conducting, now);
  // What still runs may fail as well: it is looked at together.
  if (now.state === 'paused' && underWay(now) === 0) {
    if (now.code === 'budget_spent') await again(conducting);
    else {
      if (now.code !== 'operator') oddities.push(`paused: ${now.code}: ${now.reason}`);
      await system.operator.ask('POST', `${path}/resume`, because);
    }
  }
  const seen = JSON.stringify([now.state, now.states, now.wave]);
  if (seen !== conducting.still.seen) conducting.still = { since: Date.now(), seen };
  // A run on a BMC that fails for good takes its time; others of its wave, or all after it, wait for it rightly.
  const stillFor = Date.now() - conducting.still.since;
  if (underWay(now) === 0 && stillFor > tenantStillMs) {
    if (!(await waitsForTenant(conducting))) {
      if (stillFor <= stillMs) return false;
      oddities.push(`stood still: ${seen}`);
    }
    await system.operator.ask('POST', `${path}/abort`, { ...because, running: 'finish' });
    conducting.still = { since: Date.now(), seen: '' };
  }
  return false;
};

const judgedOf = (
  conducting: Conducting,
  targets: readonly Json[],
  runs: ReadonlyMap<string, number>,
): JudgedTarget[] =>
  targets.map(({ node_uuid, node_name, wave, state }) => {
    const { bmc, rack } = conducting.members.get(node_name)!;
    const again = conducting.retries.get(node_uuid) ?? [];
    const { length: retries } = again;
    return { node: node_name, bmc: bmc.index, rack, wave, state, runs: runs.get(node_uuid) ?? 0, retries, again };
  });

/** Plans a rollout and starts it. @returns its id, and what conducts it until it is over */
export const begin = async (
  system: System,
  shape: Shape,
  members: readonly Member[],
): Promise<{ readonly rollout: string; readonly conduct: () => Promise<Conducted> }> => {
  const made = await planned(
    system,
    shape,
    members.map(({ bmc }) => bmc.name),
  );
  const path = `/temper/v1/rollouts/${made.uuid}`;
  const began = Date.now();
  await system.operator.must('POST', `${path}/start`, { ...because, plan_hash: made.plan_hash });
  const conducting: Conducting = {
    system,
    path,
    members: new Map(members.map((member) => [member.bmc.name, member])),
    retries: new Map(),
    oddities: [],
    meddles: shape.meddles,
    still: { since: began, seen: '' },
    rounds: 0,
  };
  const conduct = async (): Promise<Conducted> => {
    let impatient = false;
    for (;;) {
      const now = await system.operator.must('GET', path);
      if (await tended(conducting, now)) break;
      if (!impatient && Date.now() - began > patienceMs) {
        impatient = true;
        await system.operator.ask('POST', `${path}/abort`, { ...because, running: 'finish' });
      }
      if (Date.now() - began > endsWithinMs) {
        conducting.oddities.push(`did not end in ${endsWithinMs / 1_000} s`);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
    const seconds = (Date.now() - began) / 1_000;
    const [last, targets, runs] = await Promise.all([
      system.operator.must('GET', path),
      targetsOf(conducting),
      system.store.runsOf(made.uuid),
    ]);
    const { state, counters } = last;
    return {
      state,
      targets: judgedOf(conducting, targets, runs),
      bounds: counters,
      seconds,
      oddities: conducting.oddities,
    };
  };
  return { rollout: made.uuid, conduct };
};
