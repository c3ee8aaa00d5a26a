/** What the store and the engine are asked for where a run, a node or the engine has moved on meanwhile; without servers. */
import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { RunUuid } from '../../src/model/ids';
import { createRuns, type RunOrder } from '../../src/runs';
import { call } from '../../src/runs/call';
import { createEngine } from '../../src/runs/engine';
import { reconcileRun } from '../../src/runs/gone';
import { reconcileOnce } from '../../src/runs/reconcile';
import { type RunRelayDeps, relayOnce } from '../../src/runs/relay';
import { resumeRun } from '../../src/runs/resuming';
import { type UpkeepDeps, upkeepOnce } from '../../src/runs/upkeep';
import { type Answers, clientOf, failing, logOf, storeOf } from '../support/run-doubles';

const [node, id] = ['11111111-2222-4333-8444-555555555555', '66666666-2222-4333-8444-555555555555'];
const run = {
  id: id as RunUuid,
  node_uuid: node,
  fence: 3,
  cursor: 1,
  state: 'running',
  workflow_id: 'w',
  owner: 'p1',
  lessee: 'p2',
  finished_at: null,
};
const asked = { requester: { user_name: 'ada', user_id: 'u', request_id: 'req-1' }, rule: 'r', rule_set: 's' };
const gone = new WorkflowNotFoundError('gone', 'w', undefined);

type More = { readonly vault?: object; readonly updates?: unknown[] };

const runsOf = (
  answers: Answers,
  answer: (name: string, ...args: unknown[]) => unknown = () => undefined,
  { vault = {}, updates = [] }: More = {},
) => {
  const engine = clientOf((name, ...args) => {
    if (name === 'executeUpdate') updates.push(args);
    return answer(name, ...args);
  });
  const [store, log] = [storeOf(answers), logOf()];
  const deps = { inventory: store.inventory, client: engine.client, log: log.log, vault, timing: {} };
  return { store, engine, ...log, runs: createRuns(deps as unknown as Parameters<typeof createRuns>[0]) };
};

describe('a node that is moved at once', () => {
  const order = (provision_state: string, event: string) =>
    ({ node: { uuid: node, name: 'n1', provision_state }, event, asked }) as unknown as RunOrder & { event: 'manage' };

  test('is written down in the trail and as an event, with the project and the lessee that it has now', async () => {
    const { runs, store } = runsOf({
      'runs.moveAtOnce': true,
      'runs.stateOf': { owner: 'p1', lessee: 'p2' },
    });
    await runs.move(order('available', 'manage'));
    const data = { from: 'available', to: 'manageable' };
    expect(store.of('runs.moveAtOnce')).toEqual([[node, 'available', 'manageable']]);
    expect(store.of('audit.write')).toEqual([
      [{ ...asked, action: 'node.manage', resource: 'node', resource_id: node, data }],
    ]);
    expect(store.of('events.append')).toEqual([
      [{ kind: 'node.moved', node_uuid: node, project: 'p1', lessee: 'p2', data: { ...data, event: 'manage' } }],
    ]);
    expect(store.of('runs.leaveFault')).toHaveLength(1);
  });

  test('is locked where it has moved meanwhile, and nothing is written down', async () => {
    const { runs, store } = runsOf({ 'runs.moveAtOnce': false });
    await expect(runs.move(order('available', 'manage'))).rejects.toMatchObject({
      code: 'NodeLocked',
      facts: { node: 'n1' },
    });
    expect(store.calls.map(([name]) => name)).toEqual(['runs.moveAtOnce']);
  });

  test('is refused where its state has no such move', async () => {
    const { runs, store } = runsOf({});
    await expect(runs.move(order('active', 'manage'))).rejects.toMatchObject({ code: 'InvalidState' });
    expect(store.calls).toEqual([]);
  });
});

describe('an abort', () => {
  const abort = { run: run.id, act: 'abort', cursor: 0, reason: 'enough', asked } as never;
  const accepted = { ...run, state: 'accepted' };
  const input = { ends: 'done', steps: [] };
  const held = { uuid: node, provision_state: 'cleaning', owner: 'p1', lessee: 'p2' };

  test('of a run that has not begun ends it in the store, once, and asks no engine', async () => {
    const { runs, store, engine } = runsOf({
      'runs.find': accepted,
      'runs.input': input,
      'runs.lockAccepted': true,
      'runs.held': held,
    });
    expect(await runs.operate(abort)).toBe('taken');
    expect(engine.calls).toEqual([]);
    expect(store.of('runs.finish')).toEqual([
      [
        { run: id, node_uuid: node, fence: 3 },
        expect.objectContaining({ state: 'aborted', error: 'By request, the run was aborted before it began.' }),
      ],
    ]);
    expect(store.of('audit.write')).toEqual([[expect.objectContaining({ action: 'run.abort', run_id: id })]]);
  });

  test.each([
    ['begun meanwhile', { 'runs.input': input, 'runs.lockAccepted': false }],
    ['no input any more', { 'runs.lockAccepted': true, 'runs.held': held }],
  ])('of one that has %s goes to its workflow, and is written down once', async (_, answers) => {
    const { runs, store, engine } = runsOf({ 'runs.find': accepted, 'runs.queueMessage': 7, ...answers });
    expect(await runs.operate(abort)).toBe('taken');
    expect(engine.calls).toEqual(['signal']);
    expect(store.of('runs.finish')).toEqual([]);
    expect(store.of('audit.write')).toHaveLength(1);
    expect(store.of('runs.abortAsked')).toEqual([[id, 'ada']]);
    expect(store.of('runs.messageSent')).toEqual([[7]]);
  });

  test('of one that began is not ended in the store while its workflow can be reached', async () => {
    const { runs, store, engine } = runsOf({ 'runs.find': run, 'runs.lockAccepted': true, 'runs.input': input });
    expect(await runs.operate(abort)).toBe('taken');
    expect([engine.calls, store.of('runs.lockAccepted')]).toEqual([['signal'], []]);
  });

  test('that finds no workflow, and a run that has ended by itself meanwhile, is done with', async () => {
    let looks = 0;
    const { runs, store } = runsOf(
      { 'runs.find': () => (looks++ === 0 ? run : { ...run, finished_at: new Date() }), 'runs.queueMessage': 7 },
      failing(gone),
    );
    expect(await runs.operate(abort)).toBe('taken');
    expect(store.of('runs.messageSent')).toEqual([[7]]);
    expect(store.of('recovery.current')).toEqual([]);
  });

  test('that finds no workflow during a recovery is done with for now: the recovery decides', async () => {
    const { runs, store } = runsOf(
      {
        'runs.find': run,
        'runs.queueMessage': 7,
        'runs.isRestarting': true,
        'recovery.current': { side: 'store' },
      },
      failing(gone),
    );
    expect(await runs.operate(abort)).toBe('taken');
    expect(store.of('runs.messageSent')).toEqual([[7]]);
  });

  test('that the engine is away for is kept for the relay, which the answer says', async () => {
    const { runs, store, warned } = runsOf({ 'runs.find': run, 'runs.queueMessage': 7 }, failing(new Error('away')));
    expect(await runs.operate(abort)).toBe('kept');
    expect([store.of('runs.messageSent'), warned]).toEqual([[], ['message kept for the relay']]);
  });
});

describe('a call of the ramdisk', () => {
  const contact = { node, kind: 'heartbeat' } as never;
  const waiting = { run: id, workflow_id: 'w', awaits: 'heartbeat' };

  test.each([
    [{ awaits: 'inspection' }, 'heartbeat', 0],
    [{ awaits: null }, 'heartbeat', 0],
    [{ awaits: 'heartbeat' }, 'heartbeat', 1],
    [{ awaits: null }, 'unfreeze', 1],
  ])('to a run that has %j is, as a %s, sent on %i times', async (awaits, kind, times) => {
    const { runs, store, engine } = runsOf({ 'contacts.waiting': { ...waiting, ...awaits }, 'runs.queueMessage': 7 });
    await runs.agentContact({ node, kind } as never);
    expect([engine.calls.length, store.of('runs.queueMessage').length]).toEqual([times, times]);
    expect(store.of('runs.messageSent')).toEqual(Array(times).fill([7]));
  });

  test('that finds no workflow has its run put right, and is done with', async () => {
    const { runs, store } = runsOf(
      { 'contacts.waiting': waiting, 'runs.queueMessage': 7, 'runs.find': run },
      failing(gone),
    );
    await runs.agentContact(contact);
    expect(store.of('resumes.record')).toHaveLength(1);
    expect(store.of('runs.messageSent')).toEqual([[7]]);
  });

  test('is kept for the relay while the engine is away', async () => {
    const given = { 'contacts.waiting': waiting, 'runs.queueMessage': 7 };
    const { runs, store, warned, facts } = runsOf(given, failing(new Error('away')));
    await runs.agentContact(contact);
    expect([store.of('runs.messageSent'), warned]).toEqual([[], ['message kept for the relay']]);
    expect(facts).toEqual([{ kind: 'heartbeat', run: id, reason: 'Error: away' }]);
  });
});

describe('a step that is tried again with other arguments', () => {
  const args = { password: 'geheim' };
  const retry = (given: object = {}) =>
    ({ run: run.id, act: 'retry', cursor: 0, reason: 'seen', asked, ...given }) as never;
  const input = { steps: [{ on: { node_uuid: 'child' } }] };
  const answers = {
    'runs.find': run,
    'runs.input': input,
    'runs.groupsOf': ['east'],
    'nodes.find': { driver: 'redfish', driver_info: {} },
  };

  test('gets them sealed for the node that it runs on, and the sealed ones are stored before they are named', async () => {
    const seal = jest.fn(() => ({ document: { password: 'sealed' }, secrets: ['s'] }));
    const updates: unknown[] = [];
    const { runs, store } = runsOf(answers, () => undefined, { vault: { seal }, updates });
    expect(await runs.operate(retry({ args }))).toBe('taken');
    expect(store.of('nodes.find')).toEqual([[{ uuid: 'child' }]]);
    expect(seal.mock.calls).toEqual([
      [args, expect.objectContaining({ holder: 'run', holder_id: id, field: 'args', groups: ['east'] })],
    ]);
    expect(store.of('secrets.insert')).toEqual([[['s']]]);
    expect(updates).toEqual([
      [expect.anything(), { args: [expect.objectContaining({ args: { password: 'sealed' } })], updateId: 'req-1' }],
    ]);
  });

  test('keeps its own where none came', async () => {
    const updates: [unknown, { args: object[] }][] = [];
    const { runs, store } = runsOf(answers, () => undefined, { updates });
    expect(await runs.operate(retry())).toBe('taken');
    expect(store.of('secrets.insert')).toEqual([]);
    expect(updates[0]![1].args[0]).not.toHaveProperty('args');
  });

  test.each([
    ['that has ended by itself', { finished_at: new Date() }, /^The run has ended\.$/],
    ['that goes on from its record', {}, /had lost this run; it goes on from its record now/],
  ])('is refused where the engine has no workflow of a run %s, which the trail says', async (_, now, says) => {
    let looks = 0;
    const found = () => (looks++ === 0 ? run : { ...run, ...now });
    const { runs, store } = runsOf({ ...answers, 'runs.find': found, 'runs.isRestarting': true }, failing(gone));
    await expect(runs.operate(retry())).rejects.toMatchObject({
      code: 'Conflict',
      message: expect.stringMatching(says),
    });
    const actions = store.of('audit.write').map(([row]) => (row as { action: string }).action);
    expect(actions).toEqual(['run.retry', 'run.retry.refused']);
  });

  test('is not written down as refused where the engine gave no answer: it may take effect', async () => {
    const { runs, store } = runsOf(answers, failing(new Error('away')));
    await expect(runs.operate(retry())).rejects.toMatchObject({ code: 'ActUnanswered' });
    expect(store.of('audit.write')).toHaveLength(1);
  });
});

describe('the relay', () => {
  const refusal = new ServiceError('refused', { cause: Object.assign(new Error('grpc'), { code: 3 }) });
  const message = { id: 7, run_id: id, workflow_id: 'w', kind: 'abort', payload: {}, run_state: 'running' };
  const others = { ...message, id: 8, run_state: 'succeeded' };
  const passOf = (answers: Answers, answer: (name: string, ...args: unknown[]) => unknown) => {
    const [store, engine, log] = [storeOf({ 'runs.unstarted': [], ...answers }), clientOf(answer), logOf()];
    const deps = { inventory: store.inventory, client: engine.client, log: log.log } as unknown as RunRelayDeps;
    return { store, engine, ...log, pass: relayOnce(deps) };
  };

  test.each([
    ['abort', 'running', ['signal']],
    ['unhold', 'running', ['signal']],
    ['agentContact', 'running', ['signal']],
    ['cancel', 'failed', ['cancel']],
    ['abort', 'failed', []],
  ])('delivers %s to a run that is %s by %j, and is done with it', async (kind, run_state, calls) => {
    const signals: unknown[] = [];
    const { store, engine, pass } = passOf(
      { 'runs.unsentMessages': [{ ...message, kind, run_state }] },
      (name, definition) => void (name === 'signal' && signals.push((definition as { name: string }).name)),
    );
    expect(await pass).toEqual({ started: 0, sent: 1 });
    expect(signals).toEqual(calls.includes('signal') ? [kind] : []);
    expect([engine.calls, store.of('runs.messageSent')]).toEqual([calls, [[7]]]);
  });

  test('keeps what is for a run without a workflow until it has one', async () => {
    const { store, engine, pass } = passOf(
      { 'runs.unsentMessages': [{ ...message, run_state: 'accepted' }] },
      () => undefined,
    );
    expect(await pass).toEqual({ started: 0, sent: 0 });
    expect([engine.calls, store.of('runs.messageSent')]).toEqual([[], []]);
  });

  test('keeps a message for the execution that goes on from the record, and delivers the next one', async () => {
    const { store, pass } = passOf(
      { 'runs.unsentMessages': [message, others], 'runs.find': run, 'runs.isRestarting': true },
      failing(gone),
    );
    expect(await pass).toEqual({ started: 0, sent: 1 });
    expect(store.of('runs.messageSent')).toEqual([[8]]);
  });

  test('is done with a message of a run that has ended in the engine or is known to no table', async () => {
    const ended = passOf(
      { 'runs.unsentMessages': [message], 'runs.find': run, 'recovery.current': undefined },
      (name) => {
        if (name === 'signal') throw gone;
        return { status: { name: 'TERMINATED' } };
      },
    );
    expect(await ended.pass).toEqual({ started: 0, sent: 1 });
    const unknown = passOf({ 'runs.unsentMessages': [message] }, failing(gone));
    expect(await unknown.pass).toEqual({ started: 0, sent: 1 });
  });

  test('does not end a run that waits for its new workflow, though the one before is closed', async () => {
    const { store, pass } = passOf(
      {
        'runs.unsentMessages': [message],
        'runs.find': run,
        'runs.input': { ends: 'done' },
        'runs.held': { uuid: node, provision_state: 'cleaning' },
        'runs.isRestarting': true,
      },
      (name) => {
        if (name === 'signal') throw gone;
        return { status: { name: 'TERMINATED' } };
      },
    );
    expect(await pass).toEqual({ started: 0, sent: 1 });
    expect(store.of('runs.finish')).toEqual([]);
  });

  test('leaves a message that the engine refuses, and delivers the next one; one that is away ends the pass', async () => {
    const refused = passOf({ 'runs.unsentMessages': [message, others] }, failing(refusal));
    expect(await refused.pass).toEqual({ started: 0, sent: 1 });
    expect(refused.store.of('runs.messageSent')).toEqual([[8]]);
    expect(refused.warned).toEqual(['Temporal refuses a message']);
    const away = passOf({ 'runs.unsentMessages': [message, others] }, failing(new Error('away')));
    await expect(away.pass).rejects.toThrow('away');
    expect(away.store.of('runs.messageSent')).toEqual([]);
  });

  const unstarted = { 'runs.unstarted': [{ id }], 'runs.unsentMessages': [] };
  test.each([
    ['that is gone', { 'runs.input': { ends: 'done' } }],
    ['without an input', { 'runs.find': { ...run, requester: {} } }],
  ])('starts nothing of a run %s', async (_, answers) => {
    const { engine, pass } = passOf({ ...unstarted, ...answers }, () => undefined);
    expect(await pass).toEqual({ started: 0, sent: 0 });
    expect(engine.calls).toEqual([]);
  });

  test.each([
    [4, 'message is too large', 0],
    [5, 'message is too large', 1],
    [5, 'namespace rate limit exceeded', 0],
  ])('after %i tries, a run that is refused with "%s" ends %i times', async (tried, details, times) => {
    const cause = Object.assign(new Error('grpc'), { code: 8, details });
    const answers = {
      ...unstarted,
      'runs.find': { ...run, requester: {} },
      'runs.input': { ends: 'done', verb: 'clean', lock: { run: id, node_uuid: node, fence: 3 }, steps: [] },
      'runs.startFailed': tried,
      'runs.lockAccepted': true,
      'runs.held': { uuid: node, provision_state: 'cleaning' },
    };
    const { store, pass } = passOf(answers, failing(new ServiceError('refused', { cause })));
    expect(await pass).toEqual({ started: 0, sent: 0 });
    expect(store.of('runs.startFailed')).toEqual([[id, expect.stringContaining(details)]]);
    expect(store.of('runs.finish')).toHaveLength(times);
  });

  test('does nothing during a recovery', async () => {
    const { store, pass } = passOf({ 'recovery.current': { side: 'store' } }, () => undefined);
    expect(await pass).toEqual({ started: 0, sent: 0 });
    expect(store.calls.map(([name]) => name)).toEqual(['recovery.current']);
  });
});

describe('a run that goes on from its record', () => {
  const step = { index: 0, interface: 'power', step: 'reboot', args: {}, acts: [{ act: 'power_off' }] };
  const input = { steps: [step] };
  const record = { seq: 2, state: 'running', waiting_for: null, paused: false, plan: null, ending: null, steps: [] };
  const resumed = async (answers: Answers) => {
    const [store, log] = [storeOf(answers), logOf()];
    const done = await resumeRun(run as unknown as Parameters<typeof resumeRun>[0], 'It was lost.', {
      inventory: store.inventory as Parameters<typeof resumeRun>[2]['inventory'],
      log: log.log,
    });
    return { done, store, ...log };
  };

  test('says as an event why, and where it goes on', async () => {
    const { done, store, warned, facts } = await resumed({ 'resumes.record': record, 'runs.input': input });
    const lock = { run: id, node_uuid: node, fence: 3 };
    expect(store.of('resumes.restart')).toEqual([[lock, expect.objectContaining({ from: 0, seq: 2, resumed: true })]]);
    expect(store.of('events.append')).toEqual([
      [
        {
          kind: 'run.restarted',
          node_uuid: node,
          run_id: id,
          project: 'p1',
          lessee: 'p2',
          data: { reason: 'It was lost.', goes_on_at: 'step 1: power.reboot' },
        },
      ],
    ]);
    expect([done, warned]).toEqual([true, ['a run goes on from its record']]);
    expect(facts).toEqual([{ run: id, node_uuid: node, why: 'It was lost.', at: 'step 1: power.reboot' }]);
  });

  test.each([
    ['that another pass has by now', { 'runs.input': input }],
    ['without an input', { 'resumes.record': record }],
  ])('is not started anew %s', async (_, answers) => {
    const { done, store, warned } = await resumed(answers);
    expect([done, warned]).toEqual([false, []]);
    expect([store.of('resumes.restart'), store.of('events.append')]).toEqual([[], []]);
  });
});

const cleaning = {
  node: { uuid: node, name: 'n1', driver: 'redfish', conductor_group: '', provision_state: 'manageable' },
  verb: 'clean',
  kind: 'clean',
  event: 'clean',
  ends: 'done',
  steps: [{ index: 0, interface: 'power', step: 'reboot', args: {}, acts: [] }],
  ramdisk: {},
  runbook: null,
  asked: { ...asked, requester: { ...asked.requester, project_id: null } },
};

test('a run that the engine does not take now is accepted, and left to the relay, which the log says', async () => {
  const answers = {
    'runs.newId': id,
    'runs.accept': { lock: { run: id, node_uuid: node, fence: 1 }, owner: null, lessee: null },
  };
  const { runs, warned, facts } = runsOf(answers, failing(new Error('away')));
  expect(await runs.start(cleaning as unknown as RunOrder)).toEqual({ run: id });
  expect(warned).toEqual(['run accepted, start left to the relay']);
  expect(facts).toEqual([{ run: id, reason: 'Error: away' }]);
});

test('no workflow starts in Temporal for a run without steps, because its acceptance has ended it', async () => {
  const answers = {
    'runs.newId': id,
    'runs.accept': { lock: { run: id, node_uuid: node, fence: 1 }, owner: null, lessee: null },
    'runs.held': { uuid: node, provision_state: 'cleaning', owner: null, lessee: null, maintenance: false },
  };
  const { runs, store, engine, warned } = runsOf(answers, failing(new Error('away')));
  expect(await runs.start({ ...cleaning, steps: [] } as unknown as RunOrder)).toEqual({ run: id });
  expect(store.of('runs.finish')).toEqual([
    [{ run: id, node_uuid: node, fence: 1 }, expect.objectContaining({ state: 'succeeded', to: 'available' })],
  ]);
  expect([engine.calls, warned]).toEqual([[], []]);
});

test('an unhold is queued and sent, and no abort is noted', async () => {
  const { runs, store, engine } = runsOf({ 'runs.holding': run, 'runs.queueMessage': 7 });
  await runs.send({ node: { uuid: node, name: 'n1' }, kind: 'unhold', asked } as unknown as Parameters<
    typeof runs.send
  >[0]);
  expect(store.of('runs.queueMessage')).toEqual([[id, 'unhold', expect.objectContaining({ by: 'ada', cursor: 1 })]]);
  expect([engine.calls, store.of('runs.abortAsked')]).toEqual([['signal'], []]);
});

test('an unhold for a run that goes on from its record is kept for the execution to come', async () => {
  const answers = { 'runs.holding': run, 'runs.queueMessage': 7, 'runs.find': run, 'runs.isRestarting': true };
  const { runs, store } = runsOf(answers, failing(gone));
  await runs.send({ node: { uuid: node, name: 'n1' }, kind: 'unhold', asked } as unknown as Parameters<
    typeof runs.send
  >[0]);
  expect(store.of('runs.messageSent')).toEqual([]);
});

test('a run whose workflow is closed and of which no input is left cannot be ended', async () => {
  const { client } = clientOf(() => ({ status: { name: 'TERMINATED' } }));
  const { inventory } = storeOf({});
  const deps = { inventory, log: logOf().log } as Parameters<typeof reconcileRun>[2];
  const engine = createEngine(client as unknown as Parameters<typeof createEngine>[0]);
  expect(await reconcileRun(run as unknown as Parameters<typeof reconcileRun>[0], engine, deps)).toBeUndefined();
});

test('a pass of the reconciler during a recovery touches nothing', async () => {
  const store = storeOf({ 'recovery.current': { side: 'store' } });
  const deps = { inventory: store.inventory, client: clientOf(() => undefined).client, log: logOf().log };
  const pass = await reconcileOnce(deps as unknown as Parameters<typeof reconcileOnce>[0]);
  expect([pass, store.calls]).toEqual([{ started: 0, ended: 0 }, [['recovery.current']]]);
});

test('a look that the engine does not take says so, with the cause', async () => {
  const away = new Error('away');
  const { client } = clientOf(failing(away));
  const order = { node: { uuid: node, name: 'n1', conductor_group: '' }, act: 'verify', args: {}, asked };
  const asking = call(
    order as unknown as Parameters<typeof call>[0],
    { client, timing: {} } as unknown as Parameters<typeof call>[1],
  );
  await expect(asking).rejects.toMatchObject({ code: 'EngineUnavailable', cause: away });
});

test.each([
  ['n1', 'n1'],
  [null, node],
])('a look that is not answered in time names its node: %s', async (name, says) => {
  const late = new ServiceError('late', { cause: Object.assign(new Error('grpc'), { code: 4 }) });
  const starts: unknown[] = [];
  const { client } = clientOf((_, ...args) => {
    starts.push(args[1]);
    return { result: () => Promise.reject(late) };
  });
  const order = { node: { uuid: node, name, conductor_group: '' }, act: 'verify', args: {}, asked };
  const deps = { client, timing: {}, callTimeoutMs: 2_500 };
  const asking = call(order as unknown as Parameters<typeof call>[0], deps as unknown as Parameters<typeof call>[1]);
  await expect(asking).rejects.toMatchObject({ code: 'CallTimeout', facts: { node: says, seconds: 3 } });
  expect(starts).toEqual([
    expect.objectContaining({ staticSummary: expect.stringMatching(new RegExp(` of ${says}$`)) }),
  ]);
});

test.each([
  [{ state: 'aborted', last_error: 'ada aborted it' }, null, 'Conflict', 'ada aborted it'],
  [{ state: 'aborted', last_error: null }, null, 'Conflict', `Run ${id} ended: aborted.`],
  [{ state: 'failed', last_error: 'busy' }, 'BmcBusy', 'BmcBusy', 'busy'],
  [{ state: 'failed', last_error: 'new trouble' }, 'OfALaterRelease', 'RunFailed', 'new trouble'],
  [{ state: 'failed', last_error: 'odd' }, 'toString', 'RunFailed', 'odd'],
  [{ state: 'failed', last_error: 'a bug' }, 'Unexpected', 'RunFailed', 'a bug'],
  [{ state: 'failed', last_error: 'no code' }, null, 'RunFailed', 'no code'],
])('an act whose run ended as %j with %s is answered by %s', async (ended, failure, code, says) => {
  const { inventory } = storeOf({
    'runs.find': { ...run, ...ended, finished_at: new Date() },
    'calls.failureOf': failure,
  });
  const deps = { inventory, timing: {}, callTimeoutMs: 2_500, start: async () => ({ run: id }) };
  const order = { node: { uuid: node, name: 'n1', conductor_group: '' }, act: 'set_boot_device', args: {}, asked };
  const asking = call(order as unknown as Parameters<typeof call>[0], deps as unknown as Parameters<typeof call>[1]);
  await expect(asking).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
});

describe('upkeep', () => {
  const [mark, cluster] = ['77777777-2222-4333-8444-555555555555', { system_id: '7', timeline: 1 }];
  const worked = async (pass: number, answers: Answers = {}) => {
    const store = storeOf({
      'recovery.mark': { ...cluster, count: 1, mark, seen: mark },
      'recovery.cluster': cluster,
      'runs.quiet': [],
      'runs.unstarted': [],
      'runs.unsentMessages': [],
      'allocationPasses.take': [],
      ...answers,
    });
    const listed: string[] = [];
    const onReconciled = jest.fn();
    const schedule = { describe: async () => ({ state: { note: `temper-mark 1 ${mark}` } }), update: async () => {} };
    const client = {
      ...clientOf(() => undefined).client,
      schedule: { getHandle: () => schedule },
    };
    const list = ({ query }: { query: string }) => {
      listed.push(query);
      return [];
    };
    const deps = {
      inventory: store.inventory,
      client: { ...client, workflow: { list } },
      log: logOf().log,
      queuePrefix: 'test',
      ensureMarkHolder: async () => {},
      onReconciled,
    };
    expect(await upkeepOnce(deps as unknown as UpkeepDeps, pass)).toBe(true);
    return {
      whole: onReconciled.mock.calls.length,
      moved: store.of('recovery.advance').length,
      looked: store.of('runs.quiet').length,
      listed: listed.length,
    };
  };

  test.each([
    [0, 1, 1],
    [1, 0, 0],
    [2, 0, 0],
    [3, 1, 0],
    [15, 1, 1],
  ])(
    'looks at quiet runs in pass %i as in every one, reconciles as a whole and moves the mark %i times, and lists workflows %i times',
    async (pass, moved, listed) => {
      expect(await worked(pass)).toEqual({ whole: moved, moved, looked: 1, listed });
    },
  );

  test('looks at nothing more where store and engine do not belong together', async () => {
    const held = { 'recovery.current': { side: 'store' } };
    expect(await worked(0, held)).toEqual({ whole: 0, moved: 0, looked: 0, listed: 0 });
  });
});
