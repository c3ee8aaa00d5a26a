/** How long runs take on nodes that do nothing, and what they cost the engine, each beside a workflow of as many activities. */
import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { startHelper } from './child';
import { historyOf, type Written } from './histories';
import { controlQueue, type Kind } from './noop/contract';
import type { Place } from './noop/worker';
import { engineOf, followed, restingNode } from './runs-nodes';
import { median, percentile } from './stats';
import type { System } from './system';

/**
 * In ms. `whole` is from before the request (the product) or the start call (no-op) until the end is known; `engine` is
 * between the engine's own start and close times. `events` are those of one history.
 */
type Timing = {
  readonly whole: number;
  readonly whole_p99: number;
  readonly engine: number;
  readonly events: number;
};

/** One kind of run beside its no-op. */
export type RunTimes = {
  readonly run: string;
  readonly runs: number;
  readonly activities: number;
  readonly real: Timing;
  readonly noop: Timing;
  readonly ratio_whole: number;
  readonly ratio_engine: number;
  readonly more_events: number;
  /** Events of the real history that the no-op's has fewer of, by their kind. */
  readonly more: Readonly<Record<string, number>>;
};

const fiveSteps = Array.from({ length: 5 }, () => ({
  interface: 'management',
  step: 'set_boot_device',
  args: { boot_device: 'disk' },
}));

/** In this order the node is where each needs it, round after round. */
const cases = [
  { run: 'clean of five steps', on: 'manageable', body: { target: 'clean', clean_steps: fiveSteps } },
  { run: 'deploy', on: 'available', body: { target: 'active' } },
  { run: 'undeploy', on: 'available', body: { target: 'deleted' } },
] as const;

const warmUps = 3;

/** Runs one after the other, the product's and the no-op's in turn. */
export const measureRuns = async (
  system: System,
  { runs: count }: { readonly runs: number },
  say: (line: string) => void,
): Promise<RunTimes[]> => {
  const { address, namespace } = engineOf(system);
  const workers = ['control', 'steps'].map((role) => startHelper<Place, string>('noop/worker', [role]));
  const connection = await Connection.connect({ address });
  try {
    await Promise.all(workers.map((worker) => worker.ask({ address, namespace })));
    const client = new Client({ connection, namespace });
    const nodes = { manageable: await restingNode(system, client), available: await restingNode(system, client, true) };
    const taken = cases.map(() => ({ real: [] as Taken[], noop: [] as Taken[] }));
    const kinds: (readonly Kind[])[] = cases.map(() => []);
    for (let round = -warmUps; round < count; round++)
      for (const [at, { on, body }] of cases.entries()) {
        const real = await timed(() => followed(system, client, nodes[on], body), round < 0);
        if (real.written) kinds[at] = real.written.kinds;
        const noop = await timed(() => startNoop(client, kinds[at]!), round < 0);
        taken[at]!.real.push(real);
        taken[at]!.noop.push(noop);
      }
    const results = cases.map(({ run }, at) => summary(run, taken[at]!, kinds[at]!.length));
    for (const result of results) say(told(result));
    return results;
  } finally {
    await connection.close();
    await Promise.all(workers.map((worker) => worker.stop()));
  }
};

const told = ({ run, real, noop, more_events }: RunTimes): string =>
  `${run}: ${real.whole.toFixed(0)} ms, no-op ${noop.whole.toFixed(0)} ms; ${more_events} events more`;

const startNoop = (client: Client, kinds: readonly Kind[]): Promise<WorkflowHandle> =>
  client.workflow.start('noop', {
    workflowId: `bench-noop-${randomUUID()}`,
    taskQueue: controlQueue,
    args: [kinds],
  });

type Taken = { readonly whole: number; readonly engine: number; readonly events: number; readonly written?: Written };

/** Histories are read in warm-ups only: reading is work for the engine, too. */
const timed = async (start: () => Promise<WorkflowHandle>, read: boolean): Promise<Taken> => {
  const began = performance.now();
  const handle = await start();
  await handle.result();
  const whole = performance.now() - began;
  const { startTime, closeTime, historyLength } = await handle.describe();
  const engine = closeTime!.getTime() - startTime.getTime();
  return { whole, engine, events: historyLength, ...(read && { written: await historyOf(handle) }) };
};

const timing = (taken: readonly Taken[]): Timing => {
  const counted = taken.slice(warmUps);
  const wholes = counted.map(({ whole }) => whole);
  return {
    whole: median(wholes),
    whole_p99: percentile(wholes, 0.99),
    engine: median(counted.map(({ engine }) => engine)),
    events: median(counted.map(({ events }) => events)),
  };
};

const moreOf = (real: Written | undefined, noop: Written | undefined): Record<string, number> => {
  if (!real || !noop) return {};
  const more = Object.entries(real.by_type).map(([type, count]) => [type, count - (noop.by_type[type] ?? 0)] as const);
  return Object.fromEntries(more.filter(([, count]) => count > 0));
};

const summary = (run: string, taken: Readonly<Record<'real' | 'noop', Taken[]>>, activities: number): RunTimes => {
  const [real, noop] = [timing(taken.real), timing(taken.noop)];
  return {
    run,
    runs: taken.real.length - warmUps,
    activities,
    real,
    noop,
    ratio_whole: real.whole / noop.whole,
    ratio_engine: real.engine / noop.engine,
    more_events: real.events - noop.events,
    more: moreOf(taken.real[warmUps - 1]?.written, taken.noop[warmUps - 1]?.written),
  };
};
