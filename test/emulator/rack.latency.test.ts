/** Latencies of emulated BMCs: their shape, and that a seed repeats them. */
import { logNormal } from '../../emulator/rack/latency';

const drawn = (seed: number): number[] => {
  const draw = logNormal({ medianMs: 1_000, p99Ms: 8_000, seed });
  return Array.from({ length: 20_000 }, draw).sort((a, b) => a - b);
};

test('half are below the median, and one in a hundred above the 99th percentile', () => {
  const sorted = drawn(7);
  expect(sorted[10_000]! / 1_000).toBeCloseTo(1, 1);
  expect(sorted[19_800]! / 8_000).toBeGreaterThan(0.85);
  expect(sorted[19_800]! / 8_000).toBeLessThan(1.15);
});

test('a seed gives the same again, another one others', () => {
  expect(drawn(3)).toEqual(drawn(3));
  expect(drawn(3)).not.toEqual(drawn(4));
});
