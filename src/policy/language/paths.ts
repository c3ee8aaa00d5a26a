/** Finds a value in the caller's credentials by a dotted path. */
import { isDocument } from '../../model/document';

/** A check cannot be evaluated; the decision is refused. */
export class EvaluationFault extends Error {
  override readonly name = 'EvaluationFault';
}

const valueAt = (from: unknown, key: string): { found: boolean; value?: unknown } => {
  if (!isDocument(from)) throw new EvaluationFault(`the credentials hold nothing to look "${key}" up in`);
  const value = Object.hasOwn(from, key) ? from[key] : undefined;
  return value === undefined ? { found: false } : { found: true, value };
};

/** A list on the path, or at its end, matches by any element. */
export const anyAtPath = (
  from: unknown,
  path: readonly string[],
  test: (value: unknown) => boolean,
  at = 0,
): boolean => {
  if (at === path.length) return test(from);
  const next = valueAt(from, path[at]!);
  if (!next.found) return false;
  if (!Array.isArray(next.value)) return anyAtPath(next.value, path, test, at + 1);
  return next.value.some((element) => anyAtPath(element, path, test, at + 1));
};
