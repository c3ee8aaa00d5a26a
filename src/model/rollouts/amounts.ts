/** Amounts of nodes as a number or a percentage. */

/** A percentage is written `5%`. */
export type Amount = number | `${number}%`;

const percent = /^(\d{1,3}(?:\.\d{1,3})?)%$/;

/** A whole number from 1, or more than 0 and at most 100 percent. */
export const isAmount = (value: unknown): value is Amount => {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 1;
  const [, number] = (typeof value === 'string' && percent.exec(value)) || [];
  return number !== undefined && Number(number) > 0 && Number(number) <= 100;
};

/** Not rounded. */
export const shareOf = (amount: Amount, all: number): number =>
  typeof amount === 'number' ? amount : (Number.parseFloat(amount) * all) / 100;

/** Rounded down, but at least one node, because otherwise nothing could begin. */
export const boundOf = (amount: Amount, all: number): number => Math.max(1, Math.floor(shareOf(amount, all)));

/** Ramp: concurrency doubles from one. After as many successes as it allows, the limit doubles. */
export const rampedTo = (done: number, most: number): number =>
  Math.min(most, 2 ** Math.floor(Math.log2(Math.max(0, done) + 1)));
