/** Machine texts for PostgreSQL, which refuses NUL everywhere and lone surrogates in documents. */

import { ownValue } from './own';

const unstorable = /[\0\p{Surrogate}]/gu;
const cleaned = (text: string): string => text.replace(unstorable, '\ufffd');

/** Deeper values are dropped: a recursive walk or write would overflow the stack. */
const deepest = 100;

const clean = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return cleaned(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return null;
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleaned(key), clean(inner, depth + 1)]));
};

/** Replaces such characters with U+FFFD, also in keys. */
export const storable = <T>(document: T): T => clean(document, 0) as T;

export const namesInList = (list = ''): string[] => list.split(',').filter((name) => name !== '');

/** A cut text ends with an ellipsis. */
export const shortText = (text: string, longest: number): string =>
  text.length > longest ? `${storable(text.slice(0, longest - 1))}…` : text;

/** An empty text for objects. `String` throws if toString is no function. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** A regular expression takes quadratic time. */
export const withoutLastSlashes = (path: string): string => {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
};

/** An address without slashes and the version at its end. */
export const withoutVersion = (url: string, version: 'v1' | 'v3'): string => {
  const base = withoutLastSlashes(url);
  return base.endsWith(`/${version}`) ? base.slice(0, -version.length - 1) : base;
};

const truths: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...['1', 't', 'true', 'on', 'y', 'yes'].map((text) => [text, true] as const),
  ...['0', 'f', 'false', 'off', 'n', 'no'].map((text) => [text, false] as const),
]);

/** Of a boolean, or a text that means one; else undefined. openstack/oslo.utils:oslo_utils/strutils.py bool_from_string */
export const booleanOf = (value: unknown): boolean | undefined => ownValue(truths, textOf(value).trim().toLowerCase());
