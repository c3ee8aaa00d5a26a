/** Schemas built from a resource's table, and small schemas that all resources share. */

import { z } from 'zod';
import { document, flag } from '../../admission/schemas';
import { asUuid } from '../../model/ids';
import { emptyValue, type FieldRow, fieldOf, type ResourceTable, sinceOf } from '../../model/resources/fields';
import { requireMinor } from '../../model/resources/microversions';
import { ownPage } from '../../model/resources/own-lists';

/** A UUID in any accepted form, converted to the canonical one. */
export const uuid = z
  .string()
  .meta({ format: 'uuid' })
  .transform((given, context) => {
    const known = asUuid(given);
    if (known !== undefined) return known;
    context.addIssue({ code: 'custom', message: 'must be a UUID' });
    return z.NEVER;
  });

/** The parameter `fields`: split at commas, trimmed, lower-cased, without repeats, at least one. */
export const fieldNames = z
  .string()
  .transform((given) => [...new Set(given.split(',').map((part) => part.trim().toLowerCase()))].filter(Boolean))
  .refine((names) => names.length > 0, { error: 'must name at least one field; leave it out for all of them' });

/** A runbook revision's number in a path or query. */
export const revisionNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, { error: 'must be the number of a revision, such as 3' })
  .transform(Number);

/** The parameter `limit` of Temper's own lists. */
export const pageLimit = z
  .string()
  .regex(/^\d{1,4}$/, { error: 'must be a whole number' })
  .transform(Number)
  .refine((value) => value >= 1 && value <= ownPage.most, { error: `must be between 1 and ${ownPage.most}` })
  .default(ownPage.unasked);

const bare = (row: FieldRow): z.ZodType => {
  switch (row.type) {
    case 'text':
      return textSchema(row);
    case 'uuid':
      return uuid;
    case 'boolean':
      return flag;
    case 'integer':
      return z
        .int()
        .min(row.min ?? Number.MIN_SAFE_INTEGER)
        .max(row.max ?? Number.MAX_SAFE_INTEGER);
    case 'object':
      return document;
    case 'texts':
      return z.array(z.string());
    case 'list':
      return z.array(z.unknown());
    case 'timestamp':
    case 'links':
      return z.never();
  }
};

const textSchema = (row: FieldRow): z.ZodType => {
  if (row.oneOf) return z.enum(row.oneOf as [string, ...string[]]);
  let schema = z.string();
  if (row.min !== undefined) schema = schema.min(row.min);
  if (row.max !== undefined) schema = schema.max(row.max);
  const { form } = row;
  const formed = form ? schema.refine(form.is, { error: form.says }) : schema;
  return row.lower ? formed.transform((text) => text.toLowerCase()) : formed;
};

/** Schema of one field, for create requests and for results of patches. */
export const fieldSchema = (row: FieldRow): z.ZodType => {
  const schema = bare(row);
  if (!row.nullable) return schema;
  const empty = emptyValue(row);
  return schema.nullable().transform((value) => value ?? empty);
};

/** Schema of a create request. It demands required fields and refuses fields that may not be created. */
export const createSchema = (table: ResourceTable) =>
  z.strictObject(
    Object.fromEntries(
      table.fields
        .filter((row) => row.create !== undefined)
        .map((row) => [row.name, row.create === 'required' ? fieldSchema(row) : fieldSchema(row).optional()]),
    ),
  );

/** Refuses fields of a later version in a create body or patch with 406. Some become patchable later than readable. */
export const refuseNewer = (
  table: ResourceTable,
  names: readonly string[],
  minor: number,
  where: 'create' | 'patch',
): void => {
  for (const name of names) {
    const row = fieldOf(table, name);
    const changedSince = where === 'patch' ? (row?.patchSince ?? 1) : 1;
    if (row) requireMinor(minor, Math.max(sinceOf(row), changedSince), `field ${name}`);
  }
};

/** Version check of a create body's keys. */
export const createGate =
  (table: ResourceTable) =>
  ({ body }: { body: unknown }, minor: number): void => {
    if (typeof body !== 'object' || body === null) return;
    refuseNewer(
      table,
      Object.keys(body).filter((name) => fieldOf(table, name)?.create !== undefined),
      minor,
      'create',
    );
  };
