/** What a thrown error is to a story: the text that people read of it. */
import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { codeOf, messageOf } from '../../src/workflows/failures';

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
  'where an act said nothing of itself, the engine is quoted (%j)',
  (sign) => {
    expect(messageOf(ended(new TimeoutFailure('Heartbeat timeout', sign, TimeoutType.HEARTBEAT)))).toBe(
      'Heartbeat timeout',
    );
  },
);

test('a failure within a timeout is told before the last sign of life', () => {
  const refused = ApplicationFailure.retryable('The BMC did not answer.', 'BmcUnreachable');
  const timeout = new TimeoutFailure('Not enough time', { what: 'power on' }, TimeoutType.SCHEDULE_TO_CLOSE);
  Object.assign(timeout, { cause: refused });
  expect(messageOf(ended(timeout))).toBe('The BMC did not answer.');
});
