/** Suggestions for misspelled words. */
import { distance } from 'fastest-levenshtein';

/** One letter in three, but at least two, because a swap counts as two. */
const allowedFor = (word: string): number => Math.max(2, Math.floor(word.length / 3));

/** Ignores case. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  const allowed = allowedFor(word);
  const [best] = known
    // Skips long texts: a caller's text may be as long as a body.
    .filter((one) => Math.abs(one.length - word.length) <= allowed)
    .map((one) => ({ one, far: distance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  return best !== undefined && best.far <= allowed ? best.one : undefined;
};

export const meant = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
};
