/** What a thrown error is to a story: the text that people read of it. */
import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { codeOf, messageOf } from '../../src/workflows/failures';

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

test('a failure within a timeout is told before the last sign of life', () => {
  const refused = ApplicationFailure.retryable('The BMC did not answer.', 'BmcUnreachable');
  const timeout = new TimeoutFailure('Not enough time', { what: 'power on' }, TimeoutType.SCHEDULE_TO_CLOSE);
  Object.assign(timeout, { cause: refused });
  expect(messageOf(ended(timeout))).toBe('The BMC did not answer.');
});
