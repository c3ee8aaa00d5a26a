/** What a person decides about a step, what a freeze holds back, and what a failed step leaves behind. */
import type { Effects } from '../../src/workflows/effects-contract';
import { runSteps } from '../../src/workflows/interpreter';
import { Failed, recording, stepAt, throwingFirst, Unknown } from './support';

/** A failure that is known to be one, of an act whose effect is not known. */
const lostAnswer = new Unknown('no answer came');
const both: Partial<Effects> = { isFailure: (thrown) => thrown instanceof Failed || thrown === lostAnswer };

/** Hands that write down the arguments of each act as well. */
const withArgs = (over: Partial<Effects>) => {
  const acts: unknown[] = [];
  const made = recording(over);
  const act: Effects['act'] = (step, index) => {
    acts.push([step.acts[index]!.act, step.args]);
    return made.effects.act(step, index);
  };
  return { acts, told: made.told, effects: { ...made.effects, act } };
};

const flash = stepAt(1, ['update_firmware', 'reset_bmc'], { parks: true, args: { version: '1' }, on_failure: 'park' });

test('tried again with other arguments, a step is done from its first act with those', async () => {
  const args = { version: '2' };
  const made = withArgs({ decided: async () => ({ kind: 'retry', args }) });
  await runSteps([flash], throwingFirst(made, undefined, new Failed('refused')));
  expect(made.told).toContain('again 1 with others');
  expect(made.acts).toEqual([
    ['update_firmware', { version: '1' }],
    ['reset_bmc', { version: '1' }],
    ['update_firmware', args],
    ['reset_bmc', args],
  ]);
});

test('tried again as it was, only the act that failed is done again, with the same arguments', async () => {
  const made = withArgs({});
  await runSteps([flash], throwingFirst(made, undefined, new Failed('refused')));
  expect(made.acts).toEqual([
    ['update_firmware', { version: '1' }],
    ['reset_bmc', { version: '1' }],
    ['reset_bmc', { version: '1' }],
  ]);
});

test('a skipped step awaits no ramdisk', async () => {
  const made = recording({ decided: async () => ({ kind: 'skip' }) });
  await runSteps([{ ...flash, awaits: 'heartbeat' }], throwingFirst(made, new Unknown('no answer came')));
  expect(made.told.at(-1)).toBe('mark 1 skipped');
});

test('a step that is failed by a person says why it had parked', async () => {
  const made = recording({ decided: async () => ({ kind: 'fail' }) });
  await expect(runSteps([flash], throwingFirst(made, new Failed('the image is broken')))).rejects.toThrow(
    'the image is broken',
  );
});

test.each([
  [new Unknown('no answer came'), 'a person: whether the step took effect cannot be known'],
  [new Failed('refused'), 'a person: the step failed'],
])('a parked step shows why it waits (%s)', async (thrown, why) => {
  const waits: unknown[] = [];
  const marks: unknown[] = [];
  const made = recording({
    at: (_index, state, waitingFor) => void waits.push([state, waitingFor]),
    mark: async (_step, state, facts) => void marks.push([state, facts]),
  });
  await runSteps([flash], throwingFirst(made, thrown));
  expect(waits).toEqual([
    ['running', null],
    ['parked', why],
    ['running', null],
  ]);
  expect(marks).toEqual([['parked', { error: thrown.message }]]);
});

describe('a step that may fail without ending the run', () => {
  const optional = stepAt(1, ['send_raw', 'log'], { parks: true, on_failure: 'continue', awaits: 'heartbeat' });

  test('is left behind with its reason: neither its other acts nor the ramdisk are waited for', async () => {
    const marks: unknown[] = [];
    const made = recording({ mark: async (step, state, facts) => void marks.push([step.index, state, facts]) });
    await runSteps([optional, stepAt(2, ['verify'])], throwingFirst(made, new Failed('refused')));
    expect(marks).toEqual([[1, 'failed', { error: 'refused' }]]);
    expect(made.told).toEqual(['at 1 running', 'act send_raw', 'at 2 running', 'act verify']);
  });

  test('parks all the same where its effect cannot be known', async () => {
    const made = recording(both);
    await runSteps([optional], throwingFirst(made, lostAnswer));
    expect(made.told).toContain('mark 1 parked');
    expect(made.told).not.toContain('mark 1 failed');
  });

  test('ends the run where what was thrown is no failure of an act', async () => {
    const bug = new TypeError('undefined is not a function');
    const made = recording();
    await expect(runSteps([optional], throwingFirst(made, bug))).rejects.toBe(bug);
    expect(made.told).not.toContain('mark 1 failed');
  });
});

test('a step that parks on failure does not park on what is no failure of an act', async () => {
  const bug = new TypeError('undefined is not a function');
  await expect(runSteps([flash], throwingFirst(recording(), bug))).rejects.toBe(bug);
});

test('an act that a freeze held back is done when the freeze is over, with the reason shown meanwhile', async () => {
  const frozen = new Failed('frozen by an operator');
  const unfrozen: unknown[] = [];
  const made = recording({
    isFrozen: (thrown) => thrown === frozen,
    unfrozen: async (...args) => void unfrozen.push(args),
  });
  const step = stepAt(1, ['power_off', 'power_on']);
  await runSteps([step], throwingFirst(made, frozen, frozen));
  expect(unfrozen).toEqual([
    [step, 'frozen by an operator'],
    [step, 'frozen by an operator'],
  ]);
  expect(made.told).toEqual(['at 1 running', 'act power_off', 'act power_off', 'act power_off', 'act power_on']);
});
