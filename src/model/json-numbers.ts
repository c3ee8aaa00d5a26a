/** Numbers of a JSON text that lose precision when parsed. */

// The first alternative skips texts. A whole number has neither a point nor an exponent.
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const wholeNumber = /^-?\d+$/;
// 2^53 has sixteen digits; most texts have no such run and need no scan.
const manyDigits = /\d{16}/;

/**
 * The first whole number beyond 2^53, which loses digits when parsed.
 * @param text valid JSON
 */
export const inexactInteger = (text: string): string | undefined => {
  if (!manyDigits.test(text)) return undefined;
  for (const [one] of text.matchAll(token)) if (wholeNumber.test(one) && !Number.isSafeInteger(Number(one))) return one;
  return undefined;
};
