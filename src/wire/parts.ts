/** Common parts of answer schemas. */
import { z } from 'zod';
import type { Requester } from '../model/runs/runs';

export const text = z.string();
export const maybe = text.nullable();
export const id = z.guid();
export const time = z.iso.datetime({ offset: true });
export const maybeTime = time.nullable();
export const count = z.int();
export const trueOrFalse = z.boolean();
export const document = z.record(text, z.unknown());
/** Only its type is narrower: the description has the schema that is given. */
export const typed = <Type>(schema: z.ZodType): z.ZodType<Type> => schema as z.ZodType<Type>;
export const list = <One extends z.ZodType>(one: One) => typed<readonly z.output<One>[]>(z.array(one));
/** A page of rows, and the address of the next one if more follow. */
export const pageOf = <Key extends string, One extends z.ZodType>(key: Key, one: One) =>
  z
    .object({ [key]: list(one) } as Record<Key, z.ZodType<readonly z.output<One>[]>>)
    .extend({ next: text.optional() })
    .strict();

export type Person = Pick<Requester, 'user_id' | 'user_name'>;
export const person = typed<Person>(document);
