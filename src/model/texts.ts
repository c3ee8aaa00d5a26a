/** Texts from machines as the store takes them: Postgres refuses NUL everywhere, and half a surrogate pair in documents. */

const unstorable = /[\0\p{Surrogate}]/gu;
const cleaned = (text: string): string => text.replace(unstorable, '\ufffd');

/** Levels; what lies deeper is left out, because a recursive walk or write of it would overflow the stack. */
const deepest = 100;

const clean = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return cleaned(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return null;
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleaned(key), clean(inner, depth + 1)]));
};

/** A JSON document, its keys too, with the replacement character (U+FFFD) for what cannot be stored. */
export const storable = <T>(document: T): T => clean(document, 0) as T;

/** The names of a list with commas between them; empty ones are left out. */
export const namesInList = (list = ''): string[] => list.split(',').filter((name) => name !== '');

/** A text of at most so many characters; a longer one ends with an ellipsis. */
export const shortText = (text: string, longest: number): string =>
  text.length > longest ? `${storable(text.slice(0, longest - 1))}…` : text;

/**
 * What a machine or a caller gave in the place of a text: texts, numbers and booleans as they are read, an empty one for anything else. `String`
 * throws for an object whose toString is no function.
 */
export const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** A path without the slashes at its end. An expression that looks for them takes the square of its length. */
export const withoutLastSlashes = (path: string): string => {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
};
