/** Marks fields that policy rules hide, so that no page takes the API's placeholder for a value. */
import { isDeepStrictEqual } from 'node:util';
import type { ResourceTable } from '../model/resources/fields';
import { nodeTable } from '../model/resources/nodes';
import { targetTable } from '../model/resources/volumes';

export const hidden: unique symbol = Symbol('hidden by a rule');
export type Hidden = typeof hidden;

const tables: readonly ResourceTable[] = [nodeTable, targetTable];

/** Fields that rules may hide, with the API's placeholders. */
const redacted: readonly (readonly [field: string, shown: unknown])[] = tables.flatMap(({ fields }) =>
  fields.flatMap(({ name, redact }) => (redact ? [[name, redact.shown] as const] : [])),
);

const mark = (thing: unknown): void => {
  if (typeof thing !== 'object' || thing === null) return;
  const fields = thing as Record<string, unknown>;
  for (const [name, shown] of redacted) if (isDeepStrictEqual(fields[name], shown)) fields[name] = hidden;
};

/** Marks hidden fields of the object itself and of its lists. */
export const withHidden = <Body>(answer: Body): Body => {
  mark(answer);
  for (const value of Object.values(answer as object)) if (Array.isArray(value)) value.forEach(mark);
  return answer;
};

export const seenOf = <Value>(value: Value | Hidden): Value | undefined => (value === hidden ? undefined : value);
