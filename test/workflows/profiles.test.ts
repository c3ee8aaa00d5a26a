/** Retries by class of act: what the engine is given, in numbers, so that a changed one is a changed line here. */
import { toFailure } from '../../src/activities/failures';
import { type ErrorCode, errors, TemperError } from '../../src/model/errors';
import { onBmc } from '../../src/workflows/profiles';

const timing = { powerTimeoutMs: 120_000, softPowerTimeoutMs: 600_000, settleMs: 30_000, pollMs: 1_000 };
const minute = 60_000;
const hour = 60 * minute;

test.each([
  ['send_raw', 'once', 4 * hour, 12 * hour, 30_000, 5_000, 5 * minute],
  ['set_boot_device', 'converge', 5 * minute, 15 * minute, 20_000, 2_000, minute],
  ['read_bios', 'read', 90_000, 5 * minute, 20_000, 1_000, 30_000],
] as const)(
  '%s (%s): one attempt %i ms, all %i ms, silence %i ms, pauses from %i to %i ms',
  (act, effect, startToCloseTimeout, scheduleToCloseTimeout, heartbeatTimeout, initialInterval, maximumInterval) => {
    expect(onBmc(act, effect, 'temper-bmc.default', timing)).toEqual({
      taskQueue: 'temper-bmc.default',
      startToCloseTimeout,
      scheduleToCloseTimeout,
      heartbeatTimeout,
      // What is cancelled is waited for: the lock is not given up while a command may be on its way.
      cancellationType: 'WAIT_CANCELLATION_COMPLETED',
      retry: {
        initialInterval,
        backoffCoefficient: 2,
        maximumInterval,
      },
    });
  },
);

test.each([
  ['power_on', 3 * minute],
  ['soft_power_off', 11 * minute],
  ['confirm_bios', 16 * minute],
  ['update_firmware', 4 * hour + minute],
] as const)('%s may wait for the world for %i ms in one attempt', (act, longest) => {
  const options = onBmc(act, 'read', 'q', timing);
  expect(options).toMatchObject({
    startToCloseTimeout: longest,
    scheduleToCloseTimeout: Math.max(5 * minute, 2 * longest),
  });
});

test('what a run was accepted with wins over today’s defaults, for its class alone', () => {
  const limits = { once: { startToCloseMs: 1, scheduleToCloseMs: 2, heartbeatMs: 3, retryMs: 600_000 } };
  expect(onBmc('send_raw', 'once', 'q', { ...timing, limits })).toMatchObject({
    startToCloseTimeout: 1,
    scheduleToCloseTimeout: 2,
    heartbeatTimeout: 3,
    retry: { initialInterval: 600_000, maximumInterval: 600_000 },
  });
  expect(onBmc('read_bios', 'read', 'q', { ...timing, limits })).toMatchObject({ heartbeatTimeout: 20_000 });
});

// The engine would go on trying against a freeze, and the run would never say what it waits for.
test.each(['NodeFrozen', 'RecoveryPending', 'StaleOperation', 'StepOutcomeUnknown', 'BmcAuthFailed'] as const)(
  '%s is not for the engine to try again',
  (code) => expect(errors[code].retry).toBe(false),
);

test.each(Object.keys(errors) as ErrorCode[])('the engine tries %s again exactly where its row says so', (code) => {
  expect(toFailure(new TemperError(code, {}))).toMatchObject({ type: code, nonRetryable: !errors[code].retry });
});
