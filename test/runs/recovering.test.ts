/** What a comparison after a restore asks for of each run and workflow, and what it does once an administrator wants it. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { OlderSide } from '../../src/model/runs/recovery';
import { powerLines } from '../../src/runs/powers';
import { type RecoveryDeps, recover } from '../../src/runs/recovering';

// What BMCs say has tests of its own, with a worker that asks one.
jest.mock('../../src/runs/powers', () => ({ powerLines: jest.fn() }));
const powers = jest.mocked(powerLines);
beforeEach(() => void powers.mockReset().mockResolvedValue([]));

const node = '11111111-2222-4333-8444-555555555555';
const [open, ended, strange] = [1, 2, 3].map((n) => `${n}6666666-2222-4333-8444-555555555555`) as [
  string,
  string,
  string,
];
const workflow = (run: string) => `node-${node}.clean.${run}`;
/** No workflows of runs. */
const strangers = ['test-reconcile', `x-${workflow(strange)}`, `${workflow(strange)}.2`];
const row = (id: string, more = {}) => ({
  id,
  node_uuid: node,
  node_name: null,
  verb: 'clean',
  workflow_id: workflow(id),
  fence: 3,
  cursor: 1,
  owner: 'p1',
  lessee: 'p2',
  ...more,
});

type Given = {
  readonly side?: OlderSide;
  readonly runs?: readonly ReturnType<typeof row>[];
  /** Runs that have not begun, as far as the database knows. */
  readonly accepted?: readonly ReturnType<typeof row>[];
  /** What an open workflow says that it has had recorded; no worker answers where absent. */
  readonly projected?: object;
  /** Of every workflow; one that the engine does not know where absent. */
  readonly status?: string;
  readonly result?: () => Promise<unknown>;
  readonly begun?: readonly object[];
  readonly openIds?: readonly string[];
  readonly closedIds?: readonly string[];
  readonly newest?: Date;
  readonly maintenance?: boolean;
  readonly nodeGone?: boolean;
};

/** Store and engine in a recovery; what is done to either is noted in turn. */
const restoredOf = (given: Given) => {
  const {
    side = 'store',
    runs = [],
    accepted = [],
    projected,
    status,
    begun = [],
    openIds = [],
    closedIds = [],
    newest,
  } = given;
  const done: unknown[][] = [];
  const queries: string[] = [];
  const noted =
    (name: string, answer?: unknown) =>
    async (...args: unknown[]) => {
      done.push([name, ...args]);
      return answer;
    };
  const found = { uuid: node, name: 'bmc-6', owner: 'p1', lessee: 'p2', maintenance: given.maintenance ?? false };
  const rows = [...runs, row(ended, { finished_at: new Date(), state: 'failed' })];
  const inventory = {
    recovery: {
      current: async () => ({ side, reason: 'it is older', since: new Date() }),
      newest: async () => newest,
      doubt: noted('doubt'),
      leave: noted('leave'),
    },
    runs: {
      find: async (id: string) => rows.find((one) => one.id === id),
      quiet: async () => runs,
      accepted: async () => accepted,
      claim: noted('claim'),
      seqOf: async () => 4,
      held: noted('held'),
      // Without an input, a run is known to no table any more: ending it or starting it anew goes no further.
      input: noted('input of'),
    },
    nodes: { find: async () => (given.nodeGone ? undefined : found), setMaintenance: noted('maintenance') },
    agents: { find: async () => undefined },
    resumes: { record: noted('record of') },
    events: { append: noted('event') },
    transaction: (work: (store: unknown) => unknown) => work(inventory),
  };
  const handle = (id: string) => ({
    async describe() {
      if (status === undefined) throw new WorkflowNotFoundError('gone', id, undefined);
      return { status: { name: status }, runId: 'e1', raw: { pendingActivities: begun } };
    },
    async query() {
      if (projected === undefined) throw new Error('no worker answers');
      return projected;
    },
    signal: async (_: unknown, { kind, operationId }: { kind: string; operationId: string }) => {
      done.push([kind, operationId]);
    },
    result: given.result ?? (async () => ({})),
    terminate: noted(`terminate ${id}`),
  });
  const list = async function* ({ query }: { query: string }) {
    queries.push(query);
    for (const workflowId of query.includes("!= 'Running'") ? closedIds : openIds) yield { workflowId };
  };
  const client = { workflow: { getHandle: handle, list }, withDeadline: (_: number, work: () => unknown) => work() };
  const deps = { inventory, client, log: { info() {}, warn() {} }, queuePrefix: 'q' } as unknown as RecoveryDeps;
  return { deps, done, queries, lines: async (yes = false) => (await recover(deps, yes)).lines };
};

test('without a word that it may, nothing is done; with it the recovery ends after everything else', async () => {
  const given = { runs: [row(open)], status: 'RUNNING', openIds: [workflow(ended)] };
  const [reads, acts] = [restoredOf(given), restoredOf(given)];
  expect(await reads.lines()).toHaveLength(2);
  expect(reads.done).toEqual([]);
  expect(await acts.lines(true)).toHaveLength(2);
  expect(acts.done.map(([name]) => name)).toEqual([`terminate ${workflow(ended)}`, 'doubt', 'leave', 'unfreeze']);
});

test.each(['TERMINATED', 'CANCELLED', 'COMPLETED'])(
  'a workflow that is %s and says nothing is named with its status, and its run left to the control workers',
  async (status) => {
    const { lines, done } = restoredOf({ runs: [row(open)], status });
    expect(await lines(true)).toEqual([
      `run ${open} (clean of node ${node}): its workflow was ended (${status}) and says nothing; the run fails or is aborted`,
    ]);
    expect(done).toEqual([['leave']]);
  },
);

test('a run whose workflow has ended by itself ends as that says, whichever side is older', async () => {
  const result = async () => ({ outcome: 'succeeded' });
  for (const side of ['store', 'unknown'] as const) {
    const { lines, done } = restoredOf({ side, runs: [row(open, { node_name: 'n1' })], status: 'COMPLETED', result });
    expect(await lines(true)).toEqual([
      `run ${open} (clean of node n1): its workflow has ended, and so does the run: it succeeds`,
    ]);
    expect(done).toEqual([['input of', open], ['leave']]);
  }
});

test('where the engine does not answer how a run ended, nothing is done, and the run is not taken for a failed one', async () => {
  const result = () => Promise.reject(new Error('DEADLINE_EXCEEDED'));
  const { lines, done } = restoredOf({ runs: [row(open)], status: 'COMPLETED', result });
  await expect(lines(true)).rejects.toThrow('DEADLINE_EXCEEDED');
  expect(done).toEqual([]);
});

test('a workflow that the engine forgets before it is asked says nothing', async () => {
  const result = () => Promise.reject(new WorkflowNotFoundError('gone', 'w', undefined));
  const { lines } = restoredOf({ runs: [row(open)], status: 'COMPLETED', result });
  expect(await lines()).toEqual([expect.stringContaining('says nothing')]);
});

test('an inspection that had succeeded fails, for what it found is lost; one that had failed fails as it did', async () => {
  const runs = [row(open, { verb: 'inspect' })];
  const succeeded = restoredOf({ runs, status: 'COMPLETED', result: async () => ({ outcome: 'succeeded' }) });
  expect(await succeeded.lines()).toEqual([expect.stringContaining('what it found is lost; it fails')]);
  const aborted = restoredOf({ runs, status: 'COMPLETED', result: async () => ({ outcome: 'aborted' }) });
  expect(await aborted.lines()).toEqual([expect.stringContaining('so does the run: it is aborted')]);
});

test('a run that the engine does not know goes on from its record by itself, where it is known what was done', async () => {
  const { lines, done } = restoredOf({ runs: [row(open)] });
  expect(await lines(true)).toEqual([expect.stringContaining('Temporal does not know it; it goes on from its record')]);
  expect(done).toEqual([['leave']]);
});

test.each([
  [
    [{ activityId: 'a', attempt: 2, state: 1 }],
    ['e1/a'],
    /goes on, .*not be asked where it is; a command that may have left is not sent again$/,
  ],
  [[{ activityId: 'a', attempt: 1, state: 1 }], [], /goes on, and could not be asked where it is$/],
])(
  'where the database is older, a workflow that answers no query goes on, and what it may have sent is noted: %j',
  async (begun, acts, says) => {
    const { lines, done } = restoredOf({ runs: [row(open)], status: 'RUNNING', begun });
    expect(await lines(true)).toEqual([expect.stringMatching(says)]);
    expect(done).toEqual([['doubt', open, acts], ['leave'], ['unfreeze', open]]);
  },
);

test('where the engine is older, its workflow gives way and the run goes on from its record', async () => {
  const { lines, done } = restoredOf({ side: 'engine', runs: [row(open)], status: 'RUNNING' });
  expect(await lines(true)).toEqual([expect.stringContaining('may be older than the record; it is terminated, and')]);
  expect(done).toEqual([
    [`terminate ${workflow(open)}`, 'An older state of this run, after a restore.'],
    ['record of', { run: open, node_uuid: node, fence: 3 }],
    ['leave'],
  ]);
});

test.each([undefined, 'RUNNING'])('where both are older, a run whose workflow is %s fails', async (status) => {
  const { lines, done } = restoredOf({ side: 'unknown', runs: [row(open)], status });
  expect(await lines(true)).toEqual([expect.stringContaining('it is terminated, and the run fails')]);
  expect(done.slice(-2)).toEqual([['input of', open], ['leave']]);
});

test('open workflows: of an open run none is touched, one of an ended run ends, one of an unknown run sets its node aside', async () => {
  const { lines, done } = restoredOf({
    side: 'engine',
    status: 'TERMINATED',
    runs: [row(open)],
    openIds: [workflow(open), workflow(ended), workflow(strange), ...strangers],
  });
  expect((await lines(true)).slice(0, 2)).toEqual([
    `workflow ${workflow(ended)}: its run has ended (failed); it is terminated`,
    `workflow ${workflow(strange)}: the database does not know its run; it is terminated, and its node bmc-6 goes into maintenance`,
  ]);
  const maintenance_reason = `Run ${strange} was carried out here and is not in the restored database: look at power, boot device and virtual media.`;
  const why = 'The database has no open run for this workflow, after a restore.';
  expect(done).toEqual([
    [`terminate ${workflow(ended)}`, why],
    [`terminate ${workflow(strange)}`, why],
    ['maintenance', node, { maintenance: true, reason: maintenance_reason }],
    [
      'event',
      {
        kind: 'node.maintenance.set',
        node_uuid: node,
        project: 'p1',
        lessee: 'p2',
        data: { maintenance: true, maintenance_reason },
      },
    ],
    ['leave'],
  ]);
});

test.each([
  ['is in maintenance already keeps its reason', { maintenance: true }],
  ['is gone needs none', { nodeGone: true }],
])('a node that %s', async (_, more) => {
  const { lines, done } = restoredOf({ openIds: [workflow(strange)], ...more });
  await lines(true);
  expect(done.map(([name]) => name)).toEqual([`terminate ${workflow(strange)}`, 'leave']);
});

test('closed workflows of unknown runs since the backup, less an hour, set their node aside once', async () => {
  const closedIds = [workflow(strange), workflow(strange), workflow(ended), ...strangers];
  const newest = new Date('2026-11-02T10:00:00.000Z');
  const { lines, done, queries } = restoredOf({ closedIds, newest });
  expect(await lines(true)).toEqual([
    `workflow ${workflow(strange)}: it has ended, and the database does not know its run; its node bmc-6 goes into maintenance`,
  ]);
  expect(queries.at(-1)).toContain("StartTime > '2026-11-02T09:00:00.000Z'");
  expect(done.map(([name]) => name)).toEqual(['maintenance', 'event', 'leave']);
});

test.each([
  ['the engine is older: what it has closed, the database knows', { side: 'engine' as const, newest: new Date() }],
  ['nothing was ever written to the database', {}],
])('closed workflows are not asked for where %s', async (_, more) => {
  const { lines, queries } = restoredOf({ closedIds: [workflow(strange)], ...more });
  expect(await lines()).toEqual([]);
  expect(queries).toHaveLength(1);
});

test('a ramdisk that the database does not know is booted again before the recovery ends', async () => {
  const projected = { state: 'waiting', awaits: 'heartbeat', contactSeq: 3, steps: [], cursor: 0, seq: 4 };
  const { lines, done } = restoredOf({ runs: [row(open)], status: 'RUNNING', projected });
  expect(await lines(true)).toEqual([expect.stringMatching(/goes on; its ramdisk is booted again/)]);
  expect(done.map(([name]) => name)).toEqual(['doubt', 'held', 'lost', 'leave', 'unfreeze']);
});

test('an open inspection is begun anew from its record: what it has found is lost', async () => {
  const { lines, done } = restoredOf({ runs: [row(open, { verb: 'inspect' })], status: 'RUNNING' });
  expect(await lines(true)).toEqual([expect.stringContaining('what it has found may not be in the database')]);
  expect(done.map(([name]) => name)).toEqual([`terminate ${workflow(open)}`, 'record of', 'leave']);
});

test('a run whose workflow had begun after the backup is claimed for it first; one that has none is left to the relay', async () => {
  const began = restoredOf({ side: 'engine', accepted: [row(open)], status: 'RUNNING' });
  expect(await began.lines(true)).toEqual([expect.stringContaining('the run goes on from its record')]);
  expect(began.done.map(([name]) => name)).toEqual(['claim', `terminate ${workflow(open)}`, 'record of', 'leave']);
  expect(began.done[0]).toEqual(['claim', { run: open, node_uuid: node, fence: 3 }, 'e1']);
  const waits = restoredOf({ side: 'engine', accepted: [row(open)] });
  expect(await waits.lines(true)).toEqual([]);
  expect(waits.done).toEqual([['leave']]);
});

test('the power of each node that a line is about is compared, and what differs comes after the lines', async () => {
  powers.mockResolvedValue(['node n1: its BMC says power on']);
  const { lines } = restoredOf({ runs: [row(open)], openIds: [workflow(ended), workflow(strange)], status: 'RUNNING' });
  const said = await lines();
  expect([said.length, said.at(-1)]).toEqual([4, 'node n1: its BMC says power on']);
  expect(powers.mock.calls.map(([nodes]) => nodes)).toEqual([[node, node, node]]);
});
