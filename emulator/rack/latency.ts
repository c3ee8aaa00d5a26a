/** How long BMCs take to answer: log-normal, as management controllers do, and the same sequence from the same seed. */

/** Milliseconds: half of the answers take less than the median, all but one in a hundred less than `p99Ms`. */
export type Latency = { readonly medianMs: number; readonly p99Ms: number; readonly seed?: number };

/** Numbers from 0 to below 1: mulberry32. */
const uniform = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

// The 99th percentile of the standard normal distribution.
const p99 = 2.3263;

/** @returns a function that draws one latency in ms */
export const logNormal = ({ medianMs, p99Ms, seed = 1 }: Latency): (() => number) => {
  const next = uniform(seed);
  const sigma = Math.log(p99Ms / medianMs) / p99;
  // Box and Muller; 1 - u is never 0.
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return () => medianMs * Math.exp(sigma * normal());
};
