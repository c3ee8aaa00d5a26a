/** Numbers of a JSON text that are not kept as they came. */

// Texts are passed over; a whole number has neither a point nor an exponent.
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const wholeNumber = /^-?\d+$/;
// 2^53 has sixteen digits: most texts hold no run of so many.
const manyDigits = /\d{16}/;

/**
 * The first whole number beyond 2^53, of which a reader that keeps doubles changes the last digits; undefined where there is none.
 * @param text valid JSON
 */
export const inexactInteger = (text: string): string | undefined => {
  if (!manyDigits.test(text)) return undefined;
  for (const [one] of text.matchAll(token)) if (wholeNumber.test(one) && !Number.isSafeInteger(Number(one))) return one;
  return undefined;
};
