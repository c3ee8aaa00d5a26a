/** What is tidied after a run that ended before its time. */
import { tidy } from '../../src/workflows/interpreter';
import { Failed, recording, stepAt, throwingFirst } from './support';

const steps = [stepAt(3, ['power_off', 'eject_media']), stepAt(4, ['set_boot_device'])];

test('every act of every step is done in order, and nothing is wrong then', async () => {
  const { told, effects } = recording();
  await expect(tidy(steps, effects)).resolves.toBeUndefined();
  expect(told).toEqual(['at 3 running', 'act power_off', 'act eject_media', 'at 4 running', 'act set_boot_device']);
});

test('a step that fails is shown as failed with its reason, and does not keep the next from being tried', async () => {
  const marks: unknown[] = [];
  const made = recording({ mark: async (step, state, facts) => void marks.push([step.index, state, facts]) });
  const fault = await tidy(steps, throwingFirst(made, new Failed('it stays on')));
  expect(made.told).toEqual(['at 3 running', 'act power_off', 'at 4 running', 'act set_boot_device']);
  expect(marks).toEqual([[3, 'failed', { error: 'it stays on' }]]);
  expect(fault).toBe('deploy.step_3: it stays on');
});

test('of several faults the first is reported', async () => {
  const made = recording();
  const fault = await tidy(steps, throwingFirst(made, new Failed('it stays on'), new Failed('no such device')));
  expect(fault).toBe('deploy.step_3: it stays on');
  expect(made.told).toContain('mark 4 failed');
});

test('what is no failure of an act, such as a lost lock, ends the tidying', async () => {
  const made = recording();
  const lost = new Error('the lock is lost');
  await expect(tidy(steps, throwingFirst(made, lost))).rejects.toBe(lost);
  expect(made.told).toEqual(['at 3 running', 'act power_off']);
});

test('a freeze is waited out, by an aborted run as well, and the act is done after it', async () => {
  const frozen = new Failed('frozen by an operator');
  const unfrozen: unknown[] = [];
  const made = recording({
    isFrozen: (thrown) => thrown === frozen,
    unfrozen: async (step, why, options) => void unfrozen.push([step.index, why, options]),
  });
  await expect(tidy(steps, throwingFirst(made, frozen))).resolves.toBeUndefined();
  expect(unfrozen).toEqual([[3, 'frozen by an operator', { evenAborted: true }]]);
  expect(made.told.filter((line) => line.startsWith('act'))).toEqual([
    'act power_off',
    'act power_off',
    'act eject_media',
    'act set_boot_device',
  ]);
});
