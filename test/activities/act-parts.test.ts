/** What one attempt of an act asks of the store and says to the engine, call by call; without servers. */
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Attempted } from '../../src/activities/act-context';
import { createBmcActivities, type RunActInput } from '../../src/activities/bmc';
import type { BmcDeps } from '../../src/activities/bmc-deps';
import { toFailure } from '../../src/activities/failures';
import { applyInspectionRules, matching } from '../../src/activities/inspection-rules';
import { withRamdisk } from '../../src/activities/ramdisk-image';
import { startTalk } from '../../src/activities/ramdisk-silence';
import { raise, TemperError } from '../../src/model/errors';
import type { ActOutcome } from '../../src/model/runs/runs';
import { recordingDriver } from '../support/recording-driver';
import { type Answers, logOf, storeOf } from '../support/run-doubles';

const lock = { run: 'r1', node_uuid: 'u1', fence: 3 };
const step = { index: 2, interface: 'power', step: 'power_on', args: {}, acts: [{ act: 'power_on' }] };
const input = (more: object = {}): RunActInput =>
  ({ lock, step, act: 'power_on', last: true, timing: {}, kind: 'clean', ...more }) as unknown as RunActInput;
const found = { uuid: 'u1', name: 'n1', driver: 'fake-hardware', driver_info: {}, instance_info: {} };
const begun: Answers = {
  'runSteps.begin': { held_back: false, node: found },
  'runSteps.end': true,
  'secrets.read': [],
  'runs.held': { uuid: 'u1', provision_state: 'cleaning' },
};
/** What an attempt finds that something holds back. */
const heldBack: Answers = { ...begun, 'runSteps.begin': { held_back: true } };
type ActsOver = NonNullable<Parameters<typeof recordingDriver>[0]>;
type Over = {
  readonly answers?: Answers;
  readonly acts?: ActsOver;
  readonly engine?: object;
  readonly input?: object;
  /** Acts of its driver; no driver at all where null. */
  readonly driver?: object | null;
  /** What ramdisks do, whatever the driver. */
  readonly agentActs?: object;
};

/** Runs one attempt. @returns its answer or failure, what the store was asked, and the heartbeats */
const attempted = async ({
  answers = begun,
  acts = {},
  engine = {},
  input: given = {},
  driver: only,
  agentActs,
}: Over) => {
  const store = storeOf(answers);
  const log = logOf();
  const { driver, calls } = recordingDriver(acts);
  const seen: string[] = [];
  const ms: number[] = [];
  const activities = createBmcActivities({
    inventory: store.inventory,
    vault: {},
    driverOf: () => (only === null ? undefined : { ...driver, ...(only && { acts: only }), laneKey: () => null }),
    ...(agentActs && { agentActs }),
    lanes: { run: (_lane: null, _signal: AbortSignal, work: () => unknown) => work() },
    log: log.log,
    observe: {
      act: (_step: string, _act: string, code: string, took: number) => {
        seen.push(code);
        ms.push(took);
      },
    },
  } as unknown as Parameters<typeof createBmcActivities>[0]);
  const environment = new MockActivityEnvironment({
    attempt: 3,
    activityId: 'a',
    workflowExecution: { workflowId: 'w', runId: 'e1' },
    heartbeatTimeoutMs: 3_000,
    currentAttemptScheduledTimestampMs: 17,
    ...engine,
  });
  const beats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => void beats.push(details));
  const run = environment.run(activities.runAct, input(given)) as Promise<unknown>;
  const result = await run.then(
    (done) => ({ done }),
    (failed: { type: string; details: unknown[]; nonRetryable: boolean }) => ({ failed }),
  );
  return { ...result, store, calls, beats, seen, ms, ...log };
};
type Failed = { readonly failed: { readonly type: string; readonly details: readonly unknown[] } };
const failureOf = (result: object) => (result as Failed).failed;

test('heartbeats carry what the act says, or what an earlier attempt said, and which attempt it is', async () => {
  const acts: ActsOver = {
    power_on: async (_node, _args, { beat }) => {
      beat({ percent: 10 });
      return { is: 'done' };
    },
  };
  const { beats } = await attempted({ acts, engine: { heartbeatDetails: { percent: 5 } } });
  expect(beats).toEqual([
    { percent: 5, attempt: 3 },
    { percent: 10, attempt: 3 },
  ]);
  expect((await attempted({ acts, engine: { heartbeatTimeoutMs: undefined } })).beats).toEqual([]);
});

test('the first attempt is silent for a second, then sends the latest that the act said', async () => {
  const quick: ActsOver = {
    power_on: async (_node, _args, { beat }) => {
      beat({ percent: 10 });
      return { is: 'done' };
    },
  };
  expect((await attempted({ acts: quick, engine: { attempt: 1 } })).beats).toEqual([]);
  jest.useFakeTimers();
  try {
    const slow: ActsOver = {
      power_on: async (_node, _args, { beat }) => {
        beat({ percent: 10 });
        beat({ percent: 20 });
        jest.advanceTimersByTime(1_000);
        beat({ percent: 30 });
        return { is: 'done' };
      },
    };
    const { beats } = await attempted({ acts: slow, engine: { attempt: 1 } });
    expect(beats).toEqual([
      { percent: 20, attempt: 1 },
      { percent: 30, attempt: 1 },
    ]);
  } finally {
    jest.useRealTimers();
  }
});

test('an act that has ended before is answered from the record, and nothing is begun', async () => {
  const before = { is: 'done', note: 'was on' };
  const { done, store, calls } = (await attempted({
    answers: { ...begun, 'runSteps.begin': { held_back: false, ended: before } },
  })) as Awaited<ReturnType<typeof attempted>> & { done: unknown };
  expect(done).toEqual(before);
  const key = { index: 2, act: 'power_on', attempt: 3, execution: 'e1', activity: 'a', asked_at: 17 };
  expect(store.of('runSteps.begin')).toEqual([[{ ...lock, token: expect.any(String) }, key, step]]);
  expect([calls, store.of('runSteps.end')]).toEqual([[], []]);
});

test('the number of the act in its execution is passed on where the workflow says it', async () => {
  const { store } = await attempted({ input: { nth: 7 } });
  expect(store.of('runSteps.begin')).toEqual([
    [{ ...lock, token: expect.any(String) }, expect.objectContaining({ nth: 7 }), step],
  ]);
});

test.each([
  ['that cannot begin', { 'runSteps.begin': { held_back: false } }, 'StaleOperation', 0],
  ['whose end finds no row', { 'runSteps.end': false }, 'StaleOperation', 1],
])('an act %s fails for good, and its step is not written', async (_, over, type, performed) => {
  const result = await attempted({ answers: { ...begun, ...over } });
  expect(failureOf(result)).toMatchObject({
    type,
    nonRetryable: true,
    details: [{ node: 'u1', run: 'r1', attempt: 3 }],
  });
  expect(result.calls).toHaveLength(performed);
  expect(result.store.of('runSteps.tried')).toEqual([]);
});

test('an act is refused where this worker has no such driver, or its driver no such act', async () => {
  const none = await attempted({ driver: null });
  expect(failureOf(none)).toMatchObject({
    type: 'DriverUnsupported',
    details: [{ driver: 'fake-hardware', what: expect.stringContaining('no such driver on this worker') }],
  });
  const lacks = await attempted({ driver: {} });
  expect(failureOf(lacks)).toMatchObject({ type: 'DriverUnsupported', details: [{ what: 'power.power_on' }] });
});

test('the engine gets what the workflow goes on with, and nothing else', async () => {
  const outcome = (more: object): ActsOver => ({ power_on: async () => ({ is: 'done', ...more }) as ActOutcome });
  const answered = async (more: object) =>
    ((await attempted({ acts: outcome(more) })) as unknown as { done: object }).done;
  const whole = { note: 'n', rest: 'skip', follows: [{ act: 'power_off' }], reported: [] };
  expect(await answered({ ...whole, seen: { power_state: 'power on' } })).toEqual({ is: 'done', ...whole });
  expect(await answered({})).toEqual({ is: 'done' });
});

describe('what is kept before an act counts as done', () => {
  const awaiting = { ...step, awaits: 'heartbeat' };
  const keptBy = async (over: Over, outcome: object = {}) => {
    const acts: ActsOver = {
      power_on: async () => ({ is: 'done', ...outcome }),
      power_off: async () => ({ is: 'done', ...outcome }),
    };
    const { store, calls: _performed, ...rest } = await attempted({ acts, ...over });
    const rooms = ['observedFacts', 'details', 'ramdiskBoots', 'bootCapabilities', 'agents'];
    const calls = store.calls.map(([name]) => name).filter((name) => rooms.includes(name.split('.')[0]!));
    return { ...rest, calls, store };
  };

  test.each([
    ['nothing where nothing is worth it', {}, {}, []],
    ['nothing of a power state, which the end of the act writes', {}, { seen: { power_state: 'power on' } }, []],
    ['what was seen in detail', {}, { seen: { macs: [] } }, ['observedFacts.write']],
    ['what the ramdisk reported', {}, { reported: [] }, ['details.report']],
    ['that a ramdisk is expected', { step: awaiting }, {}, ['ramdiskBoots.expect', 'bootCapabilities.meet']],
    [
      'that the one before is gone',
      { step: awaiting, act: 'power_off' },
      {},
      ['ramdiskBoots.end', 'agents.forget', 'bootCapabilities.end'],
    ],
    ['that none is expected where the step waits for none', { act: 'power_on' }, {}, []],
  ])('%s', async (_, given, outcome, calls) => {
    expect((await keptBy({ input: given }, outcome)).calls).toEqual(calls);
  });

  test('nothing of an act during which a second ramdisk spoke for the node', async () => {
    const result = await keptBy({ answers: { ...begun, 'ramdiskBoots.end': true }, input: { act: 'power_off' } });
    expect(failureOf(result)).toMatchObject({ type: 'RamdiskConflict', details: [{ node: 'u1' }] });
    expect(result.store.of('runSteps.end')).toEqual([]);
  });

  test('nothing by a worker that comes late', async () => {
    const answers = { ...begun, 'runs.held': undefined };
    const result = await keptBy({ answers, input: { step: awaiting } });
    expect([result.calls, failureOf(result).type]).toEqual([[], 'StaleOperation']);
    expect(result.store.of('runSteps.end')).toEqual([]);
  });
});

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { follows: [] }, false],
  [false, { rest: 'skip' }, true],
])(
  'a step is done with its last act (%s), unless others follow, and when the rest is skipped: %j',
  async (last, more, done) => {
    const acts: ActsOver = {
      power_on: async () => ({ is: 'done', ...more }) as ActOutcome,
    };
    const { store, seen } = await attempted({ acts, input: { last } });
    expect(store.of('runSteps.end')[0]![3]).toBe(done);
    expect(seen).toEqual(['done']);
  },
);

describe('a failure', () => {
  const failing = (thrown: unknown): ActsOver => ({ power_on: () => Promise.reject(thrown) });
  const unreachable = new TemperError('BmcUnreachable', { node: 'n1', bmc: 'b', reason: 'refused' });
  const triedOf = async (over: Over) => {
    const { store, ...rest } = await attempted(over);
    return { tried: store.of('runSteps.tried').map((args) => args[2]), ...rest };
  };

  test.each([
    [unreachable, {}, { code: 'BmcUnreachable', again: true }],
    [unreachable, { attempts: 3 }, { code: 'BmcUnreachable', again: false }],
    [unreachable, { attempts: 4 }, { code: 'BmcUnreachable', again: true }],
    [new TemperError('BmcAuthFailed', { node: 'n1', bmc: 'b' }), {}, { code: 'BmcAuthFailed', again: false }],
    [new TypeError('ours'), {}, { code: 'ApplicationFailure', again: true, error: 'ours' }],
  ])('is written to the step, and whether it is tried again: %#', async (thrown, more, written) => {
    const { tried, seen, warned } = await triedOf({ acts: failing(thrown), input: { step: { ...step, ...more } } });
    expect(tried).toEqual([expect.objectContaining(written)]);
    expect([seen, warned]).toEqual([[thrown instanceof TemperError ? thrown.code : 'Unexpected'], ['act failed']]);
  });

  test('is in the log with its facts, which carry no secret', async () => {
    const thrown = new TemperError('BmcRejected', { node: 'n1', bmc: 'b', reason: 'no', password: 'geheim' });
    const { facts } = await triedOf({ acts: failing(thrown) });
    expect(facts).toEqual([
      expect.objectContaining({ node_uuid: 'u1', run: 'r1', step: 'power.power_on', act: 'power_on', attempt: 3 }),
    ]);
    expect(JSON.stringify(facts)).toContain('"node":"n1"');
    expect(JSON.stringify(facts)).not.toContain('geheim');
  });

  test('reaches the engine though the store does not take it', async () => {
    const answers = { ...begun, 'runSteps.tried': () => Promise.reject(new Error('away')) };
    const result = await triedOf({ acts: failing(unreachable), answers });
    expect(failureOf(result)).toMatchObject({ type: 'BmcUnreachable' });
    expect(result.warned).toEqual(['act failed', 'could not record the failure']);
  });

  test('of an intent that finds no row keeps the command from leaving', async () => {
    let left = false;
    const acts: ActsOver = {
      power_on: async (_node, _args, { intents }) => {
        await intents.record({ asked: 'on' });
        left = true;
        return { is: 'done' };
      },
    };
    const { tried, ...result } = await triedOf({ acts, answers: { ...begun, 'runSteps.recordIntent': false } });
    expect([left, failureOf(result).type, tried]).toEqual([false, 'StaleOperation', []]);
  });
});

test('a command leaves in the window of its announcement, and what is sent without one at any time', async () => {
  const might: boolean[] = [];
  const acts: ActsOver = {
    power_on: async (_node, _args, { intents, mayStillSend }) => {
      await intents.record({ asked: 'on' });
      might.push(mayStillSend());
      await intents.record({ withdrawn: true });
      might.push(mayStillSend());
      return { is: 'done' };
    },
  };
  const answers = { ...begun, 'runSteps.recordIntent': true };
  await attempted({ acts, answers, input: { timing: { settleMs: 0 } } });
  expect(might).toEqual([false, true]);
});

test('an act of the ramdisk is performed by the ramdisk, and one of the BMC by the driver, whatever both have', async () => {
  const performed: string[] = [];
  const by = (who: string) => async () => {
    performed.push(who);
    return { is: 'done' as const };
  };
  const agentActs = { agent_steps: by('ramdisk'), power_on: by('ramdisk') };
  const driver = { agent_steps: by('driver'), power_on: by('driver') };
  await attempted({ agentActs, driver, input: { act: 'agent_steps' } });
  await attempted({ agentActs, driver, input: { act: 'power_on' } });
  await attempted({ driver, input: { act: 'agent_steps' } });
  expect(performed).toEqual(['ramdisk', 'driver', 'driver']);
});

describe('nothing leaves', () => {
  const freeze = { id: 'f1', reason: 'look', until: null, requester: { user_name: 'ada', user_id: 'u' } };
  const recovery = (side: string) => ({ side, reason: 'it is older' });

  test.each([
    [{ 'runs.find': { node_name: 'n1' } }, {}, { node: 'n1', who: 'ada', until: 'until an operator ends it' }],
    [{}, { requester: { user_name: null, user_id: 'u' } }, { node: 'u1', who: 'u' }],
    [{}, { requester: {} }, { who: 'an unnamed caller' }],
    [{}, { until: new Date('2026-11-02T10:00:00Z') }, { until: 'until 2026-11-02T10:00:00.000Z' }],
  ])('while an operator’s freeze holds the node, and the failure says whose: %#', async (more, over, says) => {
    const result = await attempted({ answers: { ...heldBack, ...more, 'freezes.active': { ...freeze, ...over } } });
    expect(failureOf(result)).toMatchObject({
      type: 'NodeFrozen',
      details: [{ reason: 'look', freeze: 'f1', ...says }],
    });
    expect([result.calls, result.store.of('runSteps.tried')]).toEqual([[], []]);
  });

  test('but a look goes on', async () => {
    const answers = { ...begun, 'runSteps.begin': { held_back: true, node: found }, 'freezes.active': freeze };
    const { calls } = await attempted({ answers, input: { act: 'verify' } });
    expect(calls).toEqual(['verify']);
  });

  test('but what held it back may be over by the time it is asked for', async () => {
    const begins = [{ held_back: true }, { held_back: true }, { held_back: false, node: found }];
    const { calls, store } = await attempted({ answers: { ...heldBack, 'runSteps.begin': () => begins.shift() } });
    expect([calls, store.of('freezes.active')]).toEqual([['power_on'], [['u1'], ['u1']]]);
  });

  test.each([
    ['store', 'reset_bmc', 3, 1],
    ['store', 'reset_bmc', 1, 0],
    ['engine', 'reset_bmc', 3, 0],
    ['store', 'power_on', 3, 0],
  ])(
    'during a recovery, older side %s: of %s in attempt %i a doubt is noted %i times',
    async (side, act, attempt, times) => {
      const answers = { ...heldBack, 'recovery.current': recovery(side), 'runs.find': { node_name: 'n1' } };
      const result = await attempted({ answers, input: { act }, engine: { attempt } });
      expect(failureOf(result)).toMatchObject({
        type: 'RecoveryPending',
        details: [{ node: 'n1', reason: 'it is older' }],
      });
      expect([result.calls, result.store.of('runSteps.doubt').length]).toEqual([[], times]);
    },
  );
});

describe('a ramdisk that has been silent for long', () => {
  const silent = (ms: number | undefined): Answers => ({ ...begun, 'agents.silent': ms });
  const unreachable = () => raise('AgentUnreachable', { node: 'n1', reason: 'no answer', url: 'u' });
  const given = { act: 'agent_steps', step: { ...step, interface: 'deploy', step: 'x' } };
  const look: ActsOver = {
    agent_steps: async () => unreachable(),
    verify: async (_node, _args, { intents, signal }) => {
      signal.throwIfAborted();
      await intents.record({ asked: 'x' });
      await intents.renew();
      return { is: 'done', seen: (await intents.last()) === undefined ? { power_state: 'power off' } : {} };
    },
  };

  test('is looked for through the BMC, which announces nothing', async () => {
    const result = await attempted({ acts: look, answers: silent(600_000), input: given });
    expect(failureOf(result)).toMatchObject({
      type: 'AgentGone',
      details: [{ seen: expect.stringContaining('powered off') }],
    });
    expect(result.calls).toEqual(['agent_steps', 'verify']);
    expect(result.store.of('runSteps.recordIntent')).toEqual([]);
  });

  test.each([
    ['nothing was announced', undefined, 'AgentGone'],
    ['a command was announced', { detail: { desired: 'x' } }, 'StepOutcomeUnknown'],
    ['its command was refused', { detail: { desired: 'x', withdrawn: true } }, 'AgentGone'],
  ])('in the middle of a step that may harm when done twice: where %s before, %s', async (_what, intent, code) => {
    const acts: ActsOver = {
      agent_step: async () => unreachable(),
      verify: async () => ({ is: 'done', seen: { power_state: 'power off' } }),
    };
    const row = intent && { sent_at: new Date(0), age_ms: 5_000, ...intent };
    const answers = { ...silent(600_000), 'runSteps.lastIntent': row };
    const erasing = { act: 'agent_step', step: { ...step, interface: 'deploy', step: 'erase_devices' } };
    expect(failureOf(await attempted({ acts, answers, input: erasing })).type).toBe(code);
  });

  test('is not looked for before', async () => {
    const result = await attempted({ acts: look, answers: silent(1_000), input: given });
    expect([failureOf(result).type, result.calls]).toEqual(['AgentUnreachable', ['agent_steps']]);
  });

  test('whose BMC does not answer either is waited for as long once more', async () => {
    const acts: ActsOver = {
      ...look,
      verify: async () => raise('BmcUnreachable', { node: 'n1', bmc: 'b', reason: 'x' }),
    };
    const result = await attempted({ acts, answers: silent(400_000), input: given });
    expect(failureOf(result).type).toBe('AgentUnreachable');
    expect(result.warned[0]).toBe('a silent ramdisk could not be looked for');
  });
});

test('of a ramdisk’s answers the first is noted, and a note that fails disturbs nothing', async () => {
  let notes = 0;
  const talk = startTalk(async () => {
    notes += 1;
    throw new Error('the store is away');
  });
  expect(notes).toBe(0);
  talk.answered();
  talk.answered();
  expect(notes).toBe(1);
});

test('what an act may see of an intent is the store’s own age of it', async () => {
  const row = { sent_at: new Date('2026-11-02T10:00:00Z'), age_ms: 5_000, detail: { asked: 'on' } };
  let last: unknown;
  let now = 0;
  const acts: ActsOver = {
    power_on: async (_node, _args, { intents }) => {
      last = await intents.last();
      now = performance.now();
      return { is: 'done' };
    },
  };
  await attempted({ acts, answers: { ...begun, 'runSteps.lastIntent': row } });
  expect(last).toMatchObject({ act: 'power_on', sent_at: '2026-11-02T10:00:00.000Z', detail: { asked: 'on' } });
  expect((last as { at: number }).at).toBeLessThanOrEqual(now - 5_000);
  await attempted({ acts });
  expect(last).toBeUndefined();
});

test('an error of another kind goes to the engine without a secret of the node', async () => {
  const acts: ActsOver = {
    power_on: async () => raise('BmcBusy', { node: 'n', bmc: 'b', status: 503, reason: 'x', retryAfterMs: 70 }),
  };
  expect(failureOf(await attempted({ acts }))).toMatchObject({
    type: 'BmcBusy',
    nextRetryDelay: 70,
    category: 'BENIGN',
  });
});

test('what a failure says is no longer than a history bears, its facts neither', () => {
  const reason = 'x'.repeat(5_000);
  for (const thrown of [new TemperError('BmcRejected', { node: 'n', bmc: 'b', reason }), new Error(reason)])
    expect(toFailure(thrown).message).toHaveLength(2_000);
  const { details } = toFailure(new TemperError('BmcRejected', { reason })) as Error & {
    details: { reason: string }[];
  };
  expect(details[0]!.reason).toHaveLength(500);
});

test.each(['40001', '40P01'])('a transaction that met another one (%s) fails no activity for good', (code) => {
  const thrown = Object.assign(new Error('deadlock detected'), { code });
  expect(toFailure(thrown)).toMatchObject({ type: 'Unexpected', nonRetryable: false });
});

test('an act’s time is from its beginning to its end', async () => {
  const began = performance.now();
  const { ms } = await attempted({});
  const over = performance.now() - began;
  expect(ms).toHaveLength(1);
  expect(ms[0]).toBeGreaterThanOrEqual(0);
  expect(ms[0]).toBeLessThanOrEqual(over);
});

test('a recovery of which the run is not on record names the node by its UUID', async () => {
  const answers = { ...heldBack, 'recovery.current': { side: 'engine', reason: 'older' }, 'runs.find': undefined };
  expect(failureOf(await attempted({ answers })).details).toEqual([expect.objectContaining({ node: 'u1' })]);
});

test('two ramdisks on one node are said of it by its name', async () => {
  const answers = { ...begun, 'ramdiskBoots.contested': true };
  const result = await attempted({
    answers,
    input: { act: 'agent_steps' },
    acts: { agent_steps: async () => raise('Conflict') },
  });
  expect(failureOf(result)).toMatchObject({ type: 'RamdiskConflict', details: [{ node: 'n1' }] });
});

test.each([
  ['x$', `${'y'.repeat(4_095)}x`, true],
  ['x$', `${'y'.repeat(4_096)}x`, false],
])('a regular expression is tried on the first 4096 characters: %#', (regex, text, matches) => {
  expect(matching(regex, text)).toBe(matches);
});

describe('an act that boots from no ramdisk record', () => {
  const node = { uuid: 'u1', name: 'n1', driver_info: {} } as unknown as Parameters<typeof withRamdisk>[2];
  const composed = (act: string, args: Record<string, unknown>) =>
    withRamdisk({ ...input(), act } as Attempted, {} as Parameters<typeof withRamdisk>[1], node, args, {} as BmcDeps);

  test('keeps its arguments, and has nothing to hide', async () => {
    const args = { image_url: 'https://images.example.org/a.iso' };
    expect(await composed('insert_media', args)).toEqual({ args, secrets: [] });
  });

  test('or that fetches nothing, is not given the name of the record either', async () => {
    const args = { image_url: 'ramdisk:r1', boot_device: 'cdrom' };
    expect(await composed('set_boot_device', args)).toEqual({ args: { boot_device: 'cdrom' }, secrets: [] });
  });
});

test('an inspection without rules changes nothing, and the log does not speak of any', async () => {
  const store = storeOf({ 'ruleEffects.rules': [] });
  const info = jest.fn();
  await applyInspectionRules(
    store.inventory as Parameters<typeof applyInspectionRules>[0],
    lock as unknown as Parameters<typeof applyInspectionRules>[1],
    { info, warn() {} },
  );
  expect([store.calls.map(([call]) => call), info.mock.calls]).toEqual([['ruleEffects.rules'], []]);
});
