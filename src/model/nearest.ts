/** The known word that a misspelled one most likely stands for. */
import { distance } from 'fastest-levenshtein';

/** Of each three letters one may be wrong; at least two, for a swap counts as two. */
const allowedFor = (word: string): number => Math.max(2, Math.floor(word.length / 3));

/** The nearest of the known words, whatever their case; undefined where none is near. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  const allowed = allowedFor(word);
  const [best] = known
    // No nearer than their lengths differ: a caller's text may be as long as a body.
    .filter((one) => Math.abs(one.length - word.length) <= allowed)
    .map((one) => ({ one, far: distance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  return best !== undefined && best.far <= allowed ? best.one : undefined;
};

/** ` Did you mean X?`, or nothing. */
export const meant = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
};
