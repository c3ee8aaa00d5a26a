/** Small statistics over samples: every figure of the bench is a median or a percentile of what was measured. */

/** The value below which `share` (0 to 1) of the samples lie; NaN without samples. */
export const percentile = (samples: readonly number[], share: number): number => {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
};

/** The middle value, or the mean of the two in the middle. */
export const median = (samples: readonly number[]): number => {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Rounded to so many digits after the point, for figures that people read. */
export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));
