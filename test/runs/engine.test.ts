/** What is asked of Temporal, and what each of its answers is taken for; without a server. */
import {
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import type { RunInput } from '../../src/model/runs/runs';
import { createEngine } from '../../src/runs/engine';
import type { UpdateAct } from '../../src/runs/engine-commands';
import { isRefusal, isTooLarge, refusalOf } from '../../src/runs/engine-refusals';

type Call = readonly [name: string, ...args: unknown[]];

/** An engine whose every call is noted and answered by this function; by default with nothing. */
const engineOf = (answer: (name: string) => unknown = () => undefined) => {
  const calls: Call[] = [];
  const noted =
    (name: string) =>
    async (...args: unknown[]) => {
      calls.push([name, ...args]);
      return answer(name);
    };
  const names = ['signal', 'executeUpdate', 'cancel', 'terminate', 'describe', 'query'];
  const handle = Object.fromEntries(names.map((name) => [name, noted(name)]));
  const workflow = {
    start: noted('start'),
    getHandle: () => handle,
    async *list(options: unknown) {
      calls.push(['list', options]);
      yield { workflowId: 'a' };
      yield { workflowId: 'b' };
    },
  };
  const withDeadline = (_: number, work: () => Promise<unknown>) => work();
  return { calls, engine: createEngine({ workflow, withDeadline } as never) };
};
const failing = (thrown: unknown) =>
  engineOf(() => {
    throw thrown;
  }).engine;

const notFound = new WorkflowNotFoundError('gone', 'w', undefined);
const away = new ServiceError('the engine is away');
const refused = (code: number, details?: string) =>
  new ServiceError('refused', { cause: Object.assign(new Error('grpc'), { code, ...(details && { details }) }) });

const run = {
  lock: { run: 'r1', node_uuid: 'u1', fence: 1 },
  kind: 'clean',
  verb: 'clean',
  node_name: 'n1',
  driver: 'redfish',
  conductor_group: 'east',
  steps: [
    { index: 0, interface: 'power', step: 'reboot', args: {} },
    { index: 1, interface: 'bios', step: 'apply', args: {} },
  ],
  runbook: null,
  rule_set: 'abc',
} as unknown as RunInput;
const facts = { owner: 'p1', lessee: 'p2', requester: 'ada', state: 'cleaning' };

describe('a start', () => {
  type Options = Readonly<Record<string, unknown>>;
  const started = async (given: Partial<RunInput> = {}, of: Partial<typeof facts | Record<string, null>> = {}) => {
    const { calls, engine } = engineOf();
    await engine.start('w', { ...run, ...given }, { ...facts, ...of } as typeof facts);
    const [[, type, options]] = calls as [[string, string, Options]];
    const { typedSearchAttributes, ...rest } = options;
    const pairs = (typedSearchAttributes as { getAll(): { key: { name: string }; value: unknown }[] }).getAll();
    return { type, rest, attributes: Object.fromEntries(pairs.map(({ key, value }) => [key.name, value])) };
  };

  test('names the run, its node and what it does', async () => {
    expect(await started()).toEqual({
      type: 'clean',
      rest: {
        workflowId: 'w',
        taskQueue: 'temper-control',
        args: [run],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        staticSummary: 'clean on n1 (2 steps)',
        staticDetails: 'Run r1 on node u1, driver redfish.\n\n1. power.reboot\n2. bios.apply',
        memo: { rule_set: 'abc' },
        priority: { priorityKey: 3, fairnessKey: 'project p1' },
      },
      attributes: {
        TemperNodeUuid: 'u1',
        TemperVerb: 'clean',
        TemperRequester: 'ada',
        TemperConductorGroup: 'east',
        TemperStepIndex: 0,
        TemperNodeName: 'n1',
        TemperOwner: 'p1',
        TemperLessee: 'p2',
        TemperProvisionState: 'cleaning',
      },
    });
  });

  test('leaves out what a run does not have', async () => {
    const { rest, attributes } = await started(
      { node_name: null, conductor_group: '', steps: run.steps.slice(0, 1), queue_prefix: 'x' },
      { owner: null, lessee: null, state: null },
    );
    expect([rest.staticSummary, rest.taskQueue]).toEqual(['clean on u1 (1 step)', 'x-control']);
    expect(attributes).toEqual({
      TemperNodeUuid: 'u1',
      TemperVerb: 'clean',
      TemperRequester: 'ada',
      TemperConductorGroup: 'default',
      TemperStepIndex: 0,
    });
  });

  test('is titled by its runbook or its power target', async () => {
    const withRunbook = await started({ runbook: 'CUSTOM_R' });
    expect(withRunbook.rest.staticSummary).toBe('clean with runbook CUSTOM_R on n1 (2 steps)');
    expect(withRunbook.attributes.TemperRunbook).toBe('CUSTOM_R');
    expect((await started({ power: { target: 'power off' } })).rest.staticSummary).toBe('power off on n1 (2 steps)');
    const long = await started({ node_name: 'n'.repeat(300) });
    expect(long.rest.staticSummary).toHaveLength(200);
  });

  test('may use an id again only where a run goes on from its record', async () => {
    const policyOf = async (carries: object) => (await started({ carries } as never)).rest.workflowIdReusePolicy;
    expect([await policyOf({ resumed: true }), await policyOf({})]).toEqual(['ALLOW_DUPLICATE', 'REJECT_DUPLICATE']);
  });

  test('of what was started already is as good, and any other failure is one', async () => {
    const already = new WorkflowExecutionAlreadyStartedError('started', 'w', 'clean');
    await expect(failing(already).start('w', run, facts)).resolves.toBeUndefined();
    await expect(failing(away).start('w', run, facts)).rejects.toBe(away);
  });
});

describe('what is sent to an open workflow', () => {
  const message = { operationId: 'r1' } as never;
  const sent = {
    abort: (engine: ReturnType<typeof createEngine>) => engine.send('w', 'abort', message),
    unhold: (engine: ReturnType<typeof createEngine>) => engine.send('w', 'unhold', message),
    agentContact: (engine: ReturnType<typeof createEngine>) => engine.contact('w', message),
    terminate: (engine: ReturnType<typeof createEngine>) => engine.terminate('w', 'because'),
  };

  test.each(Object.entries(sent))('%s arrives, finds no workflow, or fails', async (name, send) => {
    const { calls, engine } = engineOf();
    expect(await send(engine)).toBe(true);
    const [[call, what]] = calls as [[string, { name?: string } | string]];
    expect(call).toBe(name === 'terminate' ? 'terminate' : 'signal');
    expect(typeof what === 'string' ? what : what.name).toBe(name === 'terminate' ? 'because' : name);
    expect(await send(failing(notFound))).toBe(false);
    await expect(send(failing(away))).rejects.toBe(away);
  });

  test('a cancellation of what has ended is no failure', async () => {
    await expect(failing(notFound).cancel('w')).resolves.toBeUndefined();
    await expect(failing(away).cancel('w')).rejects.toBe(away);
  });

  test.each<[UpdateAct, string, object]>([
    ['pause', 'setPaused', { paused: true, by: 'ada', via: 'api' }],
    ['resume', 'setPaused', { paused: false, by: 'ada', via: 'api' }],
    ['retry', 'retryStep', { cursor: 1, by: 'ada', reason: 'x', via: 'api', args: { a: 1 } }],
    ['skip', 'skipStep', { cursor: 1, by: 'ada', reason: 'x', via: 'api' }],
    ['fail', 'failOperation', { cursor: 1, by: 'ada', reason: 'x', via: 'api' }],
  ])('%s is the update %s, once for each request', async (act, name, argument) => {
    const { calls, engine } = engineOf();
    const order = { cursor: 1, by: 'ada', reason: 'x', requestId: 'req-1', args: { a: 1 } };
    expect(await engine.update('w', act, order)).toBe(true);
    expect(calls).toEqual([
      ['executeUpdate', expect.objectContaining({ name }), { args: [argument], updateId: 'req-1' }],
    ]);
  });

  test('an update without arguments carries none, and is refused, unanswered, or finds no workflow', async () => {
    const order = { cursor: 1, by: 'ada', reason: 'x', requestId: 'req-1' };
    const { calls, engine } = engineOf();
    await engine.update('w', 'retry', order);
    expect(calls[0]![2]).toEqual({ args: [expect.not.objectContaining({ args: undefined })], updateId: 'req-1' });
    expect(Object.keys((calls[0]![2] as { args: object[] }).args[0]!)).not.toContain('args');
    const asked = (thrown: unknown) => failing(thrown).update('w', 'skip', order);
    const conflict = (reason: string) => ({ code: 'Conflict', facts: { reason } });
    await expect(asked(new WorkflowUpdateFailedError('x', new Error('not parked')))).rejects.toMatchObject(
      conflict('not parked'),
    );
    await expect(asked(new WorkflowUpdateFailedError('x', undefined as never))).rejects.toMatchObject(
      conflict('The run refused.'),
    );
    expect(await asked(notFound)).toBe(false);
    await expect(asked(away)).rejects.toMatchObject({ code: 'ActUnanswered', cause: away });
  });
});

describe('what is seen of a run', () => {
  const seen = (described: unknown, progress?: unknown) =>
    engineOf((name) => {
      const answer = name === 'describe' ? described : progress;
      if (answer === undefined) throw away;
      return answer;
    }).engine;
  const at = (seconds: number, nanos?: number) => ({ seconds, nanos });
  const details = (text: string) => ({ payloads: [{ data: Buffer.from(text) }] });
  const pendingOf = async (activity: object) => {
    const raw = { pendingActivities: [activity] };
    const { pending } = await seen({ status: { name: 'RUNNING' }, raw }).read('w');
    return pending![0]!;
  };

  test('its status, which is unknown where the engine has no such workflow', async () => {
    expect(await seen({ status: { name: 'RUNNING' } }).status('w')).toBe('RUNNING');
    expect(await failing(notFound).status('w')).toBe('UNKNOWN');
    await expect(failing(away).status('w')).rejects.toBe(away);
  });

  test('the ids of all open workflows of its queue', async () => {
    const { calls, engine } = engineOf();
    const ids: string[] = [];
    for await (const id of engine.open('x')) ids.push(id);
    expect(ids).toEqual(['a', 'b']);
    expect(calls).toEqual([['list', { query: "ExecutionStatus = 'Running' and TaskQueue = 'x-control'" }]]);
  });

  test('what each source answers in time, and no more', async () => {
    const described = { status: { name: 'RUNNING' }, raw: {} };
    const read = (...answers: [unknown, unknown?]) => seen(...answers).read('w');
    expect(await read(described, { cursor: 1 })).toEqual({
      sources: ['describe', 'query'],
      status: 'RUNNING',
      pending: [],
      progress: { cursor: 1 },
    });
    expect(await read(described)).toEqual({ sources: ['describe'], status: 'RUNNING', pending: [] });
    expect(await read(undefined, { cursor: 1 })).toEqual({ sources: ['query'], progress: { cursor: 1 } });
    expect(await read(undefined)).toEqual({ sources: [] });
  });

  test('a pending activity as it stands, and as little as the engine says', async () => {
    const activity = {
      activityId: '7',
      attempt: 3,
      lastFailure: { message: 'the BMC is busy' },
      nextAttemptScheduleTime: at(1_700_000_000, 500_000_000),
      lastHeartbeatTime: at(1_700_000_001),
      heartbeatDetails: details('{"done":5}'),
      paused: true,
    };
    expect(await pendingOf(activity)).toEqual({
      activity: '7',
      attempt: 3,
      last_error: 'the BMC is busy',
      next_retry_at: '2023-11-14T22:13:20.500Z',
      last_heartbeat_at: '2023-11-14T22:13:21.000Z',
      heartbeat: { done: 5 },
      paused: true,
    });
    expect(await pendingOf({})).toEqual({
      activity: '',
      attempt: 1,
      last_error: null,
      next_retry_at: null,
      last_heartbeat_at: null,
      heartbeat: null,
      paused: false,
    });
  });

  test.each<[string, object, object]>([
    ['is due while it is scheduled', { state: 1, scheduledTime: at(0) }, { next_retry_at: '1970-01-01T00:00:00.000Z' }],
    ['is not due while it is worked on', { state: 2, scheduledTime: at(0) }, { next_retry_at: null }],
    ['has no time without seconds', { lastHeartbeatTime: { seconds: null } }, { last_heartbeat_at: null }],
    ['has details in a form of their own', { heartbeatDetails: details('\u0001') }, { heartbeat: null }],
    ['has details without payloads', { heartbeatDetails: {} }, { heartbeat: null }],
    ['has details without data', { heartbeatDetails: { payloads: [{}] } }, { heartbeat: null }],
    ['has no failure of its own', { lastFailure: { message: null } }, { last_error: null }],
    [
      'ran out of time after a failure',
      { lastFailure: { message: 'timer', timeoutFailureInfo: {}, cause: { message: 'refused' } } },
      { last_error: 'refused' },
    ],
    [
      'ran out of time without a word',
      { lastFailure: { message: 'timer', timeoutFailureInfo: {} } },
      { last_error: 'The worker that carried out the last attempt gave no more sign of life.' },
    ],
  ])('an activity that %s', async (_what, activity, shown) => {
    expect(await pendingOf(activity)).toMatchObject(shown);
  });
});

describe('a refusal', () => {
  test.each([
    [refused(3), true],
    [refused(8), true],
    [refused(9), true],
    [refused(11), true],
    [refused(4), false],
    [refused(14), false],
    [away, false],
    [new Error('x'), false],
  ])('%#: is distinguished from an engine that is away', (thrown, is) => {
    expect(isRefusal(thrown)).toBe(is);
  });

  test('is reported in the words of the engine, as far as they are of use', () => {
    expect(refusalOf(refused(3, 'no such attribute'))).toBe('no such attribute');
    expect(refusalOf(new Error('x'))).toBe('Error: x');
    expect(refusalOf(refused(3, 'y'.repeat(400)))).toHaveLength(300);
  });

  test.each([
    ['Blob data size exceeds limit', true],
    ['grpc: received message larger than max', true],
    ['the event is Too Large', true],
    ['it exceeds size limit', true],
    ['no such search attribute', false],
  ])('"%s" is for ever: %s', (text, is) => {
    expect(isTooLarge(text)).toBe(is);
  });
});
