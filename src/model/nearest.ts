/** The known word that a misspelled one most likely stands for. */
import { distance } from 'fastest-levenshtein';

/** Of each three letters one may be wrong; at least two, for a swap counts as two. */
const allowedFor = (word: string): number => Math.max(2, Math.floor(word.length / 3));

/** The nearest of the known words, whatever their case; undefined where none is near. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  const [best] = known
    .map((one) => ({ one, far: distance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  return best !== undefined && best.far <= allowedFor(word) ? best.one : undefined;
};

/** ` Did you mean X?`, or nothing. */
export const meant = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
};
