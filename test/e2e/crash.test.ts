/** Every process is killed with -9 in the middle of runs: each run ends, and no BMC is sent anything twice. */
import { ask, powerOn, rests, until } from '../../demo/nodes';
import type { Json, Person } from '../../demo/system';
import {
  acceptedSince,
  active,
  bmcOf,
  commandOf,
  ended,
  journalNow,
  manageable,
  newestOf,
  patient,
  type Run,
  repeated,
  settled,
  withinMs,
} from './support/nodes';
import { type System, startSystem } from './support/system';

jest.setTimeout(400_000);

let system: System;
let operator: Person;

// A dead worker and a command that never left are noticed sooner than by default.
const settings = {
  TEMPER_HEARTBEAT_MS: '3000',
  TEMPER_RETRY_MS: '500',
  TEMPER_POLL_MS: '300',
  TEMPER_SETTLE_MS: '10000',
};

/** One free and one used node of each of the rack's vendors, in the same order. */
let free: string[];
let used: string[];

beforeAll(async () => {
  system = await startSystem(16, settings);
  operator = patient(await system.person('operator'));
  [free, used] = await Promise.all([
    manageable(system, operator, 0, 1, 2, 3, 4, 5, 6, 7),
    active(system, operator, 8, 9, 10, 11, 12, 13, 14, 15),
  ]);
  await Promise.all([...free, ...used].map((node) => powerOn(operator, node, withinMs)));
});
afterAll(() => system?.stop());

const step = (name: string, args: object = {}) => {
  const [of, called] = name.split('.');
  return { interface: of, step: called, args };
};

const restart = [
  step('management.set_boot_device', { boot_device: 'pxe' }),
  step('power.reboot'),
  step('management.set_indicator', { state: 'blinking' }),
  step('management.set_boot_device', { boot_device: 'disk' }),
];

/** A BIOS setting that no BMC has yet, by the beginning of its profile's name. */
const settingOf: readonly (readonly [profile: string, name: string, value: string])[] = [
  ['idrac', 'SysProfile', 'PerfOptimized'],
  ['ilo', 'WorkloadProfile', 'LowLatency'],
  ['xcc', 'OperatingModes_ChooseOperatingMode', 'MaximumPerformance'],
  ['', 'HyperThreading', 'Disabled'],
];

const tune = async (node: string) => {
  const { profile } = await bmcOf(system, node);
  const [, name, value] = settingOf.find(([beginning]) => profile.startsWith(beginning))!;
  return [
    step('management.set_boot_device', { boot_device: 'pxe' }),
    step('bios.apply_configuration', { settings: [{ name, value }] }),
    step('management.set_indicator', { state: 'blinking' }),
  ];
};

const start = async (node: string, verb: 'clean' | 'service', steps: readonly object[]): Promise<Run> => {
  const since = await journalNow(system, node);
  await ask(operator, node, verb, { [`${verb}_steps`]: steps });
  return { uuid: await newestOf(operator, node), node, since };
};

const accepted = (run: Run, command: RegExp): Promise<void> =>
  until(`${command} in the journal of ${run.node}`, withinMs, async () =>
    (await acceptedSince(system, run.node, run.since)).map(commandOf).find((one) => command.test(one)),
  ).then(() => undefined);

/** Moments of a run, each awaited as an event. */
const moments = {
  'as soon as it is accepted': async () => {},
  'when the BMC has heard its first command': (run: Run) => accepted(run, /./),
  'when its BIOS settings are staged': (run: Run) => accepted(run, /Bios/),
  'while the node powers off': (run: Run) => accepted(run, /ForceOff/),
  'while the node powers on': (run: Run) => accepted(run, /"ResetType":"(On|ForceOn)"/),
} as const;

const commandsOf = async (run: Run): Promise<string[]> =>
  (await acceptedSince(system, run.node, run.since)).map(commandOf);

/** The run ended well, every step with it, and its BMC heard each command once. */
const endsWell = async (run: Run): Promise<void> => {
  const { state, last_error, steps } = await ended(operator, run.uuid);
  expect({ state, last_error }).toEqual({ state: 'succeeded', last_error: null });
  expect(steps.map((one: Json) => one.state)).toEqual(steps.map(() => 'done'));
  const commands = await commandsOf(run);
  expect(commands).toEqual(expect.arrayContaining([expect.stringContaining('ForceOff')]));
  expect(repeated(commands)).toEqual([]);
};

const cases = [
  ['api', 'as soon as it is accepted', 'when the BMC has heard its first command'],
  ['worker-control', 'as soon as it is accepted', 'when its BIOS settings are staged'],
  ['worker-bmc-default', 'while the node powers off', 'when its BIOS settings are staged'],
  ['temporal', 'while the node powers off', 'as soon as it is accepted'],
  ['postgres', 'when the BMC has heard its first command', 'while the node powers on'],
  ['rack', 'while the node powers off', 'when its BIOS settings are staged'],
  ['identity', 'as soon as it is accepted', 'while the node powers on'],
] as const;

test.each(cases)('%s is killed %s (a clean) and %s (a service): both end well', async (victim, inClean, inService) => {
  const index = cases.findIndex(([name]) => name === victim);
  const clean = await start(free[index]!, 'clean', restart);
  await moments[inClean](clean);
  await system.back(victim, system.kill(victim));
  const node = used[index]!;
  const service = await start(node, 'service', await tune(node));
  await moments[inService](service);
  const killed = system.kill(victim);
  await Promise.all([clean, service].map(endsWell));
  await system.back(victim, killed);
  await rests(operator, clean.node, 'manageable', withinMs);
  await rests(operator, service.node, 'active', withinMs);
});

test('while Postgres is away the API says so at once, and works again when it is back', async () => {
  const hasty = await system.person('operator');
  const list = () => hasty.ask('GET', '/v1/nodes?limit=1');
  await system.without('postgres', async () => {
    // Its sessions notice a moment later that it is gone.
    const answer = await until('an answer without Postgres', withinMs, async () => {
      const answered = await list();
      return answered.status === 200 ? undefined : answered;
    });
    expect(answer).toMatchObject({ status: 503, says: expect.stringMatching(/try again/i) });
    expect(await system.readyz('api')).toBe(503);
  });
  await until('the API to answer again', withinMs, async () => (await list()).status === 200 || undefined);
  await until('the API to be ready', withinMs, async () => (await system.readyz('api')) === 200 || undefined);
});

test('while Temporal is away the API accepts a run and shows it from the store; it runs when Temporal is back', async () => {
  const run = await system.without('temporal', async () => {
    const accepted = await start(free[7]!, 'clean', restart);
    const shown = await operator.must('GET', `/temper/v1/runs/${accepted.uuid}`);
    expect(shown).toMatchObject({ state: 'accepted', sources: ['store'] });
    return accepted;
  });
  await endsWell(run);
});

const reset = /Manager.Reset/;
const resetAndGoOn = [step('management.reset_bmc'), step('management.set_indicator', { state: 'off' })];
const startResets = (...indexes: readonly number[]): Promise<Run[]> =>
  Promise.all(indexes.map((index) => start(free[index]!, 'clean', resetAndGoOn)));
const resetsOf = async (run: Run): Promise<string[]> => (await commandsOf(run)).filter((one) => reset.test(one));

/** Parked: it says what cannot be known, and a person lets it go on without another reset. */
const decide = async (run: Run): Promise<void> => {
  const { state, steps, waiting_for } = await settled(operator, run.uuid);
  expect({ state, waiting_for }).toEqual({ state: 'parked', waiting_for: expect.stringMatching(/a person/) });
  expect(steps[0]).toMatchObject({ state: 'parked', last_error: expect.stringMatching(/cannot be known/) });
  const before = await resetsOf(run);
  await operator.must('POST', `/temper/v1/runs/${run.uuid}/skip`, { reason: 'its own log shows whether it restarted' });
  expect(await ended(operator, run.uuid)).toMatchObject({ state: 'succeeded' });
  expect(await resetsOf(run)).toEqual(before);
};

/** Ends well, or waits for a person; either way its BMC is ordered to reset once at most. Returns how often it was. */
const endsOrWaits = async (run: Run): Promise<{ succeeded: boolean; resets: number }> => {
  const { state } = await settled(operator, run.uuid);
  if (state === 'parked') await decide(run);
  else expect(state).toBe('succeeded');
  const resets = (await resetsOf(run)).length;
  expect(resets).toBeLessThanOrEqual(1);
  return { succeeded: state === 'succeeded', resets };
};

/** A BMC that lives restarts by an order alone: without one, no run may say that it did. */
const atMostOnce = async (run: Run): Promise<void> => {
  const { succeeded, resets } = await endsOrWaits(run);
  if (succeeded) expect(resets).toBe(1);
};

/** This BMC takes the next order to reset, does not carry it out, and answers nothing. Returns what is done when it has one. */
const swallowReset = async (node: string): Promise<() => Promise<unknown>> => {
  const { index } = await bmcOf(system, node);
  await system.rack.fault(index, { kind: 'hang', method: 'POST', path: 'Manager.Reset', ms: 600_000 });
  const struck = async () => (await system.rack.faults(index)).length === 0;
  return () => until('the BMC to swallow the reset', withinMs, async () => (await struck()) || undefined);
};

test('a BMC worker killed in the middle of resets sends none again; where nothing shows its effect, a person decides', async () => {
  const swallowed = await swallowReset(free[6]!);
  const [unheard, ...heard] = (await startResets(6, 0, 1, 2)) as [Run, ...Run[]];
  await swallowed();
  await Promise.race(heard.map((run) => accepted(run, reset)));
  const killed = system.kill('worker-bmc-default');
  await Promise.all([decide(unheard), ...heard.map(atMostOnce)]);
  expect(await resetsOf(unheard)).toEqual([]);
  await system.back('worker-bmc-default', killed);
});

test('a BMC that dies while it resets itself, or before it has heard the order, is not reset again', async () => {
  const swallowed = await swallowReset(free[5]!);
  const [unheard, ...runs] = (await startResets(5, 3, 4)) as [Run, ...Run[]];
  await swallowed();
  const first = await Promise.race(runs.map((run) => accepted(run, reset).then(() => run)));
  const killed = system.kill('rack');
  // Its death is a restart, too: where its traces show, the run of one that never heard the order ends well.
  await Promise.all([unheard, ...runs].map(endsOrWaits));
  expect(await resetsOf(unheard)).toEqual([]);
  expect(await resetsOf(first)).toHaveLength(1);
  await system.back('rack', killed);
});

test('after everything was killed at once, a second start on the same data ends every accepted run well', async () => {
  const [cleans, services] = await Promise.all([
    Promise.all([0, 1, 2].map((index) => start(free[index]!, 'clean', restart))),
    Promise.all([3, 4, 5].map((index) => start(used[index]!, 'service', restart))),
  ]);
  await Promise.race([...cleans, ...services].map((run) => accepted(run, /ForceOff/)));
  const last = await start(used[6]!, 'service', restart);
  await system.killAll();
  await system.startAgain();
  operator = patient(await system.person('operator'));
  await Promise.all([...cleans, ...services, last].map(endsWell));
});
