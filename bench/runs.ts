/** How long a five-step run takes on nodes that do nothing, beside a workflow of as many activities that do nothing either. */
import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { startHelper } from './child';
import { controlQueue, steps } from './noop/contract';
import type { Place } from './noop/worker';
import { median, percentile } from './stats';
import { ask, type System } from './system';

const namespace = 'temper';

/**
 * In ms. `whole` is from before the request (the product) or the start call (no-op) until the end is known; `engine` is
 * between the engine's own start and close times.
 */
export type Timing = {
  readonly whole: number;
  readonly whole_p99: number;
  readonly engine: number;
};
export type RunTimes = {
  readonly runs: number;
  readonly real: Timing;
  readonly noop: Timing;
  readonly ratio_whole: number;
  readonly ratio_engine: number;
};

const cleanSteps = Array.from({ length: steps }, () => ({
  interface: 'management',
  step: 'set_boot_device',
  args: { boot_device: 'disk' },
}));

/** Runs one after the other, the product's and the no-op's in turn. */
export const measureRuns = async (system: System, count: number, say: (line: string) => void): Promise<RunTimes> => {
  const workers = ['control', 'steps'].map((role) => startHelper<Place, string>('noop/worker', [role]));
  const connection = await Connection.connect({ address: system.temporal });
  try {
    await Promise.all(workers.map((worker) => worker.ask({ address: system.temporal, namespace })));
    const client = new Client({ connection, namespace });
    const node = await manageableNode(system, client);
    const real: Taken[] = [];
    const noop: Taken[] = [];
    const warmUps = 3;
    for (let round = -warmUps; round < count; round++) {
      const ours = await timed(() => startClean(system, client, node));
      const theirs = await timed(() =>
        client.workflow.start('noop', { workflowId: `bench-noop-${randomUUID()}`, taskQueue: controlQueue }),
      );
      if (round < 0) continue;
      real.push(ours);
      noop.push(theirs);
    }
    const result = summary(real, noop);
    say(`five steps: ${result.real.whole.toFixed(0)} ms, no-op ${result.noop.whole.toFixed(0)} ms`);
    return result;
  } finally {
    await connection.close();
    await Promise.all(workers.map((worker) => worker.stop()));
  }
};

type Taken = { readonly whole: number; readonly engine: number };

const timed = async (start: () => Promise<WorkflowHandle>): Promise<Taken> => {
  const began = performance.now();
  const handle = await start();
  await handle.result();
  const whole = performance.now() - began;
  const { startTime, closeTime } = await handle.describe();
  return { whole, engine: closeTime!.getTime() - startTime.getTime() };
};

const startClean = async (system: System, client: Client, node: string): Promise<WorkflowHandle> => {
  await ask(system, 'PUT', `/v1/nodes/${node}/states/provision`, { target: 'clean', clean_steps: cleanSteps });
  return holder(system, client, node, 'clean');
};

/** The workflow that holds a node; looked up right after the request, while it runs. */
const holder = async (system: System, client: Client, node: string, verb: string): Promise<WorkflowHandle> => {
  const { reservation } = JSON.parse(await ask(system, 'GET', `/v1/nodes/${node}?fields=reservation`));
  if (!reservation) throw new Error(`the ${verb} of node ${node} was over before it could be watched`);
  return client.workflow.getHandle(`node-${node}.${verb}.${reservation}`);
};

const manageableNode = async (system: System, client: Client): Promise<string> => {
  const { uuid } = JSON.parse(await ask(system, 'POST', '/v1/nodes', { driver: 'fake-hardware', name: 'bench-runs' }));
  await ask(system, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target: 'manage' });
  await (await holder(system, client, uuid, 'manage')).result();
  return uuid;
};

const summary = (real: readonly Taken[], noop: readonly Taken[]): RunTimes => {
  const timing = (taken: readonly Taken[]): Timing => ({
    whole: median(taken.map(({ whole }) => whole)),
    whole_p99: percentile(
      taken.map(({ whole }) => whole),
      0.99,
    ),
    engine: median(taken.map(({ engine }) => engine)),
  });
  const [ours, theirs] = [timing(real), timing(noop)];
  return {
    runs: real.length,
    real: ours,
    noop: theirs,
    ratio_whole: ours.whole / theirs.whole,
    ratio_engine: ours.engine / theirs.engine,
  };
};
