/** Suggestions for misspelled words. */
import { distance } from 'fastest-levenshtein';

/** One letter in three may differ, but at least two, because a swap counts as two. */
const allowedFor = (word: string): number => Math.max(2, Math.floor(word.length / 3));

/** The nearest of the known words, in any case; undefined if none is near. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  const allowed = allowedFor(word);
  const [best] = known
    // The distance is at least the difference in length. This skips long texts, since a caller's text may be as long as a body.
    .filter((one) => Math.abs(one.length - word.length) <= allowed)
    .map((one) => ({ one, far: distance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  return best !== undefined && best.far <= allowed ? best.one : undefined;
};

/** ` Did you mean X?`, or an empty text. */
export const meant = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
};
