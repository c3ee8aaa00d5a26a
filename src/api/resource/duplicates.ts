/** Says which value of a write another resource of the kind has already, or which one names nothing. */
import { brokenReference, brokenUnique } from '../../inventory/database';
import { raise } from '../../model/errors';
import { fieldOf, type ResourceTable } from '../../model/resources/fields';

/** The field behind a broken constraint: those of the store are named `<collection>_<field>_key`, or `_fkey`. */
const fieldBehind = (table: ResourceTable, constraint: string): string | undefined => {
  const field = new RegExp(`^${table.collection}_(\\w+)_f?key$`).exec(constraint)?.[1];
  return field !== undefined && fieldOf(table, field) ? field : undefined;
};

const notFound = (field: string, value: unknown): string =>
  `${field.replace(/_uuid$/, '')} ${value} could not be found`;

/**
 * Does a write. Throws Duplicate, naming field and value, where the store refuses it for that reason, and InvalidInput where
 * the value of a field refers to nothing.
 */
export const refusingDuplicates = async <T>(
  table: ResourceTable,
  values: Readonly<Record<string, unknown>>,
  write: () => Promise<T>,
): Promise<T> => {
  try {
    return await write();
  } catch (thrown) {
    const missing = fieldBehind(table, brokenReference(thrown) ?? '');
    if (missing !== undefined)
      raise('InvalidInput', { field: missing, reason: notFound(missing, values[missing]) }, { cause: thrown });
    const field = fieldBehind(table, brokenUnique(thrown) ?? '');
    if (field === undefined) throw thrown;
    return raise('Duplicate', { resource: table.resource, field, value: values[field] }, { cause: thrown });
  }
};
