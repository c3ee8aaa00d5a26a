/** What the rules hide from a caller, as a value of its own: no page takes the text in its place for a lock or an error. */
import { isDeepStrictEqual } from 'node:util';
import type { ResourceTable } from '../model/resources/fields';
import { nodeTable } from '../model/resources/nodes';
import { targetTable } from '../model/resources/volumes';

/** Stands where the API shows a caller that it does not show a field. */
export const hidden: unique symbol = Symbol('hidden by a rule');
export type Hidden = typeof hidden;

const tables: readonly ResourceTable[] = [nodeTable, targetTable];

/** Every field that a rule may hide, with what the API shows in its place. */
const redacted: readonly (readonly [field: string, shown: unknown])[] = tables.flatMap(({ fields }) =>
  fields.flatMap(({ name, redact }) => (redact ? [[name, redact.shown] as const] : [])),
);

const mark = (thing: unknown): void => {
  if (typeof thing !== 'object' || thing === null) return;
  const fields = thing as Record<string, unknown>;
  for (const [name, shown] of redacted) if (isDeepStrictEqual(fields[name], shown)) fields[name] = hidden;
};

/** An answer of the API, of a thing or of a list of them, in which `hidden` stands for what the caller may not see. */
export const withHidden = <Body>(answer: Body): Body => {
  mark(answer);
  for (const value of Object.values(answer as object)) if (Array.isArray(value)) value.forEach(mark);
  return answer;
};

/** The value, as far as the caller may see it. */
export const seenOf = <Value>(value: Value | Hidden): Value | undefined => (value === hidden ? undefined : value);
