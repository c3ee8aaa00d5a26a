/** Runs that go on where an execution before left off: at a step, or within one. */
import { Aborted, type Effects } from '../../src/workflows/effects-contract';
import { runSteps } from '../../src/workflows/interpreter';
import { boot, Failed, recording, stepAt } from './support';

const off = stepAt(0, ['power_off', 'eject_media']);
const on = stepAt(1, ['set_boot_device', 'power_on']);

test('a step goes on behind the acts that had ended, and the next one begins at its first', async () => {
  const { told, effects } = recording();
  await runSteps([off, on], effects, 0, { acts: 1 });
  expect(told).toEqual([
    'at 0 running',
    'move resume',
    'act eject_media',
    'at 1 running',
    'act set_boot_device',
    'act power_on',
  ]);
});

test('a run goes on at the step that it is given, and a node at work is not moved', async () => {
  const { told, effects } = recording();
  await runSteps([off, on], effects, 1);
  expect(told).toEqual(['at 1 running', 'act set_boot_device', 'act power_on']);
});

test('a step whose acts had all ended leaves the node in its wait state until the ramdisk calls back', async () => {
  const { told, effects } = recording({ boot });
  await runSteps([boot], effects, 0, { acts: 2 });
  expect(told).toEqual(['at 0 running', 'contacted 0 heartbeat']);
});

test('a node that was being restarted within its step is booted again', async () => {
  const { told, effects } = recording({ boot });
  await runSteps([stepAt(1, ['agent_step'])], effects, 0, { acts: 1, reboots: true });
  expect(told).toEqual(['at 1 running', 'act power_off', 'act power_on', 'contacted 1 heartbeat']);
});

test('a node that was being restarted is not booted again for a step that finds nothing to do', async () => {
  const { told, effects } = recording({ boot, act: async () => ({ is: 'done', rest: 'skip' }) });
  await runSteps([stepAt(1, ['agent_step'])], effects, 0, { acts: 0, reboots: true });
  expect(told).toEqual(['at 1 running', 'move resume']);
});

test('a person who was being asked is asked again before anything is done, and the node waits on', async () => {
  const marks: unknown[] = [];
  const { told, effects } = recording({ mark: async (_step, state, facts) => void marks.push([state, facts]) });
  await runSteps([stepAt(1, ['reset_bmc'], { parks: true })], effects, 0, {
    acts: 0,
    parked: { error: 'no answer came', unknown: true },
  });
  expect(marks).toEqual([['parked', { error: 'no answer came' }]]);
  expect(told).toEqual([
    'at 1 running',
    'at 1 parked',
    'move wait',
    'at 1 running',
    'move resume',
    'again 1',
    'act reset_bmc',
  ]);
});

test.each([
  [2_500, 4_500],
  [0, 7_000],
  [60_000, 1],
])('of a wait of 7 s of which %i ms have passed, %i ms are left', async (elapsedMs, left) => {
  const scopes: boolean[] = [];
  const { told, effects } = recording({
    scoped: (abortable, work) => {
      scopes.push(abortable);
      return work();
    },
  });
  await runSteps([stepAt(0, [], { waits: 'time', args: { seconds: 7 } })], effects, 0, { acts: 0, elapsedMs });
  expect(told).toContain(`sleep ${left}`);
  expect(scopes).toEqual([true]); // an abort need not wait for the time to pass
});

describe('a pause', () => {
  const askedBefore = async (...more: [from: number, within?: { acts: number }]): Promise<number[]> => {
    const asked: number[] = [];
    const { effects } = recording({ unpaused: async (step) => void asked.push(step.index) });
    await runSteps([off, on, stepAt(2, ['log'])], effects, ...more);
    return asked;
  };

  test('is asked about before each step', async () => {
    expect(await askedBefore(0)).toEqual([0, 1, 2]);
    expect(await askedBefore(1)).toEqual([1, 2]);
  });

  test('does not stop a step that was under way when its execution was lost', async () => {
    expect(await askedBefore(1, { acts: 1 })).toEqual([2]);
  });
});

test('a run whose history has grown long goes on in a new execution, between two steps and never before its first', async () => {
  const left = new Error('goes on elsewhere');
  const went: unknown[] = [];
  const goOn: Effects['goOn'] = async (...args) => {
    went.push(args);
    throw left;
  };
  const { told, effects } = recording({ cutsHistory: () => true, goOn });
  const steps = [off, on, stepAt(2, ['log'])];
  await expect(runSteps(steps, effects, 1)).rejects.toBe(left);
  expect(told).toEqual(['at 1 running', 'act set_boot_device', 'act power_on']);
  expect(went).toEqual([[2, steps]]);
});

test('an abort that comes in the last step ends the run as aborted', async () => {
  let asked = false;
  const { effects } = recording({
    abortAsked: () => asked,
    act: async () => {
      asked = true;
      return { is: 'done' };
    },
  });
  await expect(runSteps([stepAt(0, ['log'])], effects)).rejects.toBeInstanceOf(Aborted);
});

test('an abort that was asked for before the first step keeps it from being begun', async () => {
  const { told, effects } = recording({ abortAsked: () => true });
  await expect(runSteps([off], effects)).rejects.toBeInstanceOf(Aborted);
  expect(told).toEqual([]);
});

test('a failure that no step allows for ends the run', async () => {
  const { effects } = recording({
    act: async () => {
      throw new Failed('refused');
    },
  });
  await expect(runSteps([off], effects)).rejects.toThrow('refused');
});
