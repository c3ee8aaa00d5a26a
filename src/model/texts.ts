/** Makes machine texts storable in PostgreSQL, which refuses NUL everywhere and lone surrogates in documents. */

const unstorable = /[\0\p{Surrogate}]/gu;
const cleaned = (text: string): string => text.replace(unstorable, '\ufffd');

/** Levels. Deeper values are dropped, because a recursive walk or write of them would overflow the stack. */
const deepest = 100;

const clean = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return cleaned(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return null;
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleaned(key), clean(inner, depth + 1)]));
};

/** A JSON document, including its keys, with U+FFFD in place of characters that PostgreSQL refuses. */
export const storable = <T>(document: T): T => clean(document, 0) as T;

/** The names of a comma-separated list, without empty ones. */
export const namesInList = (list = ''): string[] => list.split(',').filter((name) => name !== '');

/** A text of at most `longest` characters; a longer one ends with an ellipsis. */
export const shortText = (text: string, longest: number): string =>
  text.length > longest ? `${storable(text.slice(0, longest - 1))}…` : text;

/** A text, number or boolean as text; an empty text for anything else. `String` throws for an object whose toString is no function. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** A path without its last slashes. A regular expression for this takes quadratic time. */
export const withoutLastSlashes = (path: string): string => {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
};
