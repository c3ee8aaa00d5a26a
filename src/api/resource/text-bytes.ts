/** Collects a long text as the bytes that are sent: thousands of texts that wait for each other would burden each garbage collection. */

const smallest = 16_384;

/** A list that was once much longer must not make every later one take as much. */
const largestGuess = 4_194_304;

/** Characters of UTF-16 take three bytes of UTF-8 at most. */
const widest = 3;

export type TextBytes = {
  add(text: string): void;
  /** Everything so far. Nothing may be added afterwards. */
  bytes(): Buffer;
};

/** @param guess how many bytes it may become; it grows where they are more */
export const createTextBytes = (guess = 0): TextBytes => {
  let held = Buffer.allocUnsafeSlow(Math.min(Math.max(guess, smallest), largestGuess));
  let length = 0;
  const grow = (needed: number): void => {
    const next = Buffer.allocUnsafeSlow(Math.max(needed, 2 * held.length));
    held.copy(next, 0, 0, length);
    held = next;
  };
  return {
    add(text) {
      const needed = length + widest * text.length;
      if (needed > held.length) grow(needed);
      length += held.write(text, length);
    },
    bytes: () => held.subarray(0, length),
  };
};
