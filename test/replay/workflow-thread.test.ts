/** The thread that runs workflows (src/process/temporal/workflow-thread.ts) instead of the SDK's. Needs no server. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  bundleWorkflowCode,
  DefaultLogger,
  type ReplayWorkerOptions,
  Runtime,
  Worker,
  type WorkflowBundle,
} from '@temporalio/worker';
import { WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm';
import { workflowBundle } from '../support/servers';

Runtime.install({ logger: new DefaultLogger('ERROR') });

// The built file: Node starts the thread from it.
const { WorkflowWorker } =
  require('../../dist/process/temporal/workflow-worker') as typeof import('../../src/process/temporal/workflow-worker');

/**
 * What workflow-thread.ts and workflow-worker.ts replace or patch. After an update of the SDK, read what has changed in
 * these files, change ours if necessary, and write the new digests here.
 */
const digests = {
  'workflow-worker-thread.js': '90673d5b74aa51fd',
  'threaded-vm.js': 'c0c76241f3c3e25b',
  'vm-shared.js': 'f526eb66f88dd444',
  'reusable-vm.js': '1f6ec7d347dee4b4',
} as const;

const sdk = dirname(require.resolve('@temporalio/worker/lib/workflow/threaded-vm'));
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

test.each(Object.entries(digests))('%s of the SDK is the one that our thread was written for', (file, digest) => {
  expect(digestOf(readFileSync(join(sdk, file), 'utf8'))).toBe(digest);
});

const histories = join(__dirname, 'histories');
type Recorded = { readonly workflowId: string; readonly events: Record<string, unknown>[] };
const read = (name: string): Recorded => JSON.parse(readFileSync(join(histories, name), 'utf8'));

/** In a thread, as in a control worker. By default the SDK replays in the main thread. */
const replayed = async (worker: typeof Worker, bundle: WorkflowBundle | string, given: readonly Recorded[]) => {
  const options = {
    workflowBundle: typeof bundle === 'string' ? { codePath: bundle } : bundle,
    debugMode: false,
  } as ReplayWorkerOptions;
  const told = [];
  const all = given.map(({ workflowId, events }) => ({ workflowId, history: { events } }));
  for await (const { workflowId, error } of worker.runReplayHistories(options, all)) told.push({ workflowId, error });
  return told;
};

test('all recorded histories replay in it', async () => {
  const names = readdirSync(histories).filter((name) => name.endsWith('.json'));
  const told = await replayed(WorkflowWorker, workflowBundle(), names.map(read));
  expect(told.length).toBe(names.length);
  expect(told.filter(({ error }) => error)).toEqual([]);
});

test('it is set up as the SDK’s own thread is', async () => {
  const sentBy = async (worker: typeof Worker): Promise<unknown> => {
    const send = jest.spyOn(WorkerThreadClient.prototype, 'send');
    await replayed(worker, workflowBundle(), [read('verify.succeeded.1.json')]);
    const sent = send.mock.calls.map(([input]) => input).filter(({ type }) => type === 'init');
    send.mockRestore();
    return sent;
  };
  expect(await sentBy(WorkflowWorker)).toEqual(await sentBy(Worker));
});

describe('a loop without end', () => {
  let bundle: WorkflowBundle;
  beforeAll(async () => {
    const logger = new DefaultLogger('ERROR');
    bundle = await bundleWorkflowCode({ workflowsPath: join(__dirname, 'thread-example.ts'), logger });
  }, 60_000);

  const historyOf = (workflow: string): Recorded => {
    const text = readFileSync(join(histories, 'gate-example/before.json'), 'utf8');
    const { workflowId, events } = JSON.parse(text);
    events[0].workflowExecutionStartedEventAttributes.workflowType.name = workflow;
    return { workflowId, events };
  };

  test.each(['loopsAtOnce', 'loopsLater'])(
    '%s: its task fails in the end, and the thread serves others',
    async (name) => {
      const [looped, other] = await replayed(WorkflowWorker, bundle, [historyOf(name), historyOf('waits')]);
      expect(String(looped!.error)).toContain('Script execution timed out after 5000ms');
      expect(String(other!.error)).not.toContain('timed out');
    },
  );
});
