/** Lanes: one at a time per key, in order, with a bound and a way out. */
import { createLanes } from '../../src/bmc';

const never = new AbortController().signal;

/** A piece of work that ends when asked. */
const work = () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end: () => end(), run: () => ended };
};

test('work on one BMC runs one after the other, in the order it came', async () => {
  const lanes = createLanes();
  const first = work();
  const order: number[] = [];
  const one = lanes.run('bmc', never, () => first.run().then(() => order.push(1)));
  const two = lanes.run('bmc', never, async () => order.push(2));
  const three = lanes.run('bmc', never, async () => order.push(3));
  await lanes.run('other', never, async () => order.push(0));
  first.end();
  await Promise.all([one, two, three]);
  expect(order).toEqual([0, 1, 2, 3]);
});

test('without a key there is no lane', async () => {
  const lanes = createLanes();
  const first = work();
  const one = lanes.run(null, never, first.run);
  await expect(lanes.run(null, never, async () => 'through')).resolves.toBe('through');
  first.end();
  await one;
});

test('an act that stops waiting leaves the lane, and the rest goes on', async () => {
  const lanes = createLanes();
  const first = work();
  const one = lanes.run('bmc', never, first.run);
  const impatient = new AbortController();
  const two = lanes.run('bmc', impatient.signal, async () => 'too late');
  const three = lanes.run('bmc', never, async () => 'done');
  impatient.abort(new Error('stop'));
  await expect(two).rejects.toThrow('stop');
  first.end();
  await one;
  await expect(three).resolves.toBe('done');
});

test('work that fails frees the lane', async () => {
  const lanes = createLanes();
  await expect(lanes.run('bmc', never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(lanes.run('bmc', never, async () => 'next')).resolves.toBe('next');
});

test('a lane that is too long turns away the next, to come again', async () => {
  const lanes = createLanes(1);
  const first = work();
  const one = lanes.run('bmc', never, first.run);
  const two = lanes.run('bmc', never, async () => 'second');
  await expect(lanes.run('bmc', never, async () => 'third')).rejects.toMatchObject({
    code: 'BmcLeaseHeld',
    retry: true,
  });
  first.end();
  await one;
  await expect(two).resolves.toBe('second');
});
