/** What a run's acts on the store ask of it, call by call, and what a repeat or a late one leaves alone; without servers. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createControlActivities } from '../../src/activities/control';
import { endWorkflow } from '../../src/activities/displace';
import { type Answers, logOf, storeOf } from '../support/run-doubles';

const lock = { run: 'r1', node_uuid: 'u1', fence: 3 };
const of = { node_uuid: 'u1', run_id: 'r1', project: 'p1', lessee: 'p2' };
const node = { uuid: 'u1', provision_state: 'cleaning', owner: 'p1', lessee: 'p2' };
const held: Answers = {
  'runs.held': node,
  'runs.advance': true,
  'runs.counted': true,
  'contacts.there': false,
  'ramdiskBoots.contested': false,
};
type Acts = ReturnType<typeof createControlActivities>;

/** Runs one activity. @returns its answer or failure, and the store with what it was asked */
const acted = async (name: keyof Acts, input: object, answers: Answers = held, client: object = {}) => {
  const store = storeOf(answers);
  const deps = { inventory: store.inventory, client, log: logOf().log };
  const activities = createControlActivities(deps as unknown as Parameters<typeof createControlActivities>[0]);
  const environment = new MockActivityEnvironment({ workflowExecution: { workflowId: 'w', runId: 'e1' } });
  const act = activities[name] as unknown as (given: object) => Promise<unknown>;
  const result = await environment.run(act, { lock, seq: 4, ...input }).then(
    (done) => ({ done }),
    (failed: object) => ({ failed }),
  );
  return { ...result, store };
};
const stale = { failed: expect.objectContaining({ type: 'StaleOperation', details: [{ node: 'u1', run: 'r1' }] }) };
const writes = ({ calls }: ReturnType<typeof storeOf>): string[] =>
  calls.map(([name]) => name).filter((name) => !['runs.held', 'runs.advance', 'runs.counted'].includes(name));

test.each(['move', 'mark', 'contactReceived', 'awaitContact', 'join', 'addSteps', 'again', 'recordAct'] as const)(
  '%s by a run that has lost its node is refused, and writes nothing',
  async (name) => {
    const input = { event: 'done', index: 1, awaits: 'heartbeat', joins: 'clean', rest: [], reported: [], steps: [] };
    const { store, ...result } = await acted(name, input, {});
    expect(result).toEqual(stale);
    expect(writes(store)).toEqual([]);
  },
);

describe('a claim', () => {
  const limit = { class: 'clean', max: 2 };
  const look = (has: boolean, full: boolean): Answers => ({ 'runs.claim': true, 'turns.look': { has, full } });

  test('that finds no row is refused', async () => {
    const { store, ...result } = await acted('claim', { previous: 'e0' }, {});
    expect(result).toEqual(stale);
    expect(store.of('runs.claim')).toEqual([[lock, 'e1', 'e0']]);
  });

  test.each([
    ['without a limit', undefined, look(false, true), true, 0],
    ['that has its turn', limit, look(true, true), true, 0],
    ['whose class is full', limit, look(false, true), false, 0],
    ['that is next', limit, { ...look(false, false), 'turns.give': true }, true, 1],
    ['that another was before', limit, { ...look(false, false), 'turns.give': false }, false, 1],
  ])('of a run %s', async (_, given, answers, turn, gives) => {
    const claimed = await acted('claim', { limit: given }, answers);
    expect(claimed).toMatchObject({ done: { turn } });
    expect(claimed.store.of('turns.give')).toHaveLength(gives);
    if (given) expect(await acted('turn', { limit: given }, answers)).toMatchObject({ done: { turn } });
  });
});

test('a turn is given back under the lock', async () => {
  expect((await acted('giveTurnBack', {})).store.of('turns.giveBack')).toEqual([[lock]]);
});

describe('a move', () => {
  const move = { event: 'wait', state: 'waiting', waiting_for: 'heartbeat' };

  test('writes the state and says it as an event', async () => {
    const { store, ...result } = await acted('move', move);
    expect(result).toEqual({ done: { provision_state: 'clean wait' } });
    expect(store.of('runs.advance')).toEqual([[lock, 4, 'waiting', 'heartbeat']]);
    expect(store.of('runs.moveNode')).toEqual([[lock, 'clean wait', null]]);
    const data = { from: 'cleaning', to: 'clean wait', event: 'wait' };
    expect(store.of('events.append')).toEqual([[{ kind: 'node.moved', ...of, data }]]);
  });

  test.each([
    ['that comes twice', { 'runs.advance': false }, move],
    ['that its state does not have', {}, { ...move, event: 'rescue' }],
  ])('%s leaves the node where it is', async (_, over, given) => {
    const { store, ...result } = await acted('move', given, { ...held, ...over });
    expect(result).toEqual({ done: { provision_state: 'cleaning' } });
    expect(writes(store)).toEqual([]);
  });

  test('that takes the instance away takes its secrets too', async () => {
    const deleting = { ...held, 'runs.held': { ...node, provision_state: 'deleting' } };
    const { store } = await acted('move', { ...move, event: 'clean' }, deleting);
    expect(store.of('runs.moveNode')).toEqual([[lock, 'cleaning', 'instance']]);
    expect(store.of('secrets.dropUnused')).toEqual([['u1']]);
    expect((await acted('move', move)).store.of('secrets.dropUnused')).toEqual([]);
  });
});

test('a mark is written with its event once, and not by a repeat that comes late', async () => {
  const mark = { index: 2, state: 'parked', note: 'n', error: 'e' };
  const { store } = await acted('mark', mark);
  expect(store.of('runSteps.mark')).toEqual([[lock, 2, 'parked', { note: 'n', error: 'e' }]]);
  const data = { index: 2, note: 'n', error: 'e' };
  expect(store.of('events.append')).toEqual([[{ kind: 'step.parked', ...of, data }]]);
  const late = await acted('mark', mark, { ...held, 'runs.counted': false });
  expect(writes(late.store)).toEqual([]);
});

test.each([
  [{}, { frozen: false, recovering: false }],
  [{ 'freezes.active': {} }, { frozen: true, recovering: false }],
  [{ 'recovery.current': {} }, { frozen: true, recovering: true }],
])('what holds commands back: %j', async (answers, done) => {
  const result = await acted('frozen', { node_uuid: 'child' }, answers);
  expect(result).toMatchObject({ done });
  const asked = result.store.of('freezes.active');
  expect(asked).toEqual(done.recovering ? [] : [['child']]);
  if (!done.recovering) expect((await acted('frozen', {}, answers)).store.of('freezes.active')).toEqual([['u1']]);
});

describe('an act by the engine’s own tools', () => {
  const recorded = async (given: object, answers: Answers = {}) => {
    const { store } = await acted('recordAct', { act: 'abort', by: '', reason: '', ...given }, { ...held, ...answers });
    return { audit: store.of('audit.write')[0]![0], event: store.of('events.append')[0]![0] };
  };

  test('is recorded without a person, and with what its sender wrote', async () => {
    const run = { owner: 'p1', lessee: 'p2' };
    const { audit, event } = await recorded({ by: 'ada', reason: 'stuck' }, { 'runs.find': run });
    const data = { via: 'temporal-ui', by_claim: 'ada', reason: 'stuck' };
    expect(audit).toEqual({
      requester: {
        user_id: null,
        user_name: null,
        project_id: null,
        system_scope: null,
        strategy: 'temporal-ui',
        request_id: 'temporal-ui:r1',
      },
      action: 'run.abort',
      rule: null,
      rule_set: null,
      resource: 'node',
      resource_id: 'u1',
      run_id: 'r1',
      data,
    });
    expect(event).toEqual({ kind: 'run.abort', ...of, data });
  });

  test('has no more in it than came', async () => {
    const { event } = await recorded({});
    expect(event).toEqual({
      kind: 'run.abort',
      node_uuid: 'u1',
      run_id: 'r1',
      project: undefined,
      lessee: undefined,
      data: { via: 'temporal-ui' },
    });
  });
});

describe('a plan that changes', () => {
  const reported = [{ interface: 'deploy', step: 'erase_devices', priority: 10, abortable: true }];
  const join = { joins: { verb: 'clean', mine: [] }, after: 1, rest: [], reported };

  test('has steps added at its end, and an ending where one is meant', async () => {
    const steps = [{ index: 3 }];
    const plain = await acted('addSteps', { steps });
    expect(plain.store.of('runSteps.insert')).toEqual([['r1', steps]]);
    expect(plain.store.of('runs.endsAs')).toEqual([]);
    const ending = { outcome: 'aborted' };
    expect((await acted('addSteps', { steps, ending })).store.of('runs.endsAs')).toEqual([[lock, ending]]);
  });

  test('has a step tried again once, with other arguments where they came', async () => {
    const { store } = await acted('again', { index: 2, args: { a: 1 } });
    expect(store.of('runSteps.again')).toEqual([[lock, 2, { a: 1 }]]);
    const late = await acted('again', { index: 2 }, { ...held, 'runs.counted': false });
    expect(late.store.of('runSteps.again')).toEqual([]);
  });

  test('is kept as a whole, with the steps before it', async () => {
    const before = [{ index: 0 }, { index: 1 }];
    const { store, ...result } = await acted('join', { ...join, before });
    const { done: steps } = result as unknown as { done: readonly object[] };
    expect(steps).toMatchObject([{ index: 2, step: 'erase_devices' }]);
    expect(store.of('runSteps.replaceAfter')).toEqual([[lock, 1, steps]]);
    expect(store.of('runs.replan')).toEqual([[lock, [...before, ...steps]]]);
  });
});

test('an aborted run learns whether the command of an act has left that it bars', async () => {
  const { store, ...result } = await acted('cutAct', { index: 1, act: 'power_on' }, { 'runSteps.cut': { is: 'cut' } });
  expect(result).toEqual({ done: { is: 'cut' } });
  expect(store.of('runSteps.cut')).toEqual([[lock, expect.objectContaining({ index: 1, act: 'power_on' })]]);
});

describe('a wait for the ramdisk', () => {
  const wait = { index: 2, awaits: 'heartbeat', waiting_for: 'the ramdisk' };

  test.each([
    [{}, false],
    [{ 'contacts.there': true }, true],
    [{ 'ramdiskBoots.contested': true }, true],
  ])('begins, and says whether it is over already: %j', async (over, contacted) => {
    const { store, ...result } = await acted('awaitContact', wait, { ...held, ...over });
    expect(result).toEqual({ done: { provision_state: 'clean wait', contacted } });
    expect(store.of('runs.advance')).toEqual([[lock, 4, 'waiting', 'the ramdisk']]);
    expect(store.of('runSteps.mark')).toEqual([[lock, 2, 'waiting', {}]]);
    expect(store.of('contacts.await')).toEqual([[lock, 'heartbeat']]);
    expect(await acted('contacted', { awaits: 'heartbeat' }, { ...held, ...over })).toMatchObject({
      done: { contacted },
    });
  });

  test('that has begun before is not begun again', async () => {
    const { store, ...result } = await acted('awaitContact', wait, { ...held, 'runs.advance': false });
    expect(result).toEqual({ done: { provision_state: 'cleaning', contacted: false } });
    expect(store.of('contacts.await')).toEqual([]);
  });

  const waiting = { ...held, 'runs.held': { ...node, provision_state: 'clean wait' } };
  test('ends with its step done', async () => {
    const { store, ...result } = await acted('contactReceived', { index: 2 }, waiting);
    expect(result).toEqual({ done: { provision_state: 'cleaning' } });
    expect(store.of('contacts.await')).toEqual([[lock, null]]);
    expect(store.of('runSteps.mark')).toEqual([[lock, 2, 'done', {}]]);
    expect(store.of('details.inventory')).toEqual([]);
  });

  test('that has ended before stays as it is', async () => {
    const { store, ...result } = await acted('contactReceived', { index: 2 }, { ...waiting, 'runs.advance': false });
    expect(result).toEqual({ done: { provision_state: 'clean wait' } });
    expect(writes(store)).toEqual([]);
  });

  test('does not end well where two ramdisks spoke', async () => {
    const { store, ...result } = await acted(
      'contactReceived',
      { index: 2 },
      { ...waiting, 'ramdiskBoots.contested': true },
    );
    expect(result).toMatchObject({ failed: { type: 'RamdiskConflict', details: [{ node: 'u1' }] } });
    expect(store.of('runSteps.mark')).toEqual([]);
  });

  test.each([
    [{ plugin_data: { error: 'no disk' } }, 'the ramdisk reports: no disk'],
    [{ inventory: {} }, 'the ramdisk did not say'],
    [undefined, 'the ramdisk did not say'],
  ])('for an inspection fails where its findings are none: %j', async (found, says) => {
    const answers = { ...waiting, 'contacts.awaited': 'inspection', 'details.inventory': found };
    const { store, ...result } = await acted('contactReceived', { index: 2 }, answers);
    expect(result).toMatchObject({ failed: { type: 'StepRejected', message: expect.stringContaining(says) } });
    expect(store.of('observedFacts.write')).toEqual([]);
  });
});

describe('the run that held the node before', () => {
  const ending = (states: readonly string[], over: object = {}) => {
    const calls: string[] = [];
    const left = [...states];
    const handle = {
      cancel: async () => void calls.push('cancel'),
      terminate: async () => void calls.push('terminate'),
      describe: async () => ({ status: { name: left.length > 1 ? left.shift() : left[0] } }),
      ...over,
    };
    return { calls, client: { workflow: { getHandle: () => handle } } };
  };
  const ended = (client: object, signal = new AbortController().signal, beat = () => {}) =>
    endWorkflow(client as unknown as Parameters<typeof endWorkflow>[0], 'w', signal, beat);

  test('is cancelled, and waited for until it is open no more', async () => {
    const { calls, client } = ending(['RUNNING', 'CANCELLED']);
    const beat = jest.fn();
    await ended(client, new AbortController().signal, beat);
    expect([calls, beat.mock.calls.length]).toEqual([['cancel'], 2]);
    expect(await acted('displace', { displaced: { run: 'r0', workflow_id: 'w' } }, {}, client)).toMatchObject({
      done: undefined,
    });
  });

  test('is ended by force where it has not ended in five minutes', async () => {
    const { calls, client } = ending(['RUNNING', 'RUNNING', 'TERMINATED']);
    const now = performance.now();
    const clock = jest
      .spyOn(performance, 'now')
      .mockReturnValueOnce(now)
      .mockReturnValueOnce(now + 299_999)
      .mockReturnValue(now + 300_000);
    try {
      await ended(client);
    } finally {
      clock.mockRestore();
    }
    expect(calls).toEqual(['cancel', 'terminate']);
  });

  test('is as good as ended where the engine does not know it; another failure is reported', async () => {
    const failing = (thrown: Error) => ending([], { cancel: () => Promise.reject(thrown) }).client;
    await ended(failing(new WorkflowNotFoundError('gone', 'w', undefined)));
    await expect(ended(failing(new Error('away')))).rejects.toThrow('away');
  });

  test('is waited for no longer than the act may', async () => {
    const over = new AbortController();
    over.abort(new Error('cancelled'));
    await expect(ended(ending(['RUNNING']).client, over.signal)).rejects.toThrow('cancelled');
  });
});
