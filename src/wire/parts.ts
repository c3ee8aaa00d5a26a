/** Common parts of answer schemas. */
import { z } from 'zod';

export const text = z.string();
export const maybe = text.nullable();
export const id = z.guid();
export const time = z.iso.datetime({ offset: true });
export const maybeTime = time.nullable();
export const count = z.int();
export const trueOrFalse = z.boolean();
export const document = z.record(text, z.unknown());
/** A page of rows, and the address of the next one if more follow. */
export const pageOf = <Key extends string, One extends z.ZodType>(key: Key, one: One) =>
  z
    .object({ [key]: z.array(one) } as Record<Key, z.ZodArray<One>>)
    .extend({ next: text.optional() })
    .strict();
