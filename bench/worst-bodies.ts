/** The largest request that a schema of the API's description takes: as many bytes, or as many values, as a body may have. */
import { sample, stringMatching } from 'fast-check';

export type Schema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
};

/** Few values of many bytes, or many values. */
export const forms = ['long', 'many'] as const;
export type Form = (typeof forms)[number];

/** What a body may take: the API's own limits. */
const limits = { values: 7_900, depth: 16 } as const;

/** Values of fields whose schema says less than the code that reads them; `#` becomes the place in the list around it. */
export type Known = Readonly<Record<string, unknown>>;

type Room = { readonly bytes: number; readonly values: number };
type Making = { readonly form: Form; readonly known: Known };

const text = (bytes: number): string => 'x'.repeat(Math.max(1, Math.floor(bytes)));
const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, one) => sum + valuesIn(one), 1)
    : 1;

/** A document of any shape: one long text, or many values at the bottom of a deep one. */
const anything = ({ form }: Making, room: Room): object => {
  if (form === 'long') return { k: text(room.bytes) };
  const count = Math.max(1, Math.min(room.values - limits.depth, room.bytes / 12));
  let value: object = Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
  for (let depth = 0; depth < limits.depth; depth += 1) value = { d: value };
  return value;
};

const patterned = (pattern: string): string =>
  sample(stringMatching(new RegExp(pattern)), { numRuns: 20, seed: 1 }).reduce((longest, one) =>
    one.length > longest.length ? one : longest,
  );

const formats: Readonly<Record<string, string>> = {
  uuid: '11111111-2222-4333-8444-555555555555',
  uri: `https://hooks.example.org/${text(1_900)}`,
  'date-time': '2099-01-01T00:00:00Z',
};

const textOf = ({ pattern, format, maxLength }: Schema, { form }: Making, room: Room): string => {
  if (format && formats[format]) return formats[format];
  if (pattern) return patterned(pattern);
  return text(Math.min(maxLength ?? Number.POSITIVE_INFINITY, form === 'long' ? room.bytes : 20));
};

/** Copies of one item, each with its place for `#`: lists of the API want members that differ. */
const listOf = ({ items = {}, maxItems }: Schema, making: Making, room: Room): unknown[] => {
  const one = worst(items, making, { bytes: Math.min(room.bytes, 400), values: Math.min(room.values, 20) });
  const most = Math.min(maxItems ?? limits.values, room.values / valuesIn(one), room.bytes / (sizeOf(one) + 1));
  const written = JSON.stringify(one);
  return Array.from({ length: Math.max(1, Math.floor(most)) }, (_, at) => JSON.parse(written.replaceAll('#', `${at}`)));
};

const objectOf = ({ properties = {}, additionalProperties }: Schema, making: Making, room: Room): object => {
  const made = Object.entries(properties).map(([name, schema]) => [
    name,
    Object.hasOwn(making.known, name) ? making.known[name] : worst(schema, making, room),
  ]);
  const more =
    typeof additionalProperties !== 'object'
      ? {}
      : Object.keys(additionalProperties).length === 0
        ? anything(making, room)
        : { k: worst(additionalProperties, making, room) };
  return { ...more, ...Object.fromEntries(made.filter(([, value]) => value !== undefined)) };
};

const typeOf = ({ type, properties, items }: Schema): string | undefined => {
  const types = [type ?? []].flat().filter((one) => one !== 'null');
  if (types.includes('boolean')) return 'boolean';
  return types[0] ?? (properties ? 'object' : items ? 'array' : undefined);
};

const worst = (schema: Schema, making: Making, room: Room): unknown => {
  const options = schema.anyOf ?? schema.oneOf;
  if (options)
    return options
      .filter(({ type }) => type !== 'null')
      .map((option) => worst(option, making, room))
      .reduce((longest, one) => (sizeOf(one) > sizeOf(longest) ? one : longest));
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.at(-1);
  switch (typeOf(schema)) {
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return Math.min(schema.maximum ?? 1_000, Math.max(schema.minimum ?? 0, 1_000));
    case 'string':
      return textOf(schema, making, room);
    case 'array':
      return listOf(schema, making, room);
    case 'object':
      return objectOf(schema, making, room);
    default:
      return anything(making, room);
  }
};

/** The JSON of the largest body of a form; what each free part of it gets shrinks until the whole is within the limits. */
export const worstBody = (schema: Schema, form: Form, known: Known, bodyLimit: number): string => {
  let room: Room = { bytes: bodyLimit, values: limits.values };
  for (;;) {
    const made = worst(schema, { form, known }, room);
    const written = JSON.stringify(made);
    const over = Math.max(written.length / (bodyLimit - 100), valuesIn(made) / limits.values);
    if (over <= 1 || room.bytes < 2) return written;
    const share = Math.min(0.95, 1 / over);
    room = { bytes: room.bytes * share, values: Math.max(1, room.values * share) };
  }
};

export type Parameter = {
  readonly name: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
};

/** Of headers and URL together 16 KiB are read. */
const queryBytes = 11_000;

const queryValue = (schema: Schema, bytes: number): string => {
  const value = worst(schema, { form: 'long', known: {} }, { bytes, values: 1 });
  return typeof value === 'object' ? String(Object.values(value as object)[0]) : String(value);
};

const allOf = ({ items }: Schema): string => (items?.enum ?? []).join(',');

/** The largest page with all fields; and every filter, each as long as all of them may be. */
export const worstQueries = (parameters: readonly Parameter[], known: Known): string[] => {
  const query = parameters.filter((one) => one.in === 'query');
  const have = (name: string): Parameter | undefined => query.find((one) => one.name === name);
  const page = {
    ...(have('limit') && { limit: '1000' }),
    ...(have('fields') && { fields: allOf(have('fields')!.schema!) }),
    ...(!have('fields') && have('detail') && { detail: 'True' }),
  };
  const paging = ['limit', 'marker', 'sort_key', 'sort_dir', 'fields', 'detail'];
  const filters = query.filter(({ name }) => !paging.includes(name));
  const all = filters.map(({ name, schema }) => [
    name,
    Object.hasOwn(known, name) ? String(known[name]) : queryValue(schema ?? {}, queryBytes / filters.length),
  ]);
  const needed = Object.fromEntries(all.filter(([name]) => have(name!)?.required));
  const each = all.map(([name, value]) => ({ ...page, ...needed, [name!]: value! }));
  return [page, ...(filters.length > 0 ? [{ ...page, ...Object.fromEntries(all) }, ...each] : [])].map((one) =>
    String(new URLSearchParams(one)),
  );
};
