/** Of what streams have missed one caller reads one page at a time. */
import { inTurn } from '../../src/api/temper/events/turns';

/** Reads that end when they are let go, and how many are under way. */
const reads = () => {
  const ends: (() => void)[] = [];
  const read = (): Promise<void> => new Promise((resolve) => void ends.push(resolve));
  return { ends, read };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a caller reads one page at a time, and keeps nobody else from reading', async () => {
  const { ends, read } = reads();
  const all = [inTurn('a', read), inTurn('a', read), inTurn('b', read)];
  await settled();
  expect(ends).toHaveLength(2);
  for (const end of ends.splice(0)) end();
  await settled();
  expect(ends).toHaveLength(1);
  ends[0]!();
  await Promise.all(all);
});

test('a page that cannot be read ends its turn', async () => {
  await expect(inTurn('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await inTurn('a', async () => 1)).toBe(1);
});
