/** JSON Schemas: of requests from their zod schemas, of answers from the resource tables. */

import { z } from 'zod';
import type { Document } from '../../model/document';
import {
  emptyValue,
  type FieldRow,
  fieldOf,
  namedFields,
  patchable,
  type ResourceTable,
  sinceOf,
} from '../../model/resources/fields';
import { maxMinor } from '../../model/resources/microversions';
import { componentName } from './resources';

export const refTo = (kind: 'schemas' | 'responses' | 'parameters', name: string): Document => ({
  $ref: `#/components/${kind}/${name}`,
});

export const versionText = (minor: number): string => `1.${minor}`;

/** Omits refinements in code, which JSON Schema cannot express. */
export const requestSchema = (schema: z.ZodType): Document => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<
    string,
    unknown
  >;
  return rest;
};

export const answerSchema = (schema: z.ZodType): Document => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Record<
    string,
    unknown
  >;
  return rest;
};

const types = {
  text: { type: 'string' },
  uuid: { type: 'string', format: 'uuid' },
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  object: { type: 'object' },
  texts: { type: 'array', items: { type: 'string' } },
  list: { type: 'array', items: {} },
  timestamp: { type: 'string', format: 'date-time' },
  links: { type: 'array', items: refTo('schemas', 'Link') },
} as const satisfies Record<FieldRow['type'], Document>;

const neverNull: readonly FieldRow['type'][] = ['object', 'texts', 'list', 'links'];

/** True if readers may get null: for all fields except those always set and those with their own empty value. */
const showsNull = (row: FieldRow): boolean => {
  if (row.shownNull) return true;
  if (neverNull.includes(row.type)) return row.type === 'list' && row.nullable === true;
  return row.nullable === true || !isKnown(row);
};

const isKnown = (row: FieldRow): boolean =>
  row.name === 'uuid' || row.create === 'required' || (row.default !== undefined && emptyValue(row) !== null);

const fieldNotes = (row: FieldRow): Document => ({
  ...(sinceOf(row) > 1 && { 'x-since': versionText(sinceOf(row)) }),
  ...(row.redact && { 'x-redacted-without': row.redact.rule }),
  ...(row.secret && { 'x-secrets-masked': true }),
});

const fieldSchema = (row: FieldRow): Document => {
  const { type, ...rest }: Document = row.nested ? { type: 'array', items: types[row.type] } : types[row.type];
  return { type: showsNull(row) ? [type, 'null'] : type, ...rest, ...fieldNotes(row) };
};

/** The newest version. No field is required, because callers may choose fields. */
export const resourceSchema = (table: ResourceTable): Document => ({
  type: 'object',
  properties: Object.fromEntries(namedFields(table, maxMinor).map((row) => [row.name, fieldSchema(row)])),
  additionalProperties: false,
});

export const listSchema = (table: ResourceTable): Document => ({
  type: 'object',
  properties: {
    [table.collection]: { type: 'array', items: refTo('schemas', componentName(table)) },
    next: { type: 'string', format: 'uri', description: 'The next page, if there may be one.' },
  },
  required: [table.collection],
  additionalProperties: false,
});

/** Adds the resource table's data to a request schema. */
export const noted = (schema: Document, table: ResourceTable): Document => {
  const properties = schema.properties as Readonly<Record<string, Document>> | undefined;
  if (!properties) return schema;
  const withNotes = ([name, one]: [string, Document]): [string, Document] => {
    const row = fieldOf(table, name);
    if (!row) return [name, one];
    const form = row.form ? { description: row.form.says } : {};
    return [name, { ...one, ...form, ...(sinceOf(row) > 1 && { 'x-since': versionText(sinceOf(row)) }) }];
  };
  return { ...schema, properties: Object.fromEntries(Object.entries(properties).map(withNotes)) };
};

/** Adds the attributes of a JSON patch and the rule for each. */
export const patchSchema = (schema: Document, table: ResourceTable): Document => {
  const rows = patchable(table).map((name) => fieldOf(table, name)!);
  const since = (row: FieldRow) => Math.max(sinceOf(row), row.patchSince ?? 1);
  return {
    ...schema,
    description: `A JSON patch. Attributes: ${rows.map(({ name }) => name).join(', ')}.`,
    'x-attributes': Object.fromEntries(
      rows.map((row) => [
        row.name,
        { 'x-rule': row.patch, ...(since(row) > 1 && { 'x-since': versionText(since(row)) }) },
      ]),
    ),
  };
};
