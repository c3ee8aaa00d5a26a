/** What a thrown error is to a story: the text that people read of it. */
import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { codeOf, isHeldBack, messageOf } from '../../src/workflows/failures';

const trying = { what: 'deploy.write_image (write the image)', limitMs: 8 * 3_600_000 };

const ended = (cause: Error): ActivityFailure =>
  new ActivityFailure('Activity task failed', 'runAct', '1', RetryState.TIMEOUT, 'worker', cause);

test('where time runs out, the run says what was waited for and last seen', () => {
  const sign = { what: 'apply BIOS settings', doing: 'waiting', seen: 'not yet: HyperThreading' };
  const timeout = new TimeoutFailure('Not enough time', sign, TimeoutType.SCHEDULE_TO_CLOSE);
  expect(codeOf(ended(timeout))).toBe('Timeout');
  expect(messageOf(ended(timeout))).toBe(
    'Time was up at: apply BIOS settings (waiting); last seen: not yet: HyperThreading.',
  );
});

test.each([[undefined], [null], [{ status: 'RUNNING' }]])(
  'where an act said nothing of itself, the text says what was tried (%j)',
  (sign) => {
    const timeout = new TimeoutFailure('activity Heartbeat timeout', sign, TimeoutType.HEARTBEAT);
    expect(messageOf(ended(timeout), trying)).toMatch(
      /^Time was up for deploy\.write_image \(write the image\): the worker that carried it out gave no more sign of life\. Tried in 480 min, until 20\S+Z\.$/,
    );
  },
);

const engineTexts = [
  'Not enough time to schedule next retry before activity ScheduleToClose timeout, giving up retrying',
  'activity StartToClose timeout',
  'activity ScheduleToClose timeout',
  'activity ScheduleToStart timeout',
  'activity Heartbeat timeout',
];
test.each(Object.values(TimeoutType))('no text of the engine reaches a person (%s)', (type) => {
  for (const text of engineTexts)
    for (const sign of [undefined, { attempt: 3 }, { what: 'power on', attempt: 3 }])
      for (const about of [trying, undefined]) {
        const inner = new TimeoutFailure(text, sign, type);
        const outer = Object.assign(new TimeoutFailure(engineTexts[0], undefined, type), { cause: inner });
        for (const thrown of [ended(inner), ended(outer), inner]) expect(messageOf(thrown, about)).not.toContain(text);
      }
});

test('what the engine gave up says how often and until when it was tried', () => {
  const refused = ApplicationFailure.create({
    message: 'It did not answer.',
    type: 'AgentUnreachable',
    details: [{ attempt: 14 }],
  });
  const timeout = Object.assign(new TimeoutFailure(engineTexts[0], undefined, TimeoutType.SCHEDULE_TO_CLOSE), {
    cause: refused,
  });
  expect(messageOf(ended(timeout), { ...trying, limitMs: 90_000 })).toMatch(
    /^It did not answer\. Tried 14 times in 90 s, until 20\S+Z\.$/,
  );
});

test('a failure within a timeout is reported before the last sign of life', () => {
  const refused = ApplicationFailure.retryable('The BMC did not answer.', 'BmcUnreachable');
  const timeout = new TimeoutFailure('Not enough time', { what: 'power on' }, TimeoutType.SCHEDULE_TO_CLOSE);
  Object.assign(timeout, { cause: refused });
  expect(messageOf(ended(timeout))).toBe('The BMC did not answer.');
});

describe('the code of what was thrown', () => {
  test.each([
    ['what the act gave', ended(ApplicationFailure.create({ message: 'no', type: 'BmcRejected' })), 'BmcRejected'],
    ['Unexpected, where the act gave none', ended(ApplicationFailure.create({ message: 'no' })), 'Unexpected'],
    ['none, for a bug of ours', new TypeError('undefined is not a function'), undefined],
    ['none, for what is no error', { name: 'TimeoutFailure' }, undefined],
    ['none, for nothing', undefined, undefined],
  ])('is %s', (_, thrown, code) => {
    expect(codeOf(thrown)).toBe(code);
  });
});

describe('how often and until when', () => {
  const refused = (details?: unknown[]) => ApplicationFailure.create({ message: 'It did not answer.', details });
  const text = (details: unknown[] | undefined, limitMs: number) =>
    messageOf(ended(refused(details)), { ...trying, limitMs });

  test.each([
    [[{ attempt: 1 }], 119_000, 'Tried once in 119 s'],
    [[{ attempt: 2 }], 120_000, 'Tried 2 times in 2 min'],
    [[{ attempt: '3' }], 900_000, 'Tried in 15 min'],
    [[null], 900_000, 'Tried in 15 min'],
    [undefined, 900_000, 'Tried in 15 min'],
  ])('is reported to the second (%j, %i ms)', (details, limitMs, says) => {
    expect(text(details, limitMs)).toMatch(
      new RegExp(`^It did not answer\\. ${says}, until \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ\\.$`),
    );
  });

  test.each([
    ['which the engine did not end', refused()],
    [
      'which ended before its time was up',
      new ActivityFailure('failed', 'runAct', '1', RetryState.NON_RETRYABLE_FAILURE, 'worker', refused()),
    ],
  ])('is not reported of an act %s', (_, thrown) => {
    expect(messageOf(thrown, trying)).toBe('It did not answer.');
  });
});

test('a text without end is cut at 2,000 characters', () => {
  expect(messageOf(new Error('x'.repeat(5_000)))).toBe('x'.repeat(2_000));
});

test.each([
  ['NodeFrozen', true],
  ['RecoveryPending', true],
  ['BmcRejected', false],
])('an act that failed with %s is held back until it may go on: %s', (type, held) => {
  expect(isHeldBack(ended(ApplicationFailure.create({ message: 'x', type })))).toBe(held);
});
