/** The fake driver: the contract, and the two switches of its driver_info. */
import { createDrivers } from '../../src/bmc';
import { isTemperError } from '../../src/model/errors';
import { type ActName, acts } from '../../src/model/lifecycle/steps';
import { driverContract } from './contract';
import { contextWith, intentsOf, nodeWith, quiet } from './support/context';

const drivers = createDrivers({ log: quiet, networks: ['192.0.2.0/24'] });
const fake = drivers.get('fake-hardware');
afterAll(() => drivers.close());

driverContract('fake-hardware', async () => ({
  driver: fake,
  node: nodeWith('fake-hardware', {}),
  proxy: null,
  settings: [{ name: 'SRIOV', value: 'Enabled' }],
  image: 'http://images.example.org/boot.iso',
  close: async () => undefined,
}));

const run = (act: ActName, driver_info: Record<string, unknown>, args = {}, more = {}) =>
  fake.acts[act]!(nodeWith('fake-hardware', driver_info), args, contextWith(intentsOf(act), more));

test('it offers every act', () => {
  expect(Object.keys(fake.acts).sort()).toEqual(Object.keys(acts).sort());
});

test('it needs no lane', () => {
  expect(fake.laneKey(nodeWith('fake-hardware', {}))).toBeNull();
});

test('it answers from what is recorded, and a power act changes that', async () => {
  const node = { ...nodeWith('fake-hardware', {}), power_state: 'power on', boot_mode: 'uefi', secure_boot: true };
  const seen = await fake.acts.verify!(node, {}, contextWith(intentsOf('verify')));
  expect(seen.seen).toMatchObject({ power_state: 'power on', boot_mode: 'uefi', secure_boot: true });
  expect((await run('power_off', {})).seen).toEqual({ power_state: 'power off' });
});

test('the act named in fake_fails is refused, others are not', async () => {
  const refused = await run('power_on', { fake_fails: 'power_on' }).catch((error: unknown) => error);
  expect(isTemperError(refused, 'StepRejected')).toBe(true);
  await expect(run('power_off', { fake_fails: 'power_on' })).resolves.toMatchObject({ is: 'done' });
});

test('a pretended delay beats, and ends at once when the activity must stop', async () => {
  const worker = new AbortController();
  const beat = jest.fn(() => worker.abort(new Error('stop')));
  await expect(run('power_on', { fake_delay_ms: 3_600_000 }, {}, { signal: worker.signal, beat })).rejects.toThrow(
    'stop',
  );
  expect(beat).toHaveBeenCalled();
});

test('an unknown driver is refused by name', () => {
  expect(() => drivers.get('irmc')).toThrow('irmc');
});
