/** JSON Schema for runbook parameters, without patterns and references: bounded in time, without generated code. Pure. */
import { asDocument, type Document, isDocument, type Json } from '../document';
import { ownValue } from '../own';

export type ParameterSchema = Document;

const types: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isSafeInteger(value),
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  object: isDocument,
  array: (value) => Array.isArray(value),
  null: (value) => value === null,
};

const typesOf = ({ type }: Document): readonly string[] =>
  (Array.isArray(type) ? type : type === undefined ? [] : [type]).map(String);

const deepest = 5;
const mostListed = 200;

const isCount = (value: Json): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTexts = (value: Json): value is string[] =>
  Array.isArray(value) && value.length <= mostListed && value.every((one) => typeof one === 'string');

/** Checks each keyword's value. */
const keywords: Readonly<Record<string, (value: Json, depth: number) => string | undefined>> = {
  type: (value) => {
    const unknown = typesOf({ type: value }).find((one) => ownValue(types, one) === undefined);
    return unknown === undefined ? undefined : `must be one of ${Object.keys(types).join(', ')}`;
  },
  enum: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= mostListed
      ? undefined
      : `must be a list of 1 to ${mostListed} values`,
  const: () => undefined,
  minimum: (value) => (types.number!(value) ? undefined : 'must be a number'),
  maximum: (value) => (types.number!(value) ? undefined : 'must be a number'),
  minLength: (value) => (isCount(value) ? undefined : 'must be a whole number from 0'),
  maxLength: (value) => (isCount(value) ? undefined : 'must be a whole number from 0'),
  minItems: (value) => (isCount(value) ? undefined : 'must be a whole number from 0'),
  maxItems: (value) => (isCount(value) ? undefined : 'must be a whole number from 0'),
  items: (value, depth) => schemaFault(value, depth + 1),
  properties: (value, depth) => {
    if (!isDocument(value) || Object.keys(value).length > mostListed)
      return `must be an object of up to ${mostListed} schemas`;
    for (const [name, one] of Object.entries(value)) {
      const fault = schemaFault(one, depth + 1);
      if (fault) return `${name}: ${fault}`;
    }
    return undefined;
  },
  required: (value) => (isTexts(value) ? undefined : `must be a list of up to ${mostListed} names`),
  additionalProperties: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  title: (value) => (typeof value === 'string' ? undefined : 'must be a text'),
  description: (value) => (typeof value === 'string' ? undefined : 'must be a text'),
};

export const schemaFault = (schema: Json, depth = 0): string | undefined => {
  if (!isDocument(schema)) return 'must be an object';
  if (depth > deepest) return `is nested deeper than ${deepest} levels`;
  for (const [name, value] of Object.entries(schema)) {
    const check = ownValue(keywords, name);
    if (!check) return `keyword ${name.slice(0, 80)} is not known here; known are: ${Object.keys(keywords).join(', ')}`;
    const fault = check(value, depth);
    if (fault) return `${name}: ${fault}`;
  }
  return undefined;
};

const same = (one: Json, other: Json): boolean => {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, at) => same(item, other[at]));
  if (isDocument(one) && isDocument(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && same(one[key], other[key]))
    );
  }
  return one === other;
};

const boundsFault = (value: number, least: Json, most: Json, of: string): string | undefined => {
  if (typeof least === 'number' && value < least) return `must have ${of} of at least ${least}`;
  if (typeof most === 'number' && value > most) return `must have ${of} of at most ${most}`;
  return undefined;
};

const objectFault = (schema: ParameterSchema, value: Document): string | undefined => {
  const properties = asDocument(schema.properties);
  const missing = isTexts(schema.required) ? schema.required.find((name) => !Object.hasOwn(value, name)) : undefined;
  if (missing !== undefined) return `lacks ${missing}`;
  for (const [name, one] of Object.entries(value)) {
    const of = ownValue(properties, name);
    if (of === undefined && schema.additionalProperties === false) return `has an unexpected key ${name.slice(0, 80)}`;
    const fault = of === undefined ? undefined : valueFault(of as ParameterSchema, one);
    if (fault) return `${name}: ${fault}`;
  }
  return undefined;
};

const listFault = (schema: ParameterSchema, value: readonly Json[]): string | undefined => {
  const length = boundsFault(value.length, schema.minItems, schema.maxItems, 'a length');
  if (length || !isDocument(schema.items)) return length;
  for (const [at, one] of value.entries()) {
    const fault = valueFault(schema.items, one);
    if (fault) return `item ${at} ${fault}`;
  }
  return undefined;
};

/** The fault never contains the value, which may be secret. */
export const valueFault = (schema: ParameterSchema, value: Json): string | undefined => {
  const wanted = typesOf(schema);
  if (wanted.length > 0 && !wanted.some((one) => types[one]!(value))) return `must be of type ${wanted.join(' or ')}`;
  if (Array.isArray(schema.enum) && !schema.enum.some((one) => same(one, value)))
    return `must be one of ${JSON.stringify(schema.enum).slice(1, 400).replace(/\]$/, '')}`;
  if (Object.hasOwn(schema, 'const') && !same(schema.const, value)) return 'must be the one value that is allowed';
  if (typeof value === 'number') return boundsFault(value, schema.minimum, schema.maximum, 'a value');
  // JSON Schema counts characters; the length of a JavaScript string counts UTF-16 code units.
  if (typeof value === 'string') return boundsFault([...value].length, schema.minLength, schema.maxLength, 'a length');
  if (Array.isArray(value)) return listFault(schema, value);
  return isDocument(value) ? objectFault(schema, value) : undefined;
};
