/** `npm run chaos -- --rollouts`: many rollouts on the rack while every process is killed and paused, judged by the rack's own journal. */
import type { Person } from '../../../demo/system';
import { randomOf, shuffled } from '../random';
import type { System } from '../system';
import { type Blown, strikeUntil } from './blows';
import { begin, type Conducted } from './conduct';
import { type Command, judgeRollout, judgeTenant } from './judge';
import { type Member, prepareMembers, writeRunbooks } from './nodes';
import { type Random, type Shape, shapeOf, sizes, tenantsLimit, troubleOf } from './shapes';

export type RolloutResult = {
  readonly seed: number;
  readonly nodes: number;
  readonly work: Shape['work'];
  readonly state: string;
  /** How many targets ended in which state. */
  readonly states: Readonly<Record<string, number>>;
  readonly retries: number;
  readonly seconds: number;
  readonly wrong: readonly string[];
};
/** Rollouts that stood side by side on one rack, the blows that fell on them, and what was wrong with all of them together. */
export type TurnResult = {
  readonly seed: number;
  /** ISO 8601, when it began, its preparation included. */
  readonly at: string;
  readonly seconds: number;
  /** How many nodes the rack had. */
  readonly rack: number;
  readonly rollouts: readonly RolloutResult[];
  readonly blows: readonly Blown[];
  readonly wrong: readonly string[];
};

const fewestAtOnce = 2;

/** Shapes until the rack is full, or enough. */
const shapesFor = (random: Random, free: number, wanted: number): Shape[] => {
  const shapes: Shape[] = [];
  for (let left = free; left >= sizes.least && shapes.length < wanted; ) {
    const shape = shapeOf(
      random,
      shapes.length < fewestAtOnce - 1 ? Math.min(left, Math.floor(free / fewestAtOnce)) : left,
    );
    shapes.push(shape);
    left -= shape.nodes;
  }
  return shapes;
};

const membersOf = (system: System, shapes: readonly Shape[], random: Random): Member[][] => {
  const free = shuffled(system.bmcs, random);
  return shapes.map(({ nodes, racks, failing }, at) =>
    free.splice(0, nodes).map((bmc, index) => ({
      bmc,
      rack: `${at}-${index % racks}`,
      tenant: random() < 0.3,
      trouble: troubleOf(random, failing),
    })),
  );
};

const commandsSince = async ({ rack }: System, seq: number): Promise<Command[]> =>
  (await rack.writtenByAll(seq)).filter(({ accepted, session }) => accepted && !session);

const lastSeq = async ({ rack }: System): Promise<number> => (await rack.writtenByAll(0)).at(-1)?.seq ?? 0;

const countsOf = ({ targets }: Conducted): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { state } of targets) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};

const resultOf = (shape: Shape, conducted: Conducted, commands: readonly Command[], seed: number): RolloutResult => ({
  seed,
  nodes: shape.nodes,
  work: shape.work,
  state: conducted.state,
  states: countsOf(conducted),
  retries: conducted.targets.reduce((sum, { retries }) => sum + retries, 0),
  seconds: conducted.seconds,
  wrong: [...conducted.oddities, ...judgeRollout(conducted, commands)],
});

type Lane = { readonly system: System; readonly tenant: Person; readonly say: (line: string) => void };

type Found = Pick<TurnResult, 'rollouts' | 'blows' | 'wrong'>;

/** So many rollouts at once as the rack has room for. */
const conductAll = async ({ system, tenant, say }: Lane, seed: number, wanted: number): Promise<Found> => {
  const random = randomOf(seed);
  const shapes = shapesFor(random, system.bmcs.length, wanted);
  const members = membersOf(system, shapes, random);
  const limit = tenantsLimit(random, members.flat().length);
  await prepareMembers(system, members.flat(), tenant.project!);
  const budget = await tenant.must('POST', '/temper/v1/disruption-budgets', {
    query: { 'properties.tenant': ['true'] },
    max_unavailable: limit,
  });
  const from = await lastSeq(system);
  const begun = await Promise.all(shapes.map((shape, at) => begin(system, shape, members[at]!)));
  let over = false;
  const conducting = Promise.all(begun.map(({ conduct }) => conduct())).finally(() => {
    over = true;
  });
  conducting.catch(() => {}); // it is waited for below, and may fail while a blow falls
  const rollouts = begun.map(({ rollout }) => rollout);
  const blows = await strikeUntil(system, { rollouts, over: () => over, random, say });
  const conducted = await conducting;
  const commands = await commandsSince(system, from);
  await tenant.must('DELETE', `/temper/v1/disruption-budgets/${budget.uuid}`);
  const owned = new Set(members.flat().flatMap(({ bmc, tenant: own }) => (own ? bmc.index : [])));
  return {
    rollouts: conducted.map((one, at) => resultOf(shapes[at]!, one, commands, seed)),
    blows,
    wrong: judgeTenant(
      conducted.flatMap(({ targets }) => targets.filter(({ bmc }) => owned.has(bmc))),
      limit,
      commands,
    ),
  };
};

/** One turn; what it throws is found as well, and no turn follows on its system. */
const turn = async (lane: Lane, seed: number, wanted: number): Promise<TurnResult & { readonly thrown?: unknown }> => {
  const began = Date.now();
  const about = () => ({
    seed,
    at: new Date(began).toISOString(),
    seconds: Math.round((Date.now() - began) / 1_000),
    rack: lane.system.bmcs.length,
  });
  try {
    const found = await conductAll(lane, seed, wanted);
    return { ...about(), ...found };
  } catch (thrown) {
    return { ...about(), rollouts: [], blows: [], wrong: [`the turn came to no end: ${String(thrown)}`], thrown };
  }
};

/**
 * So many rollouts, shared by systems that are alike. Throws what a turn has thrown, once the turns of the other systems are over.
 * @param until no turn begins after it, epoch milliseconds
 * @param keep is given what each turn came to, as soon as it is known
 */
export const runRollouts = async (
  systems: readonly System[],
  { seed, count, until }: { readonly seed: number; readonly count: number; readonly until: number },
  say: (line: string) => void,
  keep: (turn: TurnResult) => void = () => {},
): Promise<TurnResult[]> => {
  const turns: TurnResult[] = [];
  let [begun, next] = [0, seed];
  const lanes = await Promise.allSettled(
    systems.map(async (system, at) => {
      const sayLane = (line: string) => say(systems.length > 1 ? `[${at}] ${line}` : line);
      await writeRunbooks(system);
      const lane = { system, tenant: await system.person('owner-manager'), say: sayLane };
      while (begun < count && Date.now() < until) {
        const found = turn(lane, next++, count - begun);
        begun += 1; // so that no other lane begins beyond; the rest is known in a moment
        const { thrown, ...done } = await found;
        begun += done.rollouts.length - 1;
        turns.push(done);
        keep(done);
        if (thrown !== undefined) throw thrown;
        for (const { nodes, work, state, states, seconds, wrong } of done.rollouts) {
          sayLane(`${state}: ${nodes} nodes, ${work}, ${JSON.stringify(states)}, ${seconds.toFixed(0)} s`);
          for (const one of wrong) sayLane(`! ${one}`);
        }
        for (const one of done.wrong) sayLane(`! ${one}`);
      }
    }),
  );
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  return turns;
};
