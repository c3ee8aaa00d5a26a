/** JSON patches: allowed paths, required rules and the resulting values. */

import { applyPatch } from 'rfc6902';
import { z } from 'zod';
import { came } from '../../admission/schemas';
import { raise, TemperError } from '../../model/errors';
import { jsonBytes } from '../../model/lifecycle/plan-size';
import { emptyValue, fieldOf, patchable, type ResourceTable } from '../../model/resources/fields';
import { bodyLimit, checkValue } from '../body/body';
import { schemaError } from '../server/errors';
import { fieldSchema, refuseNewer } from './validation';

// openstack/ironic:ironic/common/args.py; the last segment of a list may be "-".
const pathForm = /^(\/[\w-]+)+$/;
const prototypeKeys = ['__proto__', 'constructor', 'prototype'];

const pathRefusal = (path: unknown): string =>
  'must be a path such as /driver_info/redfish_address: "/" before every key, and keys of letters, digits, "_" and "-" ' +
  `only, as the Bare Metal API has it; ${came(path)} came. To write a key with other characters, replace the whole ` +
  'attribute that holds it';

const operation = z.strictObject({
  op: z.enum(['add', 'replace', 'remove'], {
    error: ({ input }) => (input === undefined ? undefined : `must be add, replace or remove; ${came(input)} came`),
  }),
  path: z
    .string()
    .regex(pathForm, { error: ({ input }) => pathRefusal(input) })
    .refine((path) => !path.split('/').some((part) => prototypeKeys.includes(part)), { error: 'names no attribute' }),
  value: z.unknown().optional(),
});

/** Body of every PATCH route. */
export const patchBody = z.array(operation);

export type Operation = z.output<typeof operation>;

export const attributeOf = ({ path }: Operation): string => path.split('/')[1]!;

/** The changed attributes in order, without repeats. */
export const attributesOf = (patch: readonly Operation[]): string[] => [...new Set(patch.map(attributeOf))];

/** Refuses attributes that are not patchable (400) or newer than the version (406). Runs before any query. */
export const checkAttributes = (table: ResourceTable, patch: readonly Operation[], minor: number): void => {
  const names = attributesOf(patch);
  const wrong = names.filter((name) => fieldOf(table, name)?.patch === undefined);
  if (wrong.length > 0)
    raise('InvalidPatch', {
      reason: `${wrong.join(', ')} cannot be changed; what can is: ${patchable(table).join(', ')}.`,
    });
  refuseNewer(table, names, minor, 'patch');
};

/** The rules of a patch in the order of its operations, without repeats. */
export const rulesFor = (table: ResourceTable, patch: readonly Operation[]): string[] => [
  ...new Set(attributesOf(patch).map((name) => fieldOf(table, name)!.patch!)),
];

/** Returns the new values of the attributes that a patch changes, by name. */
export type Patcher = (row: Readonly<Record<string, unknown>>, patch: readonly Operation[]) => Record<string, unknown>;

/**
 * Compiles a resource's patcher. `remove` of a whole attribute sets its default.
 * Throws InvalidPatch for an operation that cannot be applied, InvalidInput for an invalid result.
 */
export const patcherOf = (table: ResourceTable): Patcher => {
  const schemas = new Map(patchable(table).map((name) => [name, fieldSchema(fieldOf(table, name)!)]));
  return (row, patch) => {
    const names = attributesOf(patch);
    const draft = structuredClone(Object.fromEntries(names.map((name) => [name, row[name] ?? null])));
    for (const one of patch) apply(table, draft, one);
    // Otherwise many small patches build a value larger than any single body.
    checkValue(draft);
    for (const name of names) requireWithinLimit(name, row[name], draft[name]);
    return Object.fromEntries(names.map((name) => [name, valid(schemas.get(name)!, name, draft[name])]));
  };
};

/** Throws InvalidInput for a value above the body limit, unless it was at least as large before. */
const requireWithinLimit = (field: string, before: unknown, after: unknown): void => {
  const bytes = jsonBytes(after);
  if (bytes <= bodyLimit || bytes <= jsonBytes(before)) return;
  raise('InvalidInput', { field, reason: `would hold ${bytes} bytes; it can hold ${bodyLimit} bytes, so remove some` });
};

const valid = (schema: z.ZodType, name: string, value: unknown): unknown => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const error = schemaError(parsed.error, name);
  const field = error.facts.field === name ? name : `${name}.${error.facts.field}`;
  throw error.code === 'InvalidInput' ? new TemperError('InvalidInput', { ...error.facts, field }) : error;
};

const apply = (table: ResourceTable, draft: Record<string, unknown>, one: Operation): void => {
  const segments = one.path.split('/').slice(1);
  const name = segments[0]!;
  if (one.op !== 'remove' && one.value === undefined)
    raise('InvalidPatch', { reason: `${one.op} of ${one.path} needs a value.` });
  if (segments.length === 1) {
    draft[name] = one.op === 'remove' ? emptyOrMissing(table, name) : one.value;
    return;
  }
  checkIndex(draft, segments, one);
  const [fault] = attempt(draft, one);
  if (fault) raise('InvalidPatch', { reason: `${one.path} does not exist.` });
};

// Without a default, null would count as "not given".
const emptyOrMissing = (table: ResourceTable, name: string): unknown => {
  const row = fieldOf(table, name)!;
  if (row.create === 'required' || row.kept)
    raise('InvalidPatch', { reason: `${name} is required and cannot be removed.` });
  return emptyValue(row);
};

const attempt = (draft: Record<string, unknown>, one: Operation): (Error | null)[] => {
  try {
    // An object that is null in PostgreSQL appears as {}, so clients add into it.
    return applyPatch(draft, [one.op === 'remove' ? { op: 'remove', path: one.path } : { ...one, value: one.value }]);
  } catch (thrown) {
    return [thrown as Error];
  }
};

/** The library splices at any number, so an index outside the list must be refused here. */
const checkIndex = (draft: unknown, segments: readonly string[], one: Operation): void => {
  const parent = segments
    .slice(0, -1)
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined,
      draft,
    );
  if (typeof parent !== 'object' || parent === null) raise('InvalidPatch', { reason: `${one.path} does not exist.` });
  if (!Array.isArray(parent)) return;
  const last = segments.at(-1)!;
  if (one.op === 'add' && last === '-') return;
  const index = /^\d+$/.test(last) ? Number(last) : Number.NaN;
  if (!(index < parent.length + (one.op === 'add' ? 1 : 0)))
    raise('InvalidPatch', { reason: `${one.path} is outside the list.` });
};
